// Indices of the wrong type or shape are refused.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'gather' expects an axis from -1 to 0, but got 1 for f32[4] [axis]}}
  %y = dfg.gather %x, %i {axis = 1 : i64} : tensor<4xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<3xf32>) {
  // expected-error @+1 {{'gather' expects i32 or i64 indices, but got f32[3] [dtype]}}
  %y = dfg.gather %x, %i : tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{'gather_nd' expects index vectors of length 1 to 1 along the last axis, but got i32[3, 2] for f32[4] [rank]}}
  %y = dfg.gather_nd %x, %i : tensor<4xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @f(%i: tensor<3xi32>) {
  // expected-error @+1 {{'check_indices' expects an axis from -2 to 1, but got 2 for f32[4, 5] [axis]}}
  %y = dfg.check_indices %i {shape = #dfg.dims<4, 5>, dtype = f32, axis = 2 : i64} : tensor<3xi32>
  return
}

// -----

func.func @f(%i: tensor<3xf32>) {
  // expected-error @+1 {{'check_indices' expects i32 or i64 indices, but got f32[3] [dtype]}}
  %y = dfg.check_indices %i {shape = #dfg.dims<4>} : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{'take_along_axis' expects indices of the sizes of f32[4, 5] but for axis 1, but got i32[3, 2] [unequal-dimensions]}}
  %y = dfg.take_along_axis %x, %i : tensor<4x5xf32>, tensor<3x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>) {
  // expected-error @+1 {{'scatter_add' expects updates of type f32[3, 5], but got f32[3, 4] [unequal-dimensions]}}
  %y = dfg.scatter_add %x, %i, %u : tensor<4x5xf32>, tensor<3xi32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x5xf64>) {
  // expected-error @+1 {{'scatter_update' expects operands of one dtype, but got f32[4, 5] and f64[3, 5] [dtype]}}
  %y = dfg.scatter_update %x, %i, %u : tensor<4x5xf32>, tensor<3xi32>, tensor<3x5xf64>
  return
}

// -----

func.func @f(%x: tensor<f32>, %i: tensor<3xi32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{'scatter_add' expects a tensor with rows, but got f32 [rank]}}
  %y = dfg.scatter_add %x, %i, %u : tensor<f32>, tensor<3xi32>, tensor<3xf32>
  return
}

// -----

func.func @f(%i: tensor<3xi64>, %r: tensor<4x5xf32>) {
  // expected-error @+1 {{'coalesce' expects one index per row, but got i64[3] and f32[4, 5] [unequal-dimensions]}}
  %u, %s = dfg.coalesce %i, %r : tensor<3xi64>, tensor<4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'argsort' expects an axis, but f32 has none [axis]}}
  %y = dfg.argsort %x : tensor<f32>
  return
}

// -----

func.func @f(%i: tensor<3xi64>) {
  // expected-error @+1 {{'one_hot' expects one size, but got 2 [size]}}
  %y = dfg.one_hot %i {depth = #dfg.dims<2, 3>} : tensor<3xi64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'iota' expects one size that is not negative [size]}}
  %y = dfg.iota {size = #dfg.dims<-1>}
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'tril' expects a tensor of rank 2 or more, but got f32[3] [rank]}}
  %y = dfg.tril %x : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xi32>) {
  // expected-error @+1 {{'causal_mask' expects a floating-point tensor, but got i32[3, 3] [dtype]}}
  %y = dfg.causal_mask %x : tensor<3x3xi32>
  return
}
