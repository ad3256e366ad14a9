// Softmax and its losses refuse operands that do not match.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'softmax' expects a floating-point tensor, but got i32[4] [dtype]}}
  %y = dfg.softmax %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'log_softmax' expects an axis from -1 to 0, but got 1 for f32[4] [axis]}}
  %y = dfg.log_softmax %x {axis = 1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %p: tensor<4x2xf32>) {
  // expected-error @+1 {{'softmax_cross_entropy' expects operands of one type, but got f32[4, 3] and f32[4, 2] [unequal-dimensions]}}
  %y = dfg.softmax_cross_entropy %x, %p : tensor<4x3xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %p: tensor<4x3xf64>) {
  // expected-error @+1 {{'softmax_cross_entropy' expects operands of one type, but got f32[4, 3] and f64[4, 3] [dtype]}}
  %y = dfg.softmax_cross_entropy %x, %p : tensor<4x3xf32>, tensor<4x3xf64>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %l: tensor<3xi32>) {
  // expected-error @+1 {{'sparse_softmax_cross_entropy' expects one label per row, but got f32[4, 3] and i32[3] [unequal-dimensions]}}
  %y = dfg.sparse_softmax_cross_entropy %x, %l : tensor<4x3xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %l: tensor<i32>) {
  // expected-error @+1 {{'sparse_softmax_cross_entropy' expects logits with an axis of classes, but got f32 [rank]}}
  %y = dfg.sparse_softmax_cross_entropy %x, %l : tensor<f32>, tensor<i32>
  return
}
