// Operations between two convolutions with the channels in front are computed with the channels
// last, so that the transposes around them meet.
// RUN: tfc-opt --tfc-simplify-algebra %s | FileCheck %s

// CHECK-LABEL: dfg.entry @elementwise
// CHECK: %[[X:.*]] = dfg.exp
// CHECK-NOT: transpose
// CHECK: %[[C:.*]] = dfg.reshape %{{.*}} {shape = #dfg.dims<6>} : tensor<6x1x1xf32>
// CHECK: %[[S:.*]] = dfg.mul %[[X]], %[[C]] : tensor<2x4x5x6xf32>, tensor<6xf32>
// CHECK: %[[R:.*]] = dfg.relu %[[S]] : tensor<2x4x5x6xf32>
// CHECK-NEXT: dfg.return %[[R]]
dfg.entry @elementwise(%x: tensor<2x4x5x6xf32>, %c: tensor<6x1x1xf32>) -> tensor<2x4x5x6xf32> {
  %0 = dfg.exp %x : tensor<2x4x5x6xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : tensor<2x4x5x6xf32>
  %2 = dfg.mul %1, %c : tensor<2x6x4x5xf32>, tensor<6x1x1xf32>
  %3 = dfg.relu %2 : tensor<2x6x4x5xf32>
  %4 = dfg.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : tensor<2x6x4x5xf32>
  dfg.return %4 : tensor<2x4x5x6xf32>
}

// A transpose of a feed costs nothing where it is read.
// CHECK-LABEL: dfg.entry @feed
// CHECK: %[[T:.*]] = dfg.transpose %{{.*}}
// CHECK-NEXT: dfg.exp %[[T]]
dfg.entry @feed(%x: tensor<4x5x6xf32>) -> tensor<6x4x5xf32> {
  %0 = dfg.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<4x5x6xf32>
  %1 = dfg.exp %0 : tensor<6x4x5xf32>
  dfg.return %1 : tensor<6x4x5xf32>
}

// Both operands of the sum are large, and only one is transposed.
// CHECK-LABEL: dfg.entry @mixed
// CHECK: %[[T:.*]] = dfg.transpose %{{.*}}
// CHECK-NEXT: dfg.add %[[T]], %{{.*}}
dfg.entry @mixed(%x: tensor<4x5xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = dfg.exp %x : tensor<4x5xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 1, 0>} : tensor<4x5xf32>
  %2 = dfg.add %1, %y : tensor<5x4xf32>, tensor<5x4xf32>
  dfg.return %2 : tensor<5x4xf32>
}

// CHECK-LABEL: dfg.entry @parts
// CHECK-NOT: transpose
// CHECK: %[[J:.*]] = dfg.concat %{{.*}}, %{{.*}} {axis = 3 : i64} : tensor<?x4x5x6xf32, #dfg.dims<n, 4, 5, 6>>, tensor<?x4x5x6xf32, #dfg.dims<n, 4, 5, 6>>
// CHECK: %[[S:.*]] = dfg.slice %[[J]] {sizes = #dfg.dims<n, 4, 2, 7>, starts = #dfg.dims<0, 0, 1, 3>, steps = array<i64: 1, 1, 2, 1>}
// CHECK: %[[P:.*]] = dfg.place %[[S]] {shape = #dfg.dims<n, 5, 4, 7>, starts = #dfg.dims<0, 1, 2, 0>}
// CHECK-NEXT: dfg.return %[[P]]
dfg.entry @parts(%x: tensor<?x4x5x6xf32, #dfg.dims<n, 4, 5, 6>>) -> tensor<?x5x4x7xf32, #dfg.dims<n, 5, 4, 7>>
    attributes {symbols = ["n"]} {
  %0 = dfg.exp %x : tensor<?x4x5x6xf32, #dfg.dims<n, 4, 5, 6>>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : tensor<?x4x5x6xf32, #dfg.dims<n, 4, 5, 6>>
  %2 = dfg.concat %1, %1 {axis = -3 : i64} : tensor<?x6x4x5xf32, #dfg.dims<n, 6, 4, 5>>, tensor<?x6x4x5xf32, #dfg.dims<n, 6, 4, 5>>
  %3 = dfg.slice %2 {starts = #dfg.dims<0, 3, 0, 1>, sizes = #dfg.dims<n, 7, 4, 2>, steps = array<i64: 1, 1, 1, 2>} : tensor<?x12x4x5xf32, #dfg.dims<n, 12, 4, 5>>
  %4 = dfg.place %3 {starts = #dfg.dims<0, 0, 1, 2>, shape = #dfg.dims<n, 7, 5, 4>} : tensor<?x7x4x2xf32, #dfg.dims<n, 7, 4, 2>>
  %5 = dfg.transpose %4 {permutation = array<i64: 0, 2, 3, 1>} : tensor<?x7x5x4xf32, #dfg.dims<n, 7, 5, 4>>
  dfg.return %5 : tensor<?x5x4x7xf32, #dfg.dims<n, 5, 4, 7>>
}

// CHECK-LABEL: dfg.entry @pooled
// CHECK: %[[X:.*]] = dfg.exp
// CHECK-NOT: transpose
// CHECK: %[[A:.*]] = dfg.sum %[[X]] {axis = array<i64: 1, 2>} : tensor<2x4x5x6xf32>
// CHECK: %[[B:.*]] = dfg.max %[[X]] {axis = array<i64: 1, 2>, keep_dims = true} : tensor<2x4x5x6xf32>
// CHECK: %[[S:.*]] = dfg.mul %[[X]], %[[B]] : tensor<2x4x5x6xf32>, tensor<2x1x1x6xf32>
// CHECK-NEXT: dfg.return %[[A]], %[[S]]
dfg.entry @pooled(%x: tensor<2x4x5x6xf32>) -> (tensor<2x6xf32>, tensor<2x4x5x6xf32>) {
  %0 = dfg.exp %x : tensor<2x4x5x6xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : tensor<2x4x5x6xf32>
  %2 = dfg.sum %1 {axis = array<i64: 2, 3>} : tensor<2x6x4x5xf32>
  %3 = dfg.max %1 {axis = array<i64: -1, -2>, keep_dims = true} : tensor<2x6x4x5xf32>
  %4 = dfg.mul %1, %3 : tensor<2x6x4x5xf32>, tensor<2x6x1x1xf32>
  %5 = dfg.transpose %4 {permutation = array<i64: 0, 2, 3, 1>} : tensor<2x6x4x5xf32>
  dfg.return %2, %5 : tensor<2x6xf32>, tensor<2x4x5x6xf32>
}

// The axes that are left are in another order.
// CHECK-LABEL: dfg.entry @one_axis
// CHECK: %[[S:.*]] = dfg.sum %{{.*}} {axis = array<i64: 1>} : tensor<2x4x5x6xf32>
// CHECK: dfg.transpose %[[S]] {permutation = array<i64: 0, 2, 1>} : tensor<2x5x6xf32>
dfg.entry @one_axis(%x: tensor<2x4x5x6xf32>) -> tensor<2x6x5xf32> {
  %0 = dfg.exp %x : tensor<2x4x5x6xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : tensor<2x4x5x6xf32>
  %2 = dfg.sum %1 {axis = array<i64: 2>} : tensor<2x6x4x5xf32>
  dfg.return %2 : tensor<2x6x5xf32>
}

// Rows stay rows, which a kernel computes at once.
// CHECK-LABEL: dfg.entry @rows
// CHECK: %[[T:.*]] = dfg.transpose %{{.*}}
// CHECK: dfg.max %[[T]] {axis = array<i64: 2>}
dfg.entry @rows(%x: tensor<2x4x5xf32>) -> tensor<2x5xf32> {
  %0 = dfg.exp %x : tensor<2x4x5xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 2, 1>} : tensor<2x4x5xf32>
  %2 = dfg.max %1 {axis = array<i64: 2>} : tensor<2x5x4xf32>
  dfg.return %2 : tensor<2x5xf32>
}

// CHECK-LABEL: dfg.entry @units
// CHECK: %[[X:.*]] = dfg.exp
// CHECK-NEXT: %[[R:.*]] = dfg.reshape %[[X]] {shape = #dfg.dims<2, 6>} : tensor<2x1x1x6xf32>
// CHECK-NEXT: dfg.return %[[R]]
dfg.entry @units(%x: tensor<2x1x1x6xf32>) -> tensor<2x6xf32> {
  %0 = dfg.exp %x : tensor<2x1x1x6xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : tensor<2x1x1x6xf32>
  %2 = dfg.reshape %1 {shape = #dfg.dims<2, 6>} : tensor<2x6x1x1xf32>
  dfg.return %2 : tensor<2x6xf32>
}
