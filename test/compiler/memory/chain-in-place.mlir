// A result is written over an operand that is read for the last time, in all launches of a kernel
// or in none.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

// CHECK-LABEL: dfg.entry @agree
// CHECK: dfg.launch @first({{.*}}memory = [#dfg.memory<arena>]
// CHECK: dfg.launch @next({{.*}}memory = [#dfg.memory<operand 0>]
// CHECK: dfg.launch @next({{.*}}memory = [#dfg.memory<operand 0>]
// CHECK: dfg.launch @last({{.*}}memory = [#dfg.memory<fetch 0>]
dfg.entry @agree(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = dfg.launch @first(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @next(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %3 = dfg.launch @last(%2) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  dfg.return %3 : tensor<64xf32>
}

// The feed is not the model's to overwrite, so @other never writes in place.
// CHECK-LABEL: dfg.entry @disagree
// CHECK: dfg.launch @other({{.*}}memory = [#dfg.memory<arena>]
// CHECK: dfg.launch @other({{.*}}memory = [#dfg.memory<arena>]
dfg.entry @disagree(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = dfg.launch @other(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = dfg.launch @other(%0) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @last(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  dfg.return %2 : tensor<64xf32>
}

// CHECK: @first({{.*}}kernel.may_share = array<i32: 0>}
kernel.func @first(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
// CHECK: @next({{.*}}kernel.in_place = 0 : i32
kernel.func @next(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
// CHECK: @other({{.*}}-> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
kernel.func @other(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
kernel.func @last(tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32>})
