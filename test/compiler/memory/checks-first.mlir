// No variable changes before all checks have passed: a check and the launches it depends on run
// before launches that write variables, and those launches never write one.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @v : tensor<64xf32>
dfg.variable @w : tensor<64xf32>

// CHECK-LABEL: dfg.entry @train
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<arena>]
// CHECK: dfg.launch @valid
// CHECK: dfg.check
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @train(%x: tensor<64xf32>) {
  %w = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %v = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %valid = dfg.launch @valid(%v) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<i1>
  dfg.check %valid, "v has become invalid" : tensor<i1>
  %0 = dfg.assign @v, %v : tensor<64xf32>
  %1 = dfg.assign @w, %w : tensor<64xf32>
  dfg.return
}

kernel.func @next(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
kernel.func @valid(tensor<64xf32>) -> (tensor<i1> {kernel.may_share = array<i32>})
