// A factor of a product that is a slice with steps along a summed axis is stored: it would be gathered for each block of
// rows. Other views are read in place.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s

// The steps are on a summed axis, seen through a transpose.
// CHECK: transpose: slice transpose{{$}}
// CHECK-NEXT: contract: contract{{$}}
dfg.entry @reversed(%x: tensor<64x3x8xf32>, %w: tensor<3x4x8xf32>) -> tensor<64x4xf32> {
  %0 = dfg.slice %w {starts = #dfg.dims<2, 0, 0>, sizes = #dfg.dims<3, 4, 8>, steps = array<i64: -1, 1, 1>} : tensor<3x4x8xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 2, 1>} : tensor<3x4x8xf32>
  %2 = dfg.contract %x, %1 {labels = "n k c, k c f -> n f"} : tensor<64x3x8xf32>, tensor<3x8x4xf32>
  dfg.return %2 : tensor<64x4xf32>
}

// A reshape that adds an axis of size 1 is a view of the stored slice.
// CHECK: slice: slice{{$}}
// CHECK-NEXT: matmul: reshape matmul{{$}}
dfg.entry @every_second(%x: tensor<64x8xf32>, %w: tensor<16x4xf32>) -> tensor<1x64x4xf32> {
  %0 = dfg.slice %w {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<8, 4>, steps = array<i64: 2, 1>} : tensor<16x4xf32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<1, 8, 4>} : tensor<8x4xf32>
  %2 = dfg.matmul %x, %1 : tensor<64x8xf32>, tensor<1x8x4xf32>
  dfg.return %2 : tensor<1x64x4xf32>
}

// Steps along an axis of the result.
// CHECK: contract: slice contract{{$}}
dfg.entry @pixels(%x: tensor<64x9x8xf32>, %w: tensor<8x32xf32>) -> tensor<64x5x32xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<0, 0, 0>, sizes = #dfg.dims<64, 5, 8>, steps = array<i64: 1, 2, 1>} : tensor<64x9x8xf32>
  %1 = dfg.contract %0, %w {labels = "n o c, c f -> n o f"} : tensor<64x5x8xf32>, tensor<8x32xf32>
  dfg.return %1 : tensor<64x5x32xf32>
}

// Few rows read the factor.
// CHECK: matmul: slice matmul{{$}}
dfg.entry @few_rows(%x: tensor<2x16xf32>, %w: tensor<32x4xf32>) -> tensor<2x4xf32> {
  %0 = dfg.slice %w {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<16, 4>, steps = array<i64: 2, 1>} : tensor<32x4xf32>
  %1 = dfg.matmul %x, %0 : tensor<2x16xf32>, tensor<16x4xf32>
  dfg.return %1 : tensor<2x4xf32>
}

// A copy of windows would be larger than what they view.
// CHECK: contract: windows slice contract{{$}}
dfg.entry @windows(%x: tensor<2x10x3xf32>, %w: tensor<3x3x16xf32>) -> tensor<2x8x16xf32> {
  %0 = dfg.windows %x {size = #dfg.dims<3>} : tensor<2x10x3xf32>
  %1 = dfg.slice %0 {starts = #dfg.dims<0, 0, 2, 0>, sizes = #dfg.dims<2, 8, 3, 3>, steps = array<i64: 1, 1, -1, 1>} : tensor<2x8x3x3xf32>
  %2 = dfg.contract %1, %w {labels = "n o k c, k c f -> n o f"} : tensor<2x8x3x3xf32>, tensor<3x3x16xf32>
  dfg.return %2 : tensor<2x8x16xf32>
}

// A slice of another device arrives in memory, also where the entry is not divided.
// CHECK: slice: slice{{$}}
// CHECK-NEXT: contract: transpose contract{{$}}
dfg.entry @sent(%x: tensor<64x3x8xf32>, %w: tensor<3x4x8xf32>) -> tensor<64x4xf32> {
  %0 = dfg.slice %w {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">, starts = #dfg.dims<2, 0, 0>, sizes = #dfg.dims<3, 4, 8>, steps = array<i64: -1, 1, 1>} : tensor<3x4x8xf32>
  %1 = dfg.transpose %0 {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">, permutation = array<i64: 0, 2, 1>} : tensor<3x4x8xf32>
  %2 = dfg.contract %x, %1 {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">, labels = "n k c, k c f -> n f"} : tensor<64x3x8xf32>, tensor<3x8x4xf32>
  dfg.return %2 : tensor<64x4xf32>
}
