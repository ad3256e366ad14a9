// Launches that update variables in place and launches that do not call two versions of a kernel.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @w : tensor<64xf32>

// CHECK: dfg.launch @step(
// CHECK-SAME: memory = [#dfg.memory<fetch 0>]
dfg.entry @ahead(%g: tensor<64xf32>) -> tensor<64xf32> {
  %w = dfg.read @w : tensor<64xf32>
  %0 = dfg.launch @step(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  dfg.return %0 : tensor<64xf32>
}

// CHECK: dfg.launch @step_inplace(
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @train(%g: tensor<64xf32>) {
  %w = dfg.read @w : tensor<64xf32>
  %0 = dfg.launch @step(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = dfg.assign @w, %0 : tensor<64xf32>
  dfg.return
}

// CHECK: @step({{.*}}-> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
// CHECK: @step_inplace({{.*}}kernel.in_place = 0 : i32
kernel.func @step(tensor<64xf32>, tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
