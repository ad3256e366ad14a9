// A message in the memory of its sender has to be released before that is used again.
// RUN: tfc-opt %s --verify-diagnostics --tfc-check-messages

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.entry @f(%x: tensor<4xf32>) -> () attributes {partitions = [@f.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<0 to 1>]} {
  // Feeds stay as they are.
  dfg.send %x to slot 0 : tensor<4xf32>
  %0 = dfg.neg %x : tensor<4xf32>
  // expected-error @+1 {{expects a 'dfg.await_release' of its value and slot after it}}
  dfg.send %0 to slot 1 : tensor<4xf32>
  dfg.return
}
dfg.entry @f.1() attributes {device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f} {
  %0 = dfg.receive slot 0 : tensor<4xf32>
  %1 = dfg.receive slot 1 : tensor<4xf32>
  dfg.return
}
}
