// A branch with operations on several devices is in each of their partitions. Its condition crosses;
// values that one side reads cross within that side.
// RUN: tfc-opt %s --tfc-partition --tfc-check-messages | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {

// CHECK-LABEL: dfg.entry @f
// CHECK: dfg.send %arg0 to slot [[#P:]] : tensor<i1>
// CHECK: dfg.if %arg0
// CHECK-NEXT: %[[YV:.*]] = dfg.receive slot [[#Y:]]
// CHECK-NEXT: dfg.yield %[[YV]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[A:.*]] = dfg.add
// CHECK-NEXT: dfg.yield %[[A]]

// CHECK-LABEL: dfg.entry @f.1
// CHECK: %[[PV:.*]] = dfg.receive slot [[#P]] : tensor<i1>
// CHECK: dfg.if %[[PV]]
// CHECK: %[[N:.*]] = dfg.neg
// CHECK-NEXT: dfg.send %[[N]] to slot [[#Y]]
// CHECK-NEXT: dfg.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: dfg.yield
dfg.entry @f(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    %0 = dfg.neg %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
    dfg.yield %0 : tensor<4xf32>
  } else {
    %0 = dfg.add %x, %x : tensor<4xf32>, tensor<4xf32>
    dfg.yield %0 : tensor<4xf32>
  }
  dfg.return %y : tensor<4xf32>
}
}
