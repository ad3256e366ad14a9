// A device with memory of its own sends copies in memory of the host, which the runtime provides: in a
// loop they need no buffers in the arena of the device.
// RUN: tfc-opt --tfc-allocate-arena %s | FileCheck %s

#gpu = #dfg.device<"/job:local/task:0/device:gpu:0">
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #gpu]} {
  // CHECK-LABEL: dfg.entry @run(
  // CHECK: dfg.send %{{.*}} to slot 0 {rt.scratch = #rt.slot<0, 0>}
  dfg.entry @run(%x: tensor<8xf32>, %n: tensor<i32>) attributes {partitions = [@run.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<0 to 1>, #dfg.slot<1 to 0>]} {
    %zero = dfg.constant dense<0> : tensor<i32>
    %one = dfg.constant dense<1> : tensor<i32>
    dfg.send %n to slot 1 : tensor<i32>
    %last = dfg.while (%zero) : tensor<i32> {
    ^bb0(%i: tensor<i32>):
      %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
      dfg.condition %go : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>):
      %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
      dfg.send %x to slot 0 : tensor<8xf32>
      %y = dfg.receive slot 2 : tensor<8xf32>
      dfg.yield %next : tensor<i32>
    }
    dfg.return
  }

  // CHECK-LABEL: dfg.entry @run.1(
  // CHECK: dfg.send %{{.*}} to slot 2 : tensor<8xf32>
  dfg.entry @run.1() attributes {device = #gpu, partition_of = @run} {
    %zero = dfg.constant dense<0> : tensor<i32>
    %one = dfg.constant dense<1> : tensor<i32>
    %n = dfg.receive slot 1 : tensor<i32>
    %last = dfg.while (%zero) : tensor<i32> {
    ^bb0(%i: tensor<i32>):
      %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
      dfg.condition %go : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>):
      %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
      %x = dfg.receive slot 0 copied : tensor<8xf32>
      dfg.send %x to slot 2 : tensor<8xf32>
      dfg.yield %next : tensor<i32>
    }
    dfg.return
  }
}
