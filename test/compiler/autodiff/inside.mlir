// A gradient inside of a loop differentiates operations before it in its block and the enclosing ones, and treats
// earlier iterations as constant.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @descent
// CHECK-COUNT-1: dfg.while
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[W:.*]]: tensor<4xf64>):
// CHECK: %[[A:.*]] = dfg.mul %[[W]], %[[T:.*]] :
// CHECK: %[[G:.*]] = dfg.mul %{{.*}}, %[[T]] :
// CHECK: %[[NEXT:.*]] = dfg.sub %[[W]], %[[G]]
// CHECK: dfg.yield %{{.*}}, %[[NEXT]]
dfg.entry @descent(%n: tensor<i32>, %x: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %t = dfg.exp %x : tensor<4xf64>
  %f:2 = dfg.while (%zero, %w) : tensor<i32>, tensor<4xf64> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %a = dfg.mul %v, %t : tensor<4xf64>, tensor<4xf64>
    %b = dfg.square %a : tensor<4xf64>
    %loss = dfg.sum %b : tensor<4xf64>
    %g = dfg.gradients %loss, [%v] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
    %u = dfg.sub %v, %g : tensor<4xf64>, tensor<4xf64>
    dfg.yield %next, %u : tensor<i32>, tensor<4xf64>
  }
  dfg.return %f#1 : tensor<4xf64>
}
