dfg.entry @run(%table: tensor<9x4xf32>, %i: tensor<2xi64>) -> (tensor<9x4xf32> {dfg.name = "y"}) {
  %0 = dfg.gather %table, %i : tensor<9x4xf32>, tensor<2xi64>
  %1 = dfg.sum %0 : tensor<2x4xf32>
  %2 = dfg.gradients %1, [%table] : (tensor<f32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  dfg.return %2 : tensor<9x4xf32>
}
