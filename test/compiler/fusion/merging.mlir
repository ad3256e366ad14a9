// The update of a weight becomes part of the product that computes its gradient, whichever of its operations comes
// first; inputs that only a reduction reads are computed in the reduction.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

dfg.entry @momentum(%x: tensor<8x4xf32>, %g: tensor<8x16xf32>, %m: tensor<4x16xf32>,
                    %w: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = dfg.constant dense<0.9> : tensor<f32>
  %1 = dfg.mul %m, %0 : tensor<4x16xf32>, tensor<f32>
  %2 = dfg.matmul %x, %g {transpose_lhs = true} : tensor<8x4xf32>, tensor<8x16xf32>
  %3 = dfg.add %1, %2 : tensor<4x16xf32>, tensor<4x16xf32>
  %4 = dfg.sub %w, %3 : tensor<4x16xf32>, tensor<4x16xf32>
  dfg.return %3, %4 : tensor<4x16xf32>, tensor<4x16xf32>
}

dfg.entry @valid(%i: tensor<?xi32, #dfg.dims<n>>) -> tensor<i1> attributes {symbols = ["n"]} {
  %0 = dfg.constant dense<0> : tensor<i32>
  %1 = dfg.constant dense<10> : tensor<i32>
  %2 = dfg.greater_equal %i, %0 : tensor<?xi32, #dfg.dims<n>>, tensor<i32>
  %3 = dfg.less %i, %1 : tensor<?xi32, #dfg.dims<n>>, tensor<i32>
  %4 = dfg.logical_and %2, %3 : tensor<?xi1, #dfg.dims<n>>, tensor<?xi1, #dfg.dims<n>>
  %5 = dfg.all %4 : tensor<?xi1, #dfg.dims<n>>
  dfg.return %5 : tensor<i1>
}

// CHECK: kernel_0_matmul: constant mul matmul add sub
// CHECK-NEXT: kernel_1_all: constant greater_equal constant less logical_and all
// CHECK-NOT: kernel_2
