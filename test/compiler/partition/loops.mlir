// A loop is in each partition that has a part of it. Each counts for itself, a carried value is where
// it is computed, and what crosses in an iteration is sent in it.
// RUN: tfc-opt %s --tfc-partition --tfc-check-messages | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {

// CHECK-LABEL: dfg.entry @f
// CHECK: %[[YV:.*]] = dfg.receive slot [[#Y:]]
// CHECK: dfg.return %[[YV]]

// CHECK-LABEL: dfg.entry @f.1
// CHECK: %[[X:.*]] = dfg.receive slot {{.*}} : tensor<4xf32>
// CHECK: %[[L:.*]]:2 = dfg.while
// CHECK: dfg.less
// CHECK: dfg.neg
// CHECK-NOT: dfg.send
// CHECK: dfg.yield
// CHECK: }
// CHECK: dfg.send %[[L]]#1 to slot [[#Y]]
// CHECK: dfg.await_release %[[L]]#1
dfg.entry @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %ten = dfg.constant dense<10> : tensor<i32>
  %l:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf32> attributes {dfg.homes = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]} {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %c = dfg.less %i, %ten : tensor<i32>, tensor<i32>
    dfg.condition %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %n = dfg.neg %a {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %n : tensor<i32>, tensor<4xf32>
  }
  dfg.return %l#1 : tensor<4xf32>
}
}
