// Branches, loops, dataflow graphs, tapes and queues print as they were read.
// RUN: tfc-opt %s | tfc-opt | FileCheck %s

dfg.tape @saved : tensor<4xf32> {capacity = #dfg.dims<t>}
dfg.queue @examples : [tensor<4xf32>, tensor<i32>] {names = ["x", "label"], kind = #dfg.queue<fifo>, capacity = 8 : i64}

// CHECK-LABEL: func.func @branch
// CHECK: dfg.if %{{.*}} : tensor<i1> -> tensor<4xf32> {
// CHECK: } else {
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) {
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    %a = dfg.exp %x : tensor<4xf32>
    dfg.yield %a : tensor<4xf32>
  } else {
    dfg.yield %x : tensor<4xf32>
  }
  dfg.if %p : tensor<i1> {
    dfg.push @saved, %y : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  return
}

// CHECK-LABEL: func.func @loop
// CHECK: %{{.*}}:2 = dfg.while(%{{.*}}, %{{.*}}) : tensor<i32>, tensor<4xf32> attributes {trips = #dfg.dims<t>} {
// CHECK: dfg.condition %{{.*}} : tensor<i1>
// CHECK: } do {
func.func @loop(%zero: tensor<i32>, %n: tensor<i32>, %one: tensor<i32>, %x: tensor<4xf32>) {
  %last, %sum = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf32> attributes {trips = #dfg.dims<t>} {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %more = dfg.add %s, %x : tensor<4xf32>, tensor<4xf32>
    dfg.push @saved, %more : tensor<4xf32>
    dfg.yield %next, %more : tensor<i32>, tensor<4xf32>
  }
  %v = dfg.pop @saved : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @graph
// CHECK: dfg.dataflow -> tensor<i32>
// CHECK: dfg.node after(%{{.*}}) -> tensor<i32> {
func.func @graph(%n: tensor<i32>, %one: tensor<i32>, %zero: tensor<i32>) {
  %last = dfg.dataflow -> tensor<i32> {
    %start = dfg.enter %zero {frame = "f"} : tensor<i32>
    %i, %which = dfg.merge %start, %next : tensor<i32>, tensor<i32>
    %less = dfg.less %i, %n : tensor<i32>, tensor<i32>
    %go = dfg.loop_cond %less : tensor<i1>
    %body, %done = dfg.switch %i, %go : tensor<i32>, tensor<i1>
    %first = dfg.node after() {
      dfg.yield
    }
    %more, %second = dfg.node after(%first) -> tensor<i32> {
      %sum = dfg.add %body, %one : tensor<i32>, tensor<i32>
      dfg.yield %sum : tensor<i32>
    }
    %next = dfg.next_iteration %more : tensor<i32>
    %exit = dfg.exit %done : tensor<i32>
    dfg.yield %exit : tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @queues
func.func @queues(%x: tensor<4xf32>, %xs: tensor<3x4xf32>, %label: tensor<i32>, %labels: tensor<3xi32>) {
  dfg.enqueue @examples(%x, %label) : tensor<4xf32>, tensor<i32>
  dfg.enqueue_many @examples(%xs, %labels) : tensor<3x4xf32>, tensor<3xi32>
  %a, %b = dfg.dequeue @examples : tensor<4xf32>, tensor<i32>
  %c, %d = dfg.dequeue_many @examples {count = #dfg.dims<3>} : tensor<3x4xf32>, tensor<3xi32>
  %number, %e, %f = dfg.dequeue_up_to @examples {count = #dfg.dims<3>} : tensor<i32>, tensor<3x4xf32>, tensor<3xi32>
  %size = dfg.queue_size @examples : tensor<i32>
  dfg.queue_close @examples {cancel_pending = true}
  return
}
