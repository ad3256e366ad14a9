// An operation does not join a kernel if another of its operands depends on that kernel.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

dfg.entry @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = dfg.exp %x : tensor<4x4xf32>
  %1 = dfg.matmul %0, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %2 = dfg.matmul %1, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %3 = dfg.add %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  dfg.return %3 : tensor<4x4xf32>
}

// CHECK: kernel_0_exp: exp
// CHECK-NEXT: kernel_1_matmul: matmul
// CHECK-NEXT: kernel_2_matmul: matmul add
