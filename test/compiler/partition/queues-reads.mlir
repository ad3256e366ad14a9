// Other calls may change variables while a call waits for a queue. So operations that read variables
// come after it, and on other devices they wait until it is over. Those that the queue depends on
// cannot, and those that depend on the queue wait anyway.
// RUN: tfc-opt %s --split-input-file --tfc-order-by-queues --tfc-partition --tfc-check-messages | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// CHECK-LABEL: dfg.entry @late(
// CHECK: dfg.dequeue @q
// CHECK: dfg.commit after_queue
// CHECK-LABEL: dfg.entry @late.1
// CHECK: dfg.commit after_queue
// CHECK: dfg.exp
// CHECK: dfg.assign @v
dfg.entry @late() -> () {
  %v = dfg.read @v : tensor<4xf32>
  %e = dfg.exp %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  %x = dfg.dequeue @q : tensor<4xf32>
  %y = dfg.add %e, %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<4xf32>
  %0 = dfg.assign @v, %y : tensor<4xf32>
  dfg.return
}

// CHECK-LABEL: dfg.entry @early(
// CHECK-NOT: after_queue
// CHECK-LABEL: dfg.entry @early.1
// CHECK: dfg.exp
// CHECK-NOT: after_queue
dfg.entry @early() -> () {
  %v = dfg.read @v : tensor<4xf32>
  %e = dfg.exp %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  dfg.enqueue @q(%e) : tensor<4xf32>
  dfg.return
}

// CHECK-LABEL: dfg.entry @dependent(
// CHECK-NOT: after_queue
dfg.entry @dependent() -> () {
  %x = dfg.dequeue @q : tensor<4xf32>
  %v = dfg.read @v : tensor<4xf32>
  %y = dfg.add %v, %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>, tensor<4xf32>
  %0 = dfg.assign @v, %y : tensor<4xf32>
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.variable @w : tensor<4xf32>

// On the queue's own device the order of the block is enough, whatever messages come in between.
// CHECK-LABEL: dfg.entry @same(
// CHECK: dfg.receive
// CHECK: dfg.dequeue @q
// CHECK: dfg.exp
// CHECK-LABEL: dfg.entry @same.1
dfg.entry @same(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = dfg.read @w : tensor<4xf32>
  %e = dfg.exp %w : tensor<4xf32>
  %t = dfg.tanh %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  dfg.enqueue @q(%t) : tensor<4xf32>
  %d = dfg.dequeue @q : tensor<4xf32>
  dfg.return %e, %d : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// The read of the next iteration comes after the wait in the branch at the end of this one.
// CHECK-LABEL: dfg.entry @around(
// CHECK: dfg.while
// CHECK: dfg.if
// CHECK-NEXT: dfg.enqueue @q
// CHECK-NEXT: dfg.commit after_queue
// CHECK-LABEL: dfg.entry @around.1
// CHECK: dfg.while
// CHECK: dfg.exp
// CHECK: dfg.if
// CHECK: dfg.commit after_queue
dfg.entry @around(%n: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %zeros = dfg.constant dense<0.0> : tensor<4xf32>
  %i, %y = dfg.while (%zero, %zeros) : tensor<i32>, tensor<4xf32> {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    %less = dfg.less %a, %n : tensor<i32>, tensor<i32>
    dfg.condition %less : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    %v = dfg.read @v : tensor<4xf32>
    %e = dfg.exp %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
    dfg.if %p : tensor<i1> {
      dfg.enqueue @q(%e) : tensor<4xf32>
      dfg.yield
    } else {
      dfg.yield
    }
    %next = dfg.add %a, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %e : tensor<i32>, tensor<4xf32>
  }
  dfg.return %y : tensor<4xf32>
}
}
