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
  // expected-error@+1 {{expects a sparse gradient with a row for each that is gathered, but its rows less those that are gathered are -2}}
  %2:2 = dfg.gradients %1, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<8x2xf32>) -> (tensor<1xi64>, tensor<1x2xf32>)
  dfg.return %2#0 : tensor<1xi64>
}

// -----

dfg.entry @few_named_rows(%table: tensor<8x2xf32>, %i: tensor<?xi64, #dfg.dims<n>>, %j: tensor<?xi64, #dfg.dims<m>>)
    -> tensor<?xi64, #dfg.dims<n>> attributes {symbols = ["n", "m"]} {
  %0 = dfg.gather %table, %i : tensor<8x2xf32>, tensor<?xi64, #dfg.dims<n>>
  %1 = dfg.gather %table, %j : tensor<8x2xf32>, tensor<?xi64, #dfg.dims<m>>
  %2 = dfg.sum %0 : tensor<?x2xf32, #dfg.dims<n, 2>>
  %3 = dfg.sum %1 : tensor<?x2xf32, #dfg.dims<m, 2>>
  %4 = dfg.add %2, %3 : tensor<f32>, tensor<f32>
  // expected-error@+1 {{but its rows less those that are gathered are -m}}
  %5:2 = dfg.gradients %4, [%table] {sparse = array<i64: 0>}
      : (tensor<f32>, tensor<8x2xf32>) -> (tensor<?xi64, #dfg.dims<n>>, tensor<?x2xf32, #dfg.dims<n, 2>>)
  dfg.return %5#0 : tensor<?xi64, #dfg.dims<n>>
}
