// An operation that reads two kernels merges them: an update that reads a gradient and an old value becomes part of the
// product that computes the gradient. Producers of the product stay separate.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

dfg.entry @update(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>, %m: tensor<4x4xf32>,
                  %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %twice = dfg.add %g, %g : tensor<8x4xf32>, tensor<8x4xf32>
  %gradient = dfg.matmul %x, %twice {transpose_lhs = true} : tensor<8x4xf32>, tensor<8x4xf32>
  %old = dfg.square %m : tensor<4x4xf32>
  %new = dfg.sub %old, %gradient : tensor<4x4xf32>, tensor<4x4xf32>
  %scaled = dfg.exp %w : tensor<4x4xf32>
  %moved = dfg.sub %scaled, %new : tensor<4x4xf32>, tensor<4x4xf32>
  dfg.return %new, %moved : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: kernel_0_add: add
// CHECK-NEXT: kernel_1_matmul: matmul square sub exp sub
// CHECK-NOT: kernel_2
