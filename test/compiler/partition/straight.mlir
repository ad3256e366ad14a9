// A value crosses once to each device that reads it: it is sent after it is computed and received before
// its first reader. Constants and operations on scalars that depend on nothing else are copied.
// RUN: tfc-opt %s --tfc-partition | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {

// CHECK-LABEL: dfg.entry @f
// CHECK-SAME: partitions = [@f.1], slots = [#dfg.slot<1 to 0>, #dfg.slot<0 to 1>]
// CHECK-NEXT: dfg.send %arg0 to slot 1
// CHECK-NEXT: %[[Y:.*]] = dfg.receive slot 0
// CHECK-NEXT: dfg.add %[[Y]], %arg0
// CHECK-NOT: dfg.await_release
// CHECK: dfg.return

// CHECK-LABEL: dfg.entry @f.1()
// CHECK-SAME: device = #dfg.device<"/job:local/task:0/device:cpu:1">, partition_of = @f
// CHECK: %[[TWO:.*]] = dfg.constant
// CHECK: %[[X:.*]] = dfg.receive slot 1
// CHECK-NEXT: %[[M:.*]] = dfg.mul %[[X]], %[[TWO]]
// CHECK-NEXT: %[[N:.*]] = dfg.neg %[[M]]
// CHECK-NEXT: dfg.send %[[N]] to slot 0
// CHECK-NEXT: dfg.await_release %[[N]] of slot 0
// CHECK-NEXT: dfg.return
dfg.entry @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %two = dfg.constant dense<2.0> : tensor<f32>
  %m = dfg.mul %x, %two {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<f32>
  %n = dfg.neg %m {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  %a = dfg.add %n, %x : tensor<4xf32>, tensor<4xf32>
  dfg.return %n, %a : tensor<4xf32>, tensor<4xf32>
}

// An entry on the caller's device stays as it is.
// CHECK-LABEL: dfg.entry @here
// CHECK-NOT: partitions
// CHECK: dfg.return
dfg.entry @here(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dfg.neg %x : tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
}
