// Convolutions and pooling become a product over, or a reduction of, windows of the padded operand.
// RUN: tfc-opt --tfc-insert-checks --tfc-decompose-composites %s | FileCheck %s

// CHECK-LABEL: dfg.entry @same
// CHECK: %[[P:.*]] = dfg.place %{{.*}}shape = #dfg.dims<n, 10, 10, 3>, starts = #dfg.dims<0, 1, 1, 0>
// CHECK: %[[W:.*]] = dfg.windows %[[P]] {count = #dfg.dims<8, 8>
// CHECK: dfg.contract %[[W]], %{{.*}} {labels = "n o0 o1 k0 k1 c, k0 k1 c f -> n o0 o1 f"}
dfg.entry @same(%x: tensor<?x8x8x3xf32, #dfg.dims<n, 8, 8, 3>>, %w: tensor<3x3x3x16xf32>)
    -> tensor<?x8x8x16xf32, #dfg.dims<n, 8, 8, 16>> attributes {symbols = ["n"]} {
  %0 = dfg.convolution %x, %w {padding = #dfg.padding<same>} : tensor<?x8x8x3xf32, #dfg.dims<n, 8, 8, 3>>, tensor<3x3x3x16xf32>
  dfg.return %0 : tensor<?x8x8x16xf32, #dfg.dims<n, 8, 8, 16>>
}

// One tap: the axes of the product are those of the operand.
// CHECK-LABEL: dfg.entry @pixels
// CHECK-NOT: dfg.windows
// CHECK: dfg.contract %{{.*}}labels = "n o0 c, c f -> n o0 f"}
dfg.entry @pixels(%x: tensor<2x8x3xf32>, %w: tensor<1x3x16xf32>) -> tensor<2x8x16xf32> {
  %0 = dfg.convolution %x, %w : tensor<2x8x3xf32>, tensor<1x3x16xf32>
  dfg.return %0 : tensor<2x8x16xf32>
}

// Groups are an axis of their own.
// CHECK-LABEL: dfg.entry @groups
// CHECK: dfg.contract %{{.*}}labels = "n o0 k0 g c, k0 c g f -> n o0 g f"} : tensor<2x6x3x2x2xf32>, tensor<3x2x2x4xf32>
dfg.entry @groups(%x: tensor<2x8x4xf32>, %w: tensor<3x2x8xf32>) -> tensor<2x6x8xf32> {
  %0 = dfg.convolution %x, %w {groups = 2 : i64} : tensor<2x8x4xf32>, tensor<3x2x8xf32>
  dfg.return %0 : tensor<2x6x8xf32>
}

// With a stride of 2 even elements meet the even taps, odd ones the odd tap.
// CHECK-LABEL: dfg.entry @phases
// CHECK: %[[TAPS:.*]] = dfg.slice %{{.*}}sizes = #dfg.dims<2, 2, 4>, starts = #dfg.dims<2, 0, 0>, steps = array<i64: -2, 1, 1>}
// CHECK: %[[KERNEL:.*]] = dfg.transpose %[[TAPS]] {permutation = array<i64: 0, 2, 1>}
// CHECK: %[[EVEN:.*]] = dfg.contract %{{.*}}, %[[KERNEL]] {labels = "n o0 k0 f, k0 f c -> n o0 c"}
// CHECK: dfg.place %[[EVEN]] {{.*}}starts = #dfg.dims<0, 0, 0>, steps = array<i64: 1, 2, 1>
// CHECK: dfg.slice %{{.*}}sizes = #dfg.dims<1, 2, 4>, starts = #dfg.dims<1, 0, 0>
// CHECK: dfg.contract
// CHECK: dfg.place %{{.*}}starts = #dfg.dims<0, 1, 0>
// CHECK: dfg.add
dfg.entry @phases(%x: tensor<2x5x4xf32>, %w: tensor<3x2x4xf32>) -> tensor<2x10x2xf32> {
  %0 = dfg.convolution_transpose %x, %w {padding = #dfg.padding<same>, stride = array<i64: 2>} : tensor<2x5x4xf32>, tensor<3x2x4xf32>
  dfg.return %0 : tensor<2x10x2xf32>
}

// With a stride of 1 there is one phase: windows and taps run the same way, dilated ones too.
// CHECK-LABEL: dfg.entry @dilated
// CHECK: dfg.slice %{{.*}}starts = #dfg.dims<2, 0, 0>, steps = array<i64: -1, 1, 1>}
// CHECK: dfg.windows %{{.*}} {count = #dfg.dims<9>, dilation = array<i64: 2>, size = #dfg.dims<3>, stride = array<i64: 1>}
// CHECK: dfg.contract
dfg.entry @dilated(%x: tensor<?x5x4xf32, #dfg.dims<n, 5, 4>>, %w: tensor<3x2x4xf32>)
    -> tensor<?x9x2xf32, #dfg.dims<n, 9, 2>> attributes {symbols = ["n"]} {
  %0 = dfg.convolution_transpose %x, %w {dilation = array<i64: 2>} : tensor<?x5x4xf32, #dfg.dims<n, 5, 4>>, tensor<3x2x4xf32>
  dfg.return %0 : tensor<?x9x2xf32, #dfg.dims<n, 9, 2>>
}

// For few elements a copy of the kernel is too expensive: it stays as it is, and the windows run backwards.
// CHECK-LABEL: dfg.entry @few
// CHECK: %[[W:.*]] = dfg.windows
// CHECK: dfg.slice %[[W]] {{.*}}steps = array<i64: 1, 1, -1, 1>}
// CHECK: dfg.contract %{{.*}}labels = "n o0 k0 f, k0 c f -> n o0 c"
dfg.entry @few(%x: tensor<2x5x4xf32>, %w: tensor<3x2x4xf32>) -> tensor<2x7x2xf32> {
  %0 = dfg.convolution_transpose %x, %w : tensor<2x5x4xf32>, tensor<3x2x4xf32>
  dfg.return %0 : tensor<2x7x2xf32>
}

// Windows of a size that only the call knows may not fit: it fails then.
// CHECK-LABEL: dfg.entry @pooled
// CHECK: dfg.check %{{.*}}, "'max_pool' at convolutions.mlir:{{[0-9]+}} has windows that reach outside of f32[2, n, 3]: n is %lld"(%{{.*}} : tensor<i64>), invalid_argument
// CHECK: %[[W:.*]] = dfg.windows
// CHECK: dfg.max %[[W]] {axis = array<i64: 2>
dfg.entry @pooled(%x: tensor<2x?x3xf32, #dfg.dims<2, n, 3>>)
    -> tensor<2x?x3xf32, #dfg.dims<2, "n - 1", 3>> attributes {symbols = ["n"]} {
  %0 = dfg.max_pool %x {size = array<i64: 2>, stride = array<i64: 1>} : tensor<2x?x3xf32, #dfg.dims<2, n, 3>>
  dfg.return %0 : tensor<2x?x3xf32, #dfg.dims<2, "n - 1", 3>>
}
