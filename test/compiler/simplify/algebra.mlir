// Broadcasts and transposes are merged into the operations that read them, and gathers of regular rows are views.
// RUN: tfc-opt --tfc-simplify-algebra %s | FileCheck %s

// CHECK-LABEL: dfg.entry @broadcast
// CHECK-NEXT: dfg.add %[[X:.*]], %[[B:.*]] : tensor<4x8xf32>, tensor<8xf32>
dfg.entry @broadcast(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = dfg.reshape %b {shape = #dfg.dims<1, 8>} : tensor<8xf32>
  %1 = dfg.broadcast %0 {shape = #dfg.dims<4, 8>} : tensor<1x8xf32>
  %2 = dfg.add %x, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  dfg.return %2 : tensor<4x8xf32>
}

// Operations that determine the shape of the result stay.
// CHECK-LABEL: dfg.entry @needed
// CHECK-NEXT: dfg.broadcast
dfg.entry @needed(%b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = dfg.broadcast %b {shape = #dfg.dims<4, 8>} : tensor<8xf32>
  %1 = dfg.exp %0 : tensor<4x8xf32>
  dfg.return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: dfg.entry @transpose
// CHECK-NEXT: dfg.matmul %[[A:.*]], %[[B:.*]] {transpose_lhs = true}
dfg.entry @transpose(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = dfg.transpose %a : tensor<8x4xf32>
  %1 = dfg.matmul %0, %b : tensor<4x8xf32>, tensor<8x2xf32>
  dfg.return %1 : tensor<4x2xf32>
}

// CHECK-LABEL: dfg.entry @transposed_product
// CHECK-NEXT: dfg.matmul %[[B:.*]], %[[A:.*]] {transpose_lhs = true, transpose_rhs = true} : tensor<8x256xf32>, tensor<128x8xf32>
// CHECK-NEXT: dfg.return
dfg.entry @transposed_product(%a: tensor<128x8xf32>, %b: tensor<8x256xf32>) -> tensor<256x128xf32> {
  %0 = dfg.matmul %a, %b : tensor<128x8xf32>, tensor<8x256xf32>
  %1 = dfg.transpose %0 : tensor<128x256xf32>
  dfg.return %1 : tensor<256x128xf32>
}

// The rows would be shorter than vectors.
// CHECK-LABEL: dfg.entry @short_rows
// CHECK-NEXT: dfg.matmul
// CHECK-NEXT: dfg.transpose
dfg.entry @short_rows(%a: tensor<4x8xf32>, %b: tensor<8x256xf32>) -> tensor<256x4xf32> {
  %0 = dfg.matmul %a, %b : tensor<4x8xf32>, tensor<8x256xf32>
  %1 = dfg.transpose %0 : tensor<4x256xf32>
  dfg.return %1 : tensor<256x4xf32>
}

// A gather at constant positions, at a constant distance and inside of the operand, is a view.
// CHECK-LABEL: dfg.entry @gather
// CHECK-NEXT: %[[ROW:.*]] = dfg.slice %{{.*}} {sizes = #dfg.dims<1, 8>, starts = #dfg.dims<2, 0>, steps = array<i64: 1, 1>}
// CHECK-NEXT: %[[FLAT:.*]] = dfg.reshape %[[ROW]] {shape = #dfg.dims<8>}
// CHECK-NEXT: %[[ROWS:.*]] = dfg.slice %{{.*}} {sizes = #dfg.dims<2, 8>, starts = #dfg.dims<3, 0>, steps = array<i64: -3, 1>}
// CHECK-NEXT: dfg.return %[[FLAT]], %[[ROWS]]
dfg.entry @gather(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<2x8xf32>) {
  %i = dfg.constant dense<2> : tensor<i64>
  %j = dfg.constant dense<[3, 0]> : tensor<2xi32>
  %0 = dfg.gather %x, %i : tensor<4x8xf32>, tensor<i64>
  %1 = dfg.gather %x, %j : tensor<4x8xf32>, tensor<2xi32>
  dfg.return %0, %1 : tensor<8xf32>, tensor<2x8xf32>
}

// Others are not: here one that fails, and one at irregular positions.
// CHECK-LABEL: dfg.entry @irregular
// CHECK-COUNT-2: dfg.gather
dfg.entry @irregular(%x: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %i = dfg.constant dense<-1> : tensor<i64>
  %j = dfg.constant dense<[0, 1, 3]> : tensor<3xi64>
  %0 = dfg.gather %x, %i : tensor<4x2xf32>, tensor<i64>
  %1 = dfg.gather %x, %j : tensor<4x2xf32>, tensor<3xi64>
  dfg.return %0, %1 : tensor<2xf32>, tensor<3x2xf32>
}
