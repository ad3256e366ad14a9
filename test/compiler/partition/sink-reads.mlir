// In an entry with queues, a variable that another device reads is sent after the operation on a queue
// before the reader, during which other calls may change it.
// RUN: tfc-opt %s --tfc-sink-reads | FileCheck %s --check-prefix=SINK
// RUN: tfc-opt %s --tfc-sink-reads --tfc-partition --tfc-hoist-reads --tfc-check-messages | FileCheck %s --check-prefix=HOIST

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// The second reader in one part takes the same read, also within a branch without queues.
// SINK-LABEL: dfg.entry @sent(
// SINK: %[[A:.*]] = dfg.read @v
// SINK-NEXT: dfg.exp %[[A]]
// SINK: dfg.dequeue @q
// SINK-NEXT: %[[B:.*]] = dfg.read @v
// SINK-NEXT: dfg.add %[[B]]
// SINK: dfg.if
// SINK-NEXT: dfg.mul %[[B]]
// HOIST-LABEL: dfg.entry @sent(
// HOIST: dfg.dequeue @q
// HOIST-NEXT: dfg.commit after_queue
// HOIST-LABEL: dfg.entry @sent.1
// HOIST: %[[READ:.*]] = dfg.read @v
// HOIST-NOT: dfg.read
// HOIST: dfg.send %[[READ]] to slot
// HOIST: dfg.commit after_queue
// HOIST-NEXT: dfg.send %[[READ]] to slot
dfg.entry @sent(%p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %v = dfg.read @v : tensor<4xf32>
  %e = dfg.exp %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">} : tensor<4xf32>
  %x = dfg.dequeue @q : tensor<4xf32>
  %s = dfg.add %v, %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">} : tensor<4xf32>, tensor<4xf32>
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    %m = dfg.mul %v, %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">} : tensor<4xf32>, tensor<4xf32>
    dfg.yield %m : tensor<4xf32>
  } else {
    dfg.yield %x : tensor<4xf32>
  }
  dfg.return %e, %s, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A loop with a queue sends in each iteration; what its own device reads stays.
// SINK-LABEL: dfg.entry @loop(
// SINK: dfg.while
// SINK: do
// SINK-NEXT: ^bb
// SINK: dfg.enqueue @q
// SINK: dfg.read @v
// SINK-NEXT: dfg.neg
dfg.entry @loop(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %v = dfg.read @v : tensor<4xf32>
  %i, %y = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf32> {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    %less = dfg.less %a, %n : tensor<i32>, tensor<i32>
    dfg.condition %less : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>, %b: tensor<4xf32>):
    dfg.enqueue @q(%b) : tensor<4xf32>
    %m = dfg.neg %v {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">} : tensor<4xf32>
    %next = dfg.add %a, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %m : tensor<i32>, tensor<4xf32>
  }
  dfg.return %y : tensor<4xf32>
}
}
