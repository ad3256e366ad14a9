// Variables of a device are in its memory only if a partition of the device runs: without the stage
// 'partition' all of an entry is on the caller's.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

#gpu = #dfg.device<"/job:local/task:0/device:gpu:0">

// CHECK: module
// CHECK-NOT: rt.variable_devices
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #gpu]} {
  dfg.variable @w : tensor<4xf32> {dfg.device = #gpu}
  dfg.entry @run(%x: tensor<4xf32>) {
    %0 = dfg.assign @w, %x : tensor<4xf32>
    dfg.return
  }
}
