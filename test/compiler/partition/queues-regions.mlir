// Before an operation on a queue in a branch or loop, all partitions agree on earlier checks, those
// of the iteration before among them. So each of them runs the branch or loop.
// RUN: tfc-opt %s --split-input-file --tfc-order-by-queues --tfc-partition --tfc-check-messages | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// CHECK-LABEL: dfg.entry @branch(
// CHECK: dfg.if
// CHECK-NEXT: dfg.check
// CHECK-NEXT: dfg.commit
// CHECK-NEXT: dfg.yield
// CHECK: dfg.yield
// CHECK-NEXT: }
// CHECK-NEXT: dfg.commit
// CHECK-NEXT: dfg.return

// CHECK-LABEL: dfg.entry @branch.1
// CHECK: dfg.if
// CHECK-NEXT: dfg.commit
// CHECK-NEXT: dfg.enqueue
// CHECK-NEXT: dfg.yield
dfg.entry @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> () {
  dfg.if %p : tensor<i1> {
    dfg.enqueue @q(%x) : tensor<4xf32>
    dfg.check %p, "no" : tensor<i1>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
}

// -----

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">,
                                  #dfg.device<"/job:local/task:0/device:cpu:2">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// The check of an iteration depends on the element, so it comes after the queue, and the commit
// before the queue of the next iteration. The third device has no other part of the loop.
// CHECK-LABEL: dfg.entry @loop(
// CHECK: dfg.while
// CHECK: do
// CHECK: dfg.commit
// CHECK: dfg.check {{.*}}, "no" {numbers = array<i32: 1, 2>}
// CHECK: }
// CHECK-NEXT: dfg.commit
// CHECK-LABEL: dfg.entry @loop.2
// CHECK: dfg.while
// CHECK: do
// CHECK-NEXT: dfg.commit
// CHECK-NEXT: dfg.yield
// CHECK: dfg.commit
// CHECK-LABEL: dfg.entry @loop.1
// CHECK: dfg.while
// CHECK: do
// CHECK-NEXT: dfg.commit
// CHECK-NEXT: %{{.*}} = dfg.dequeue @q
dfg.entry @loop(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %i = dfg.while (%zero) : tensor<i32> {
  ^bb0(%a: tensor<i32>):
    %less = dfg.less %a, %n : tensor<i32>, tensor<i32>
    dfg.condition %less : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>):
    %e = dfg.dequeue @q : tensor<4xf32>
    %sum = dfg.sum %e : tensor<4xf32>
    %limit = dfg.constant dense<1.0> : tensor<f32>
    %holds = dfg.less %sum, %limit : tensor<f32>, tensor<f32>
    dfg.check %holds, "no" : tensor<i1>
    %next = dfg.add %a, %one : tensor<i32>, tensor<i32>
    dfg.yield %next : tensor<i32>
  }
  %y = dfg.exp %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:2">} : tensor<4xf32>
  dfg.return %y : tensor<4xf32>
}
}
