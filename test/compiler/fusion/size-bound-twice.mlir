// Copies of an operation may bind a size again in the same block: the first one binds it for all others.
// RUN: tfc-opt %s --tfc-form-kernels | FileCheck %s

// CHECK-LABEL: dfg.entry @twice(
// CHECK: dfg.bind_size %{{.*}} {bound
// CHECK: dfg.bind_size %{{.*}} checked
// CHECK: dfg.launch @{{.*}}exp
dfg.entry @twice(%k: tensor<i64>, %x: tensor<f32>) -> tensor<?xf32, #dfg.dims<k>> {
  dfg.bind_size %k {bound = #dfg.dims<8>, size = #dfg.dims<k>} : tensor<i64>
  dfg.bind_size %k {bound = #dfg.dims<8>, checked, size = #dfg.dims<k>} : tensor<i64>
  %b = dfg.broadcast %x {shape = #dfg.dims<k>} : tensor<f32>
  %e = dfg.exp %b : tensor<?xf32, #dfg.dims<k>>
  dfg.return %e : tensor<?xf32, #dfg.dims<k>>
}
