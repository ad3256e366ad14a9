// A launch after a send in the block runs before it only if it frees memory: the receiver may wait.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

#cpu0 = #dfg.device<"/job:local/task:0/device:cpu:0">
#cpu1 = #dfg.device<"/job:local/task:0/device:cpu:1">
module attributes {dfg.devices = [#cpu0, #cpu1]} {
// CHECK: dfg.launch @sum
// CHECK: dfg.launch @grow
// CHECK: dfg.send
// CHECK: dfg.launch @scalar
dfg.entry @f(%x: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>) attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>]} {
  %large = dfg.launch @grow(%x) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<4096xf32>
  %sent = dfg.launch @grow(%x) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<4096xf32>
  dfg.send %sent to slot 0 : tensor<4096xf32>
  %small = dfg.launch @scalar(%x) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<f32>
  %total = dfg.launch @sum(%large) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<f32>
  dfg.await_release %sent of slot 0 : tensor<4096xf32>
  dfg.return %small, %total : tensor<f32>, tensor<f32>
}

dfg.entry @f.1() attributes {partition_of = @f, device = #cpu1} {
  %0 = dfg.receive slot 0 : tensor<4096xf32>
  dfg.return
}

kernel.func @grow(tensor<4096xf32>) -> (tensor<4096xf32> {kernel.may_share = array<i32>})
kernel.func @scalar(tensor<4096xf32>) -> (tensor<f32> {kernel.may_share = array<i32>})
kernel.func @sum(tensor<4096xf32>) -> (tensor<f32> {kernel.may_share = array<i32>})
}
