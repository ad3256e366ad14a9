// A product reads windows, including reversed ones, through an access map of the tensor that they slide over.
// RUN: tfc-opt --tfc-lower-kernels %s | FileCheck %s

// CHECK-DAG: #[[WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3 * 3, d4)>
// CHECK-DAG: #[[OF_PART:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d4)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 {{\+ -|- }}d3 + 2, d4)>
// CHECK: kernel.func @windows(%[[X:[a-z0-9]+]]: tensor<2x12x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[WINDOWS]], {{.*}}} ins(%[[X]], %{{.*}} : tensor<2x12x4xf32>
dfg.kernel @windows(%x: tensor<2x12x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x3x8xf32> {
  %0 = dfg.windows %x {size = #dfg.dims<3>, stride = array<i64: 2>, dilation = array<i64: 3>} : tensor<2x12x4xf32>
  %1 = dfg.contract %0, %w {labels = "n o k c, k c f -> n o f"} : tensor<2x3x3x4xf32>, tensor<3x4x8xf32>
  dfg.return %1 : tensor<2x3x8xf32>
}

// CHECK: kernel.func @reversed(%[[X:[a-z0-9]+]]: tensor<2x12x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]], {{.*}}} ins(%[[X]], %{{.*}} : tensor<2x12x4xf32>
dfg.kernel @reversed(%x: tensor<2x12x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x10x8xf32> {
  %0 = dfg.windows %x {size = #dfg.dims<3>} : tensor<2x12x4xf32>
  %1 = dfg.slice %0 {starts = #dfg.dims<0, 0, 2, 0>, sizes = #dfg.dims<2, 10, 3, 4>, steps = array<i64: 1, 1, -1, 1>} : tensor<2x10x3x4xf32>
  %2 = dfg.contract %1, %w {labels = "n o k c, k c f -> n o f"} : tensor<2x10x3x4xf32>, tensor<3x4x8xf32>
  dfg.return %2 : tensor<2x10x8xf32>
}

// Windows of a part, too: all of the images and channels, and rows from the first on.
// CHECK: kernel.func @part(%[[X:[a-z0-9]+]]: tensor<2x12x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[OF_PART]], {{.*}}} ins(%[[X]], %{{.*}} : tensor<2x12x4xf32>
dfg.kernel @part(%x: tensor<2x12x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x8x8xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<0, 0, 0>, sizes = #dfg.dims<2, 10, 4>} : tensor<2x12x4xf32>
  %1 = dfg.windows %0 {size = #dfg.dims<3>} : tensor<2x10x4xf32>
  %2 = dfg.contract %1, %w {labels = "n o k c, k c f -> n o f"} : tensor<2x8x3x4xf32>, tensor<3x4x8xf32>
  dfg.return %2 : tensor<2x8x8xf32>
}

// So are rows that no window moves along: modulo their number, an index does not say how many a loop has.
// CHECK: kernel.func @rows(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<4x8xf32>)
dfg.kernel @rows(%x: tensor<3x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<2, 4>} : tensor<3x4xf32>
  %1 = dfg.contract %0, %w {labels = "n c, c f -> n f"} : tensor<2x4xf32>, tensor<4x8xf32>
  dfg.return %1 : tensor<2x8xf32>
}
