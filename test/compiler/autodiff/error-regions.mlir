// Errors also name operations in regions that block a gradient.
// RUN: tfc-opt --tfc-build-gradients --split-input-file --verify-diagnostics %s

dfg.entry @integers(%n: tensor<i32>, %x: tensor<f64>) -> tensor<f64> {
  // expected-note@-1 {{the path starts here}}
  %start = dfg.constant dense<0.0> : tensor<f64>
  %f = dfg.while (%start) : tensor<f64> {
  ^bb0(%s: tensor<f64>):
    %half = dfg.constant dense<0.5> : tensor<f64>
    %go = dfg.less %s, %half : tensor<f64>, tensor<f64>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%s: tensor<f64>):
    // expected-note@+1 {{'cast' is used here}}
    %i = dfg.cast %x {dtype = i32} : tensor<f64>
    // expected-note@+1 {{from there the path continues to the loss through 'cast', 'while'}}
    %t = dfg.cast %i {dtype = f64} : tensor<i32>
    dfg.yield %t : tensor<f64>
  }
  // expected-error@+1 {{no gradient flows through 'cast', which lies between the loss and the values that it is differentiated by [no-gradient]}}
  %g = dfg.gradients %f, [%x] : (tensor<f64>, tensor<f64>) -> tensor<f64>
  dfg.return %g : tensor<f64>
}

// -----

// The loop before the one around the gradient would be run backwards as often as that runs.
dfg.entry @outside(%p: tensor<i1>, %x: tensor<f64>) -> tensor<f64> {
  // expected-note@+1 {{'if' is used here}}
  %a = dfg.if %p : tensor<i1> -> tensor<f64> {
    %b = dfg.exp %x : tensor<f64>
    dfg.yield %b : tensor<f64>
  } else {
    dfg.yield %x : tensor<f64>
  }
  %y = dfg.if %p : tensor<i1> -> tensor<f64> {
    %b = dfg.square %a : tensor<f64>
    // expected-error@+1 {{no gradient flows through 'if'}}
    %g = dfg.gradients %b, [%x] : (tensor<f64>, tensor<f64>) -> tensor<f64>
    dfg.yield %g : tensor<f64>
  } else {
    dfg.yield %x : tensor<f64>
  }
  dfg.return %y : tensor<f64>
}
