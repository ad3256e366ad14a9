// The gradient of a matrix that multiplies all matrices of a batch is one product over all rows, not the sum of one
// product for each matrix.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x5x3xf32
// CHECK: %[[ROWS:.*]] = dfg.reshape %[[X]] {shape = #dfg.dims<"5 * n", 3>}
// CHECK: %[[G:.*]] = dfg.matmul %[[ROWS]], %{{.*}} {transpose_lhs = true}
// CHECK-SAME: tensor<?x4xf32, #dfg.dims<"5 * n", 4>>
// CHECK-NOT: dfg.sum
// CHECK: dfg.return %[[G]]
dfg.entry @rows(%x: tensor<?x5x3xf32, #dfg.dims<n, 5, 3>>, %w: tensor<3x4xf32>) -> tensor<3x4xf32>
    attributes {symbols = ["n"]} {
  %y = dfg.matmul %x, %w : tensor<?x5x3xf32, #dfg.dims<n, 5, 3>>, tensor<3x4xf32>
  %z = dfg.tanh %y : tensor<?x5x4xf32, #dfg.dims<n, 5, 4>>
  %s = dfg.sum %z : tensor<?x5x4xf32, #dfg.dims<n, 5, 4>>
  %g = dfg.gradients %s, [%w] : (tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  dfg.return %g : tensor<3x4xf32>
}
