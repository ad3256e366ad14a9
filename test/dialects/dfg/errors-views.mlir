// Invalid parts of tensors, and parts that do not match, are refused.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'slice' expects 2 starts, one for each axis of f32[4, 8], but got 1 [rank]}}
  %y = dfg.slice %x {starts = #dfg.dims<0>, sizes = #dfg.dims<1, 1>} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'slice' takes 3 elements from 2 by 1, which is outside of axis 0 of f32[4] [slice]}}
  %y = dfg.slice %x {starts = #dfg.dims<2>, sizes = #dfg.dims<3>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'slice' takes 3 elements from 1 by -1, which is outside of axis 0 of f32[4] [slice]}}
  %y = dfg.slice %x {starts = #dfg.dims<1>, sizes = #dfg.dims<3>, steps = array<i64: -1>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'slice' expects steps other than 0 [slice]}}
  %y = dfg.slice %x {starts = #dfg.dims<0>, sizes = #dfg.dims<1>, steps = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'place' expects 1 sizes, one for each axis of f32[4], but got 2 [rank]}}
  %y = dfg.place %x {starts = #dfg.dims<0>, shape = #dfg.dims<4, 4>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'pad' expects sizes that are not negative, but got -1 for axis 0 of f32[4] [pad]}}
  %y = dfg.pad %x {low = #dfg.dims<-1>, high = #dfg.dims<0>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'reverse' expects an axis from -1 to 0, but got 1 for f32[4] [axis]}}
  %y = dfg.reverse %x {axis = array<i64: 1>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'expand' expects an axis from -2 to 1, but got 3 for f32[4] [axis]}}
  %y = dfg.expand %x {axis = 3 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x1xf32>) {
  // expected-error @+1 {{'squeeze' expects axis 0 of size 1, but got f32[4, 1] [unequal-dimensions]}}
  %y = dfg.squeeze %x {axis = array<i64: 0>} : tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile' expects repeats that are not negative, but got -2 [tile]}}
  %y = dfg.tile %x {repeats = #dfg.dims<-2>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+1 {{'concat' expects tensors of one dtype, but got f32[4] and f64[4] [dtype]}}
  %y = dfg.concat %x, %z : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<4x1xf32>) {
  // expected-error @+1 {{'concat' expects tensors of one rank, but got f32[4] and f32[4, 1] [rank]}}
  %y = dfg.concat %x, %z : tensor<4xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>, %z: tensor<4x3xf32>) {
  // expected-error @+1 {{'concat' expects equal sizes but for axis 0, but got f32[4, 2] and f32[4, 3] [unequal-dimensions]}}
  %y = dfg.concat %x, %z : tensor<4x2xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{'stack' expects tensors of one type, but got f32[4] and f32[3] [unequal-dimensions]}}
  %y = dfg.stack %x, %z : tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'split' expects either sections or sizes [split]}}
  %y = dfg.split %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cannot prove that axis 0 of f32[4] is divisible by 3, as 'split' needs [unequal-dimensions]}}
  %y:3 = dfg.split %x {sections = 3 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'split' expects sizes that add up to 4, but got 3 [unequal-dimensions]}}
  %y:2 = dfg.split %x {sizes = #dfg.dims<1, 2>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'split' expects 1 to 4096 sections, but got 0 [split]}}
  %y:2 = dfg.split %x {sections = 0 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'broadcast' expects sizes that are not negative, but got -1 [size]}}
  %y = dfg.broadcast %x {shape = #dfg.dims<-1>} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{'reshape' expects sizes that are not negative, but got -2 [size]}}
  %y = dfg.reshape %x {shape = #dfg.dims<-2, -3>} : tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error @+1 {{'place' expects sizes that are not negative, but got -3 [size]}}
  %y = dfg.place %x {starts = #dfg.dims<0>, shape = #dfg.dims<-3>} : tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<3xi8>) {
  // expected-error @+1 {{'place' expects 'value' to be a value of i8, but got -0.5 [literal-type]}}
  %y = dfg.place %x {starts = #dfg.dims<1>, shape = #dfg.dims<8>, value = -0.5 : f64} : tensor<3xi8>
  return
}

// -----

func.func @f(%x: tensor<3xi64>) {
  // expected-error @+1 {{'pad' expects 'value' to be a value of i64, but got 9.223372036854776e+18 [number-range]}}
  %y = dfg.pad %x {low = #dfg.dims<1>, high = #dfg.dims<1>, value = 9223372036854775808.0 : f64} : tensor<3xi64>
  return
}

// -----

func.func @f(%i: tensor<3xi32>) {
  // expected-error @+1 {{'one_hot' expects 'on_value' to be a value of bool, but got 2 [number-range]}}
  %y = dfg.one_hot %i {depth = #dfg.dims<4>, on_value = 2.0 : f64, dtype = i1} : tensor<3xi32>
  return
}
