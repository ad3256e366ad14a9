// Operands that cannot be sorted, or combined by index, are refused.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'sort' expects a numeric tensor, but got bool[4] [dtype]}}
  %y = dfg.sort %x : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'sort' expects an axis from -2 to 1, but got 2 for f32[4, 2] [axis]}}
  %y = dfg.sort %x {axis = 2 : i64} : tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'arg_top_k' expects an axis, but f32 has none [axis]}}
  %y = dfg.arg_top_k %x {k = #dfg.dims<1>} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'top_k' expects k in [0, 4] of f32[4, 2], but got 5 [size]}}
  %y:2 = dfg.top_k %x {k = #dfg.dims<5>, axis = 0 : i64} : tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'top_k' expects one size for k [size]}}
  %y:2 = dfg.top_k %x {k = #dfg.dims<1, 1>} : tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'logcumsumexp' expects a floating-point tensor, but got i32[4] [dtype]}}
  %y = dfg.logcumsumexp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>) {
  // expected-error @+1 {{'scatter_reduce' expects updates of type f32[3, 5], but got f32[3, 4] [unequal-dimensions]}}
  %y = dfg.scatter_reduce %x, %i, %u {mode = #dfg.scatter_mode<max>} : tensor<4x5xf32>, tensor<3xi32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x5xf64>) {
  // expected-error @+1 {{'scatter_reduce' expects operands of one dtype, but got f32[4, 5] and f64[3, 5] [dtype]}}
  %y = dfg.scatter_reduce %x, %i, %u {mode = #dfg.scatter_mode<max>} : tensor<4x5xf32>, tensor<3xi32>, tensor<3x5xf64>
  return
}
