// Elementwise operations, reductions and draws refuse wrong element types and sizes.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'sin' expects a floating-point tensor, but got i32[4] [dtype]}}
  %y = dfg.sin %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'logical_not' expects a bool tensor, but got f32[4] [dtype]}}
  %y = dfg.logical_not %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'bitwise_and' expects an integer tensor, but got f32[4] [dtype]}}
  %y = dfg.bitwise_and %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'is_nan' expects a floating-point tensor, but got i32[4] [dtype]}}
  %y = dfg.is_nan %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+1 {{'atan2' expects operands of one dtype, but got f32[4] and f64[4] [dtype]}}
  %y = dfg.atan2 %x, %z : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{'clamp' expects sizes that are equal or 1, but got f32[4] and f32[3] [unequal-dimensions]}}
  %y = dfg.clamp %x, %x, %z : tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32, #dfg.dims<n>>, %z: tensor<?xf32, #dfg.dims<m>>) {
  // expected-error @+1 {{cannot prove that n equals m, as 'mod' on f32[n] and f32[m] needs [unequal-dimensions]}}
  %y = dfg.mod %x, %z : tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<m>>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'min' expects a numeric tensor, but got bool[4] [dtype]}}
  %y = dfg.min %x : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'prod' names axis -2 twice [axis]}}
  %y = dfg.prod %x {axis = array<i64: 0, -2>} : tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'all' expects a bool tensor, but got f32[4] [dtype]}}
  %y = dfg.all %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'argmax' returns i32 or i64, but got dtype f32 [dtype]}}
  %y = dfg.argmax %x {dtype = f32} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'argmin' expects an axis, but f32 has none [axis]}}
  %y = dfg.argmin %x : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'cumsum' expects an axis from -1 to 0, but got 2 for f32[4] [axis]}}
  %y = dfg.cumsum %x {axis = 2 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{'linear_recurrence' expects operands of one type, but got f32[1] and f32[4] [type-mismatch]}}
  %z = dfg.linear_recurrence %y, %x : tensor<1xf32>, tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_normal' expects a floating-point tensor, but got i32[4] [dtype]}}
  %y = dfg.random_normal %c {shape = #dfg.dims<4>, dtype = i32} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_uniform' expects sizes that are not negative, but got -4 [size]}}
  %y = dfg.random_uniform %c {shape = #dfg.dims<-4>} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_uniform' expects low <= high, but got 1.5 and 1 [random-range]}}
  %y = dfg.random_uniform %c {shape = #dfg.dims<4>, low = 1.5 : f64, high = 1.0 : f64} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_normal' expects a stddev of at least 0, but got -1 [random-range]}}
  %y = dfg.random_normal %c {shape = #dfg.dims<4>, stddev = -1.0 : f64} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_truncated_normal' expects a stddev of at least 0, but got -0.02 [random-range]}}
  %y = dfg.random_truncated_normal %c {shape = #dfg.dims<4>, stddev = -0.02 : f64} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_bernoulli' expects a probability from 0 to 1, but got 2 [random-range]}}
  %y = dfg.random_bernoulli %c {shape = #dfg.dims<4>, probability = 2.0 : f64} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_integer' expects low < high, at most 2^32 apart, but got 3 and 3 [random-range]}}
  %y = dfg.random_integer %c {shape = #dfg.dims<4>, low = 3 : i64, high = 3 : i64} : tensor<i64>
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_integer' from -1 up to 200 draws numbers that are out of range for i8 [random-range]}}
  %y = dfg.random_integer %c {shape = #dfg.dims<4>, low = -1 : i64, high = 200 : i64, dtype = i8} : tensor<i64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'size' returns i32 or i64, but got dtype f32 [dtype]}}
  %y = dfg.size {value = #dfg.dims<n>, dtype = f32}
  return
}

// -----

func.func @f(%c: tensor<i64>) {
  // expected-error @+1 {{'random_truncated_normal' expects 'mean' to be a value of f16, but got 70000 [number-range]}}
  %y = dfg.random_truncated_normal %c {shape = #dfg.dims<4>, dtype = f16, mean = 70000.0 : f64} : tensor<i64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'bitcast' expects a type of the width of f32, but got i64 [dtype]}}
  %y = dfg.bitcast %x {dtype = i64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error @+1 {{'bitcast' expects a type of the width of i8, but got bool [dtype]}}
  %y = dfg.bitcast %x {dtype = i1} : tensor<4xi8>
  return
}
