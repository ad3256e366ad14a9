// Elementwise operations on constants are folded; f16 rounds when it is stored, u8 is unsigned.
// RUN: tfc-opt --tfc-fold-constants %s | FileCheck %s

// CHECK-LABEL: dfg.entry @chain
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: dfg.return %[[C]]
dfg.entry @chain() -> tensor<f32> {
  %0 = dfg.constant dense<4> : tensor<i64>
  %1 = dfg.cast %0 {dtype = f32} : tensor<i64>
  %2 = dfg.sqrt %1 : tensor<f32>
  %3 = dfg.constant dense<1.0> : tensor<f32>
  %4 = dfg.div %3, %2 : tensor<f32>, tensor<f32>
  dfg.return %4 : tensor<f32>
}

// CHECK-LABEL: dfg.entry @narrow
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<2.048000e+03> : tensor<4xf16>
dfg.entry @narrow() -> tensor<4xf16> {
  %0 = dfg.constant dense<2048.0> : tensor<4xf16>
  %1 = dfg.constant dense<1.0> : tensor<f16>
  %2 = dfg.add %0, %1 : tensor<4xf16>, tensor<f16>
  dfg.return %2 : tensor<4xf16>
}

// CHECK-LABEL: dfg.entry @unsigned
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<true> : tensor<i1>
dfg.entry @unsigned() -> tensor<i1> {
  %0 = dfg.constant dense<200> : tensor<ui8>
  %1 = dfg.constant dense<100> : tensor<ui8>
  %2 = dfg.greater %0, %1 : tensor<ui8>, tensor<ui8>
  dfg.return %2 : tensor<i1>
}

// Weights that are read as bf16 are constants of bf16, rounded to the nearest even, unless something else reads them.
// CHECK-LABEL: dfg.entry @bfloat
// CHECK-DAG: %[[W:.*]] = dfg.constant dense<[1.000000e+00, 1.015630e+00, 0x7FC0]> : tensor<3xbf16>
// CHECK-DAG: %[[V:.*]] = dfg.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: %[[C:.*]] = dfg.cast %[[V]]
// CHECK: dfg.return %[[W]], %[[C]], %[[V]]
dfg.entry @bfloat() -> (tensor<3xbf16>, tensor<2xbf16>, tensor<2xf32>) {
  %0 = dfg.constant dense<[1.00390625, 1.01171875, 0x7FFFFFFF]> : tensor<3xf32>
  %1 = dfg.cast %0 {dtype = bf16} : tensor<3xf32>
  %2 = dfg.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = dfg.cast %2 {dtype = bf16} : tensor<2xf32>
  dfg.return %1, %3, %2 : tensor<3xbf16>, tensor<2xbf16>, tensor<2xf32>
}

// Bits are kept, also those of a denormal number, which counts as zero in arithmetic.
// CHECK-LABEL: dfg.entry @bits
// CHECK-DAG: dfg.constant dense<1> : tensor<i32>
// CHECK-DAG: dfg.constant dense<1.401{{[0-9]*[eE]}}-45> : tensor<f32>
// CHECK-DAG: dfg.constant dense<15360> : tensor<ui16>
dfg.entry @bits() -> (tensor<i32>, tensor<f32>, tensor<ui16>) {
  %0 = dfg.constant dense<1.4e-45> : tensor<f32>
  %1 = dfg.bitcast %0 {dtype = i32} : tensor<f32>
  %2 = dfg.constant dense<1> : tensor<i32>
  %3 = dfg.bitcast %2 {dtype = f32} : tensor<i32>
  %4 = dfg.constant dense<1.0> : tensor<f16>
  %5 = dfg.bitcast %4 {dtype = ui16} : tensor<f16>
  dfg.return %1, %3, %5 : tensor<i32>, tensor<f32>, tensor<ui16>
}

// CHECK-LABEL: dfg.entry @transposed
// CHECK-DAG: %[[C:.*]] = dfg.constant dense<{{\[\[\[}}1, 4]], {{\[\[}}2, 5]], {{\[\[}}3, 6]]]> : tensor<3x1x2xi32>
// CHECK-DAG: %[[S:.*]] = dfg.constant dense<true> : tensor<3x2xi1>
// CHECK: dfg.return %[[C]], %[[C]], %[[S]]
dfg.entry @transposed() -> (tensor<3x1x2xi32>, tensor<3x1x2xi32>, tensor<3x2xi1>) {
  %0 = dfg.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi32>
  %1 = dfg.transpose %0 {permutation = array<i64: 2, 1, 0>} : tensor<2x1x3xi32>
  %2 = dfg.transpose %0 {permutation = array<i64: 2, 1, 0>} : tensor<2x1x3xi32>
  %3 = dfg.constant dense<true> : tensor<2x3xi1>
  %4 = dfg.transpose %3 {permutation = array<i64: 1, 0>} : tensor<2x3xi1>
  dfg.return %1, %2, %4 : tensor<3x1x2xi32>, tensor<3x1x2xi32>, tensor<3x2xi1>
}

// Elements are not kept twice.
// CHECK-LABEL: dfg.entry @shared
// CHECK: %[[C:.*]] = dfg.constant dense<{{\[\[}}1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
// CHECK: %[[T:.*]] = dfg.transpose %[[C]]
// CHECK: dfg.return %[[C]], %[[T]]
dfg.entry @shared() -> (tensor<2x3xui8>, tensor<3x2xui8>) {
  %0 = dfg.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xui8>
  %1 = dfg.transpose %0 {permutation = array<i64: 1, 0>} : tensor<2x3xui8>
  dfg.return %0, %1 : tensor<2x3xui8>, tensor<3x2xui8>
}

// CHECK-LABEL: dfg.entry @resource
// CHECK-NOT: transpose
// CHECK: dfg.constant dense_resource<{{.*}}> : tensor<2x2xi16>
dfg.entry @resource() -> tensor<2x2xi16> {
  %0 = dfg.constant dense_resource<numbers> : tensor<2x2xi16>
  %1 = dfg.transpose %0 {permutation = array<i64: 1, 0>} : tensor<2x2xi16>
  dfg.return %1 : tensor<2x2xi16>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x020000000100020003000400"
    }
  }
#-}

// Slices that do not keep elements twice are constants, in the order of their steps.
// CHECK-LABEL: dfg.entry @slices
// CHECK-DAG: %[[A:.*]] = dfg.constant dense<{{\[\[}}6, 4], [3, 1]]> : tensor<2x2xi32>
// CHECK-DAG: %[[B:.*]] = dfg.constant dense<{{\[\[}}2], [5]]> : tensor<2x1xi32>
// CHECK-DAG: %[[S:.*]] = dfg.constant dense<true> : tensor<2xi1>
// CHECK: dfg.return %[[A]], %[[B]], %[[S]]
dfg.entry @slices() -> (tensor<2x2xi32>, tensor<2x1xi32>, tensor<2xi1>) {
  %0 = dfg.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %1 = dfg.slice %0 {starts = #dfg.dims<1, 2>, sizes = #dfg.dims<2, 2>, steps = array<i64: -1, -2>} : tensor<2x3xi32>
  %2 = dfg.slice %0 {starts = #dfg.dims<0, 1>, sizes = #dfg.dims<2, 1>} : tensor<2x3xi32>
  %3 = dfg.constant dense<true> : tensor<4xi1>
  %4 = dfg.slice %3 {starts = #dfg.dims<1>, sizes = #dfg.dims<2>} : tensor<4xi1>
  dfg.return %1, %2, %4 : tensor<2x2xi32>, tensor<2x1xi32>, tensor<2xi1>
}

// CHECK-LABEL: dfg.entry @overlapping
// CHECK-COUNT-2: dfg.slice
dfg.entry @overlapping() -> (tensor<2xi32>, tensor<2xi32>) {
  %0 = dfg.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = dfg.slice %0 {starts = #dfg.dims<0>, sizes = #dfg.dims<2>} : tensor<3xi32>
  %2 = dfg.slice %0 {starts = #dfg.dims<1>, sizes = #dfg.dims<2>} : tensor<3xi32>
  dfg.return %1, %2 : tensor<2xi32>, tensor<2xi32>
}

// The elements of a resource have another shape, and a slice of them is another resource.
// CHECK-LABEL: dfg.entry @part_of_resource
// CHECK: %[[R:.*]] = dfg.constant dense_resource<r_1> : tensor<2x1xi32>
// CHECK: dfg.return %[[R]]
dfg.entry @part_of_resource() -> tensor<2x1xi32> {
  %0 = dfg.constant dense_resource<r> : tensor<4xi32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<2, 2>} : tensor<4xi32>
  %2 = dfg.slice %1 {starts = #dfg.dims<1, 1>, sizes = #dfg.dims<2, 1>, steps = array<i64: -1, 1>} : tensor<2x2xi32>
  dfg.return %2 : tensor<2x1xi32>
}

// CHECK: numbers_1: "0x{{.*}}0100030002000400"
// CHECK: r_1: "0x{{.*}}0800000002000000"
{-#
  dialect_resources: {
    builtin: {
      numbers: "0x020000000100020003000400",
      r: "0x0400000001000000020000000300000008000000"
    }
  }
#-}
