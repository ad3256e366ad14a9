// Gradients of the operands' types, or rows and their indices.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

dfg.entry @vector(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a scalar to differentiate, but got f32[4]}}
  %0 = dfg.gradients %x, [%x] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}

// -----

dfg.entry @type(%y: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{expects gradients of the operands' types, but got f64[4] for f32[4]}}
  %0 = dfg.gradients %y, [%x] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf64>
  dfg.return %0 : tensor<4xf64>
}

// -----

dfg.entry @few(%y: tensor<f32>, %x: tensor<4x2xf32>) -> tensor<3xi64> {
  // expected-error @+1 {{expects a result for each operand, two for a sparse one}}
  %0 = dfg.gradients %y, [%x] {sparse = array<i64: 0>} : (tensor<f32>, tensor<4x2xf32>) -> tensor<3xi64>
  dfg.return %0 : tensor<3xi64>
}

// -----

dfg.entry @many(%y: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{expects a result for each operand, two for a sparse one}}
  %0:2 = dfg.gradients %y, [%x] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  dfg.return %0#0 : tensor<f32>
}

// -----

dfg.entry @counts(%y: tensor<f32>, %x: tensor<4x2xf32>) -> tensor<3xi64> {
  // expected-error @+1 {{expects i64[r] and rows of f32[4, 2] as a sparse gradient, but got i64[3] and f32[2, 2]}}
  %0:2 = dfg.gradients %y, [%x] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<4x2xf32>) -> (tensor<3xi64>, tensor<2x2xf32>)
  dfg.return %0#0 : tensor<3xi64>
}

// -----

dfg.entry @scalar(%y: tensor<f32>, %x: tensor<f32>) -> tensor<3xi64> {
  // expected-error @+1 {{expects a sparse gradient of a value with rows, but got f32}}
  %0:2 = dfg.gradients %y, [%x] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<f32>) -> (tensor<3xi64>, tensor<3xf32>)
  dfg.return %0#0 : tensor<3xi64>
}
