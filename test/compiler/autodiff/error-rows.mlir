// A gradient can be sparse only if nothing but gathers reads the value, and it has a row for each gathered one.
// RUN: tfc-opt --tfc-build-gradients --split-input-file --verify-diagnostics %s

dfg.entry @other_reader(%table: tensor<8x2xf32>, %i: tensor<3xi64>) -> tensor<3xi64> {
  %0 = dfg.gather %table, %i : tensor<8x2xf32>, tensor<3xi64>
  %1 = dfg.sum %0 : tensor<3x2xf32>
  // expected-note@+1 {{'dfg.mean' reads operand #1}}
  %2 = dfg.mean %table : tensor<8x2xf32>
  %3 = dfg.add %1, %2 : tensor<f32>, tensor<f32>
  // expected-error@+1 {{expects only gathers to read an operand with a sparse gradient}}
  %4:2 = dfg.gradients %3, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<8x2xf32>) -> (tensor<3xi64>, tensor<3x2xf32>)
  dfg.return %4#0 : tensor<3xi64>
}

// -----

dfg.entry @few_rows(%table: tensor<8x2xf32>, %i: tensor<3xi64>) -> tensor<1xi64> {
  %0 = dfg.gather %table, %i : tensor<8x2xf32>, tensor<3xi64>
  %1 = dfg.sum %0 : tensor<3x2xf32>
  // expected-error@+1 {{expects a sparse gradient with a row for each that is gathered, but 2 more are}}
  %2:2 = dfg.gradients %1, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<8x2xf32>) -> (tensor<1xi64>, tensor<1x2xf32>)
  dfg.return %2#0 : tensor<1xi64>
}
