// An operation on a queue stands when the call fails, so it waits until no earlier check on another
// device can fail. Checks that do not depend on it come first, as on one device.
// RUN: tfc-opt %s --tfc-order-by-queues --tfc-partition --tfc-check-messages | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// CHECK-LABEL: dfg.entry @f
// CHECK: dfg.check {{.*}}, "early" {numbers = array<i32: 1>}
// CHECK: dfg.check {{.*}}, "late" {numbers = array<i32: 2>}
// CHECK: dfg.commit
// CHECK: dfg.commit
// CHECK-NOT: dfg.commit

// CHECK-LABEL: dfg.entry @f.1
// CHECK: dfg.commit
// CHECK: dfg.enqueue @q
// CHECK: dfg.commit
// CHECK-NOT: dfg.commit
dfg.entry @f(%p: tensor<i1>, %r: tensor<i1>, %x: tensor<4xf32>) -> () {
  dfg.check %p, "early" : tensor<i1>
  dfg.enqueue @q(%x) : tensor<4xf32>
  dfg.check %r, "late" : tensor<i1>
  dfg.return
}
}
