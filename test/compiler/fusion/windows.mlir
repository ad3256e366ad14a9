// Windows are computed where they are read: a product over them absorbs bias and activation; the producer of their
// operand is stored before, and so is a marked view.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

// CHECK: kernel_0_relu: relu
// CHECK: kernel_1_slice: slice
// CHECK: kernel_2_contract: windows contract add relu
// CHECK: kernel_3_max: windows max
dfg.entry @f(%x: tensor<2x10x3xf32>, %w: tensor<6x3x16xf32>, %b: tensor<16xf32>) -> tensor<2x4x16xf32> {
  %0 = dfg.relu %x : tensor<2x10x3xf32>
  %1 = dfg.slice %w {starts = #dfg.dims<4, 0, 0>, sizes = #dfg.dims<3, 3, 16>, steps = array<i64: -2, 1, 1>, dfg.stored} : tensor<6x3x16xf32>
  %2 = dfg.windows %0 {size = #dfg.dims<3>} : tensor<2x10x3xf32>
  %3 = dfg.contract %2, %1 {labels = "n o k c, k c f -> n o f"} : tensor<2x8x3x3xf32>, tensor<3x3x16xf32>
  %4 = dfg.add %3, %b : tensor<2x8x16xf32>, tensor<16xf32>
  %5 = dfg.relu %4 : tensor<2x8x16xf32>
  %6 = dfg.windows %5 {size = #dfg.dims<2>, stride = array<i64: 2>} : tensor<2x8x16xf32>
  %7 = dfg.max %6 {axis = array<i64: 2>} : tensor<2x4x2x16xf32>
  dfg.return %7 : tensor<2x4x16xf32>
}
