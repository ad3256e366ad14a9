// A launch that frees its operands runs as early as possible: each gradient is consumed before the
// next one is computed, although the scalar that the updates share comes last.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @v : tensor<4096xf32>
dfg.variable @w : tensor<4096xf32>

// CHECK: dfg.launch @rate
// CHECK: dfg.launch @gradient
// CHECK: dfg.launch @update{{.*}}memory = [#dfg.memory<variable @v>]
// CHECK: dfg.launch @gradient
// CHECK: dfg.launch @update{{.*}}memory = [#dfg.memory<variable @w>]
dfg.entry @train(%x: tensor<4096xf32>, %t: tensor<f32>) {
  %v = dfg.read @v : tensor<4096xf32>
  %w = dfg.read @w : tensor<4096xf32>
  %gv = dfg.launch @gradient(%v, %x) {sizes = #dfg.dims<>} : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %gw = dfg.launch @gradient(%w, %x) {sizes = #dfg.dims<>} : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %rate = dfg.launch @rate(%t) {sizes = #dfg.dims<>} : (tensor<f32>) -> tensor<f32>
  %0 = dfg.launch @update(%v, %gv, %rate) {sizes = #dfg.dims<>} : (tensor<4096xf32>, tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>
  %1 = dfg.launch @update(%w, %gw, %rate) {sizes = #dfg.dims<>} : (tensor<4096xf32>, tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>
  %2 = dfg.assign @v, %0 : tensor<4096xf32>
  %3 = dfg.assign @w, %1 : tensor<4096xf32>
  dfg.return
}

kernel.func @gradient(tensor<4096xf32>, tensor<4096xf32>)
    -> (tensor<4096xf32> {kernel.may_share = array<i32>})
kernel.func @rate(tensor<f32>) -> (tensor<f32> {kernel.may_share = array<i32>})
kernel.func @update(tensor<4096xf32>, tensor<4096xf32>, tensor<f32>)
    -> (tensor<4096xf32> {kernel.may_share = array<i32: 0>})
