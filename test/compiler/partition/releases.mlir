// A view of a message that is sent has memory of its own: its wait is no reader of the message, so that each partition may
// wait for releases while the other one does.
// RUN: tfc-opt %s --tfc-check-messages | FileCheck %s

// CHECK-COUNT-4: dfg.await_release
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<3xf32>) -> tensor<2xf32> attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<1 to 0>, #dfg.slot<0 to 1>, #dfg.slot<1 to 0>]} {
  %0 = dfg.neg %x : tensor<3xf32>
  dfg.send %0 to slot 0 : tensor<3xf32>
  %1 = dfg.receive slot 1 : tensor<3xf32>
  %2 = dfg.slice %1 {sizes = #dfg.dims<2>, starts = #dfg.dims<1>} : tensor<3xf32>
  dfg.send %2 to slot 2 : tensor<2xf32>
  %3 = dfg.receive slot 3 : tensor<2xf32>
  dfg.await_release %0 of slot 0 : tensor<3xf32>
  dfg.await_release %2 of slot 2 : tensor<2xf32>
  dfg.return %3 : tensor<2xf32>
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %0 = dfg.constant dense<1.0> : tensor<3xf32>
  %1 = dfg.exp %0 : tensor<3xf32>
  dfg.send %1 to slot 1 : tensor<3xf32>
  %2 = dfg.receive slot 0 : tensor<3xf32>
  %3 = dfg.slice %2 {sizes = #dfg.dims<2>, starts = #dfg.dims<0>} : tensor<3xf32>
  dfg.send %3 to slot 3 : tensor<2xf32>
  %4 = dfg.receive slot 2 : tensor<2xf32>
  dfg.await_release %1 of slot 1 : tensor<3xf32>
  dfg.await_release %3 of slot 3 : tensor<2xf32>
  dfg.return
}
}
