// Defaults that the language would choose itself are written: seeds, and zeros as initial values.
// RUN: tfc compile %s --emit=graph > %t.graph
// RUN: FileCheck %s < %t.graph
// RUN: tfc-random --same %s %t.graph
// CHECK: var table: f32[2, 3] = broadcast(f32(0.0), shape: [2, 3])
// CHECK: var count: i64 = i64(0)
// CHECK: random_uniform({{.*}}seed: 0)
module @defaults {
  dfg.variable @table : tensor<2x3xf32>
  dfg.variable @count : tensor<i64>
  dfg.entry @e() -> (tensor<4xf32> {dfg.name = "y"}, tensor<2x3xf32> {dfg.name = "w"}) {
    %n = dfg.read @count : tensor<i64>
    %y = dfg.random_uniform %n {dtype = f32, shape = #dfg.dims<4>} : tensor<i64>
    %w = dfg.read @table : tensor<2x3xf32>
    dfg.return %y, %w : tensor<4xf32>, tensor<2x3xf32>
  }
}
