// A use before a region that defines the value is an error, wherever the rest of the operation fails to parse.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

func.func @loop(%x: tensor<f32>) {
  %0 = dfg.exp %early : tensor<f32>
  %1 = dfg.while(%x) : tensor<f32> {
  ^bb0(%early: tensor<f32>):
    %go = dfg.constant dense<false> : tensor<i1>
    dfg.condition %go : tensor<i1>
  } do {
  // expected-error @+1 {{expected operation name in quotes}}
  ^bb0(%y: tensor<f32>): )
}

// -----

func.func @branch(%p: tensor<i1>) {
  %0 = dfg.exp %early : tensor<f32>
  dfg.if %p : tensor<i1> {
    %early = dfg.constant dense<1.0> : tensor<f32>
    dfg.yield
  // expected-error @+1 {{expected 'else'}}
  } otherwise {
  }
}

// -----

func.func @graph(%token: !dfg.token) {
  %0 = dfg.exp %early : tensor<f32>
  dfg.dataflow {
    %done = dfg.node after(%token) {
      %early = dfg.constant dense<1.0> : tensor<f32>
      dfg.yield
    }
    dfg.yield
  // expected-error @+1 {{expected operation name in quotes}}
  ^bb1: )
}

// -----

%69 = dfg.mul %arg4, %5 : tensor<f32>, tensor<f32>
%13 = dfg.relu %12 : tensor<?x4xf32, #dfg.dims<n, 4>>
%14:2 = dfg.while(%8, %7) : tensor<i32>, tensor<f32> {
^bb0(%arg3: tensor<i32>, %arg4: tensor<f32>):
} do {
// expected-error @+1 {{expected operation name in quotes}}
^bb0(%arg3: tensor<i32>, %arg4: tensor<f32>): )
