// Gradients flow back through each operation once; gradients of shared operands are added.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @square_of_tanh
// CHECK: %[[T:.*]] = dfg.tanh %[[X:.*]] :
// CHECK: %[[G:.*]] = dfg.mul %{{.*}}, %[[T]]
// CHECK: dfg.add %[[G]], %[[G]]
// CHECK-NOT: dfg.gradients
dfg.entry @square_of_tanh(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = dfg.tanh %x : tensor<4xf64>
  %1 = dfg.mul %0, %0 : tensor<4xf64>, tensor<4xf64>
  %2 = dfg.sum %1 : tensor<4xf64>
  %3 = dfg.gradients %2, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %3 : tensor<4xf64>
}

// A value that the loss does not depend on has a gradient of zeros.
// CHECK-LABEL: dfg.entry @independent
// CHECK: %[[ZERO:.*]] = dfg.constant dense<0.000000e+00> : tensor<f64>
// CHECK: dfg.broadcast %[[ZERO]] {shape = #dfg.dims<4>}
dfg.entry @independent(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = dfg.sum %y : tensor<4xf64>
  %1 = dfg.gradients %0, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %1 : tensor<4xf64>
}
