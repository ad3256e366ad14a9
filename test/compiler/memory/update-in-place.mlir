// A variable is updated in place if its update is the last reader of the old value and may
// overwrite it; other readers run before it, whatever the order in the source.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @w : tensor<64xf32>

// CHECK-LABEL: dfg.entry @train
// CHECK: dfg.launch @loss
// CHECK-SAME: memory = [#dfg.memory<fetch 0>]
// CHECK: dfg.launch @update
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
// CHECK: dfg.assign @w
dfg.entry @train(%g: tensor<64xf32>) -> (tensor<f32>) {
  %w = dfg.read @w : tensor<64xf32>
  %new = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %loss = dfg.launch @loss(%w) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<f32>
  %0 = dfg.assign @w, %new : tensor<64xf32>
  dfg.return %loss : tensor<f32>
}

// CHECK-LABEL: kernel.func @update
// CHECK-SAME: kernel.in_place = 0 : i32
kernel.func @update(tensor<64xf32>, tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0, 1>})
kernel.func @loss(tensor<64xf32>) -> (tensor<f32> {kernel.may_share = array<i32>})
