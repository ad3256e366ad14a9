// The gradient of a branch is a branch on the same condition. Forward values that it uses become results of the forward
// branch, with zeros from the other region; in a loop they are pushed and popped if the region runs.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @top
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<i1>, %[[X:[a-z0-9]+]]: tensor<4xf64>
// CHECK: %[[F:.*]] = dfg.if %[[P]] : tensor<i1> -> tensor<4xf64> {
// CHECK: %[[E:.*]] = dfg.softmax %[[X]]
// CHECK: dfg.yield %[[E]]
// CHECK: } else {
// CHECK: dfg.yield %[[ZERO:.*]] :
// CHECK: %[[B:.*]] = dfg.if %[[P]] : tensor<i1> -> tensor<4xf64> {
// CHECK: dfg.mul %{{.*}}, %[[F]]
// CHECK: } else {
// CHECK: dfg.yield
// CHECK: dfg.return %[[B]]
dfg.entry @top(%p: tensor<i1>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %f = dfg.if %p : tensor<i1> -> tensor<4xf64> {
    %e = dfg.softmax %x : tensor<4xf64>
    %s = dfg.sin %e : tensor<4xf64>
    dfg.yield %s : tensor<4xf64>
  } else {
    dfg.yield %x : tensor<4xf64>
  }
  %y = dfg.sum %f : tensor<4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %g : tensor<4xf64>
}

// CHECK-LABEL: dfg.entry @in_loop
// CHECK: dfg.while
// CHECK: dfg.push @[[GOES:.*]], %[[C:.*]] : tensor<i1>
// CHECK: dfg.if %[[C]]
// CHECK-NEXT: %[[E:.*]] = dfg.softmax
// CHECK-NEXT: dfg.push @[[VALUE:.*]], %[[E]]
// CHECK: dfg.while
// CHECK: %[[D:.*]] = dfg.pop @[[GOES]]
// CHECK: dfg.if %[[D]]
// CHECK-NEXT: dfg.pop @[[VALUE]]
dfg.entry @in_loop(%n: tensor<i32>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %half = dfg.constant dense<0.5> : tensor<f64>
  %f:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf64> {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %sum = dfg.sum %s : tensor<4xf64>
    %is_small = dfg.less %sum, %half : tensor<f64>, tensor<f64>
    %b = dfg.if %is_small : tensor<i1> -> tensor<4xf64> {
      %e = dfg.softmax %s : tensor<4xf64>
      dfg.yield %e : tensor<4xf64>
    } else {
      dfg.yield %s : tensor<4xf64>
    }
    dfg.yield %next, %b : tensor<i32>, tensor<4xf64>
  }
  %y = dfg.sum %f#1 : tensor<4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %g : tensor<4xf64>
}
