// The epoch of an operation is the last message that it waits for. An operation on variables alone
// waits with its first reader, so that both are in one kernel, unless another device reads it.
// RUN: tfc-opt %s --tfc-number-epochs | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// CHECK-LABEL: dfg.entry @update
// CHECK: %[[V:.*]] = dfg.read @v
// CHECK: %[[SLOWED:.*]] = dfg.mul %[[V]], %{{.*}} {{{.*}}dfg.epoch = 1 : i32
// CHECK: %[[SENT:.*]] = dfg.neg %[[V]]
// CHECK-NOT: dfg.epoch
// CHECK: %[[G:.*]] = dfg.exp %arg0 {{{.*}}dfg.epoch = 1 : i32
// CHECK: dfg.add %[[SLOWED]], %[[G]] {{{.*}}dfg.epoch = 1 : i32
// CHECK: dfg.sub %{{.*}}, %[[SENT]] {{{.*}}dfg.epoch = 1 : i32
// CHECK: dfg.neg %[[SENT]] {dfg.epoch = 1 : i32
dfg.entry @update(%x: tensor<4xf32>) -> tensor<4xf32> {
  %slow = dfg.constant dense<0.9> : tensor<f32>
  %v = dfg.read @v : tensor<4xf32>
  %slowed = dfg.mul %v, %slow {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<f32>
  %sent = dfg.neg %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  %g = dfg.exp %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  %sum = dfg.add %slowed, %g {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<4xf32>
  %new = dfg.sub %sum, %sent {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<4xf32>
  %a = dfg.assign @v, %new : tensor<4xf32>
  %y = dfg.neg %sent : tensor<4xf32>
  dfg.return %y : tensor<4xf32>
}
}
