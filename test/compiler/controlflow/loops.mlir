// Frames become loops: several exits, invariants, conditions that must not be computed twice.
// RUN: tfc-opt %s --tfc-structure-control-flow --split-input-file | FileCheck %s

// Two exits, an invariant variable, a constant enter, and a computation after the false side.
// CHECK-LABEL: func.func @exits
// CHECK-NEXT: %[[L:.*]] = dfg.while(%arg0) : tensor<f32> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[GO:.*]] = dfg.less %[[I]], %arg1
// CHECK-NEXT:   dfg.condition %[[GO]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[J:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[NEXT:.*]] = dfg.add %[[J]], %arg2
// CHECK-NEXT:   dfg.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[E:.*]] = dfg.exp %[[L]]
// CHECK-NEXT: return %[[L]], %arg3, %[[E]]
func.func @exits(%zero: tensor<f32>, %n: tensor<f32>, %one: tensor<f32>, %x: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %r:3 = dfg.dataflow -> tensor<f32>, tensor<f32>, tensor<f32> {
    %start = dfg.enter %zero {frame = "f"} : tensor<f32>
    %kept = dfg.enter %x {frame = "f"} : tensor<f32>
    %step = dfg.enter %one {frame = "f", constant = true} : tensor<f32>
    %i, %a = dfg.merge %start, %next : tensor<f32>, tensor<f32>
    %k, %b = dfg.merge %kept, %same : tensor<f32>, tensor<f32>
    %less = dfg.less %i, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %less : tensor<i1>
    %body, %done = dfg.switch %i, %go : tensor<f32>, tensor<i1>
    %through, %out = dfg.switch %k, %go : tensor<f32>, tensor<i1>
    %sum = dfg.add %body, %step : tensor<f32>, tensor<f32>
    %next = dfg.next_iteration %sum : tensor<f32>
    %same = dfg.next_iteration %through : tensor<f32>
    %last = dfg.exp %done : tensor<f32>
    %exit = dfg.exit %done : tensor<f32>
    %exit2 = dfg.exit %out : tensor<f32>
    %exit3 = dfg.exit %last : tensor<f32>
    dfg.yield %exit, %exit2, %exit3 : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// The body needs what the condition dequeued: the loop is rotated, and each element is taken once.
// CHECK-LABEL: func.func @rotated
// CHECK-NEXT: %[[X:.*]] = dfg.dequeue @q
// CHECK-NEXT: %[[GO:.*]] = dfg.less
// CHECK-NEXT: %[[L:.*]]:3 = dfg.while(%arg0, %[[GO]], %[[X]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[P:.*]]: tensor<i1>, %{{.*}}: tensor<f32>):
// CHECK-NEXT:   dfg.condition %[[P]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<f32>, %{{.*}}: tensor<i1>, %[[V:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[SUM:.*]] = dfg.add %[[S]], %[[V]]
// CHECK-NEXT:   dfg.dequeue @q
// CHECK-NEXT:   dfg.less
// CHECK-NEXT:   dfg.yield %[[SUM]]
// CHECK: return %[[L]]#0
dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
func.func @rotated(%zero: tensor<f32>, %n: tensor<f32>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> {
    %start = dfg.enter %zero {frame = "f"} : tensor<f32>
    %s, %a = dfg.merge %start, %next : tensor<f32>, tensor<f32>
    %same, %in = dfg.node after() -> tensor<f32> {
      dfg.yield %s : tensor<f32>
    }
    %x, %taken = dfg.node after(%in) -> tensor<f32> {
      %e = dfg.dequeue @q : tensor<f32>
      dfg.yield %e : tensor<f32>
    }
    %less = dfg.less %x, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %less : tensor<i1>
    %body, %done = dfg.switch %s, %go : tensor<f32>, tensor<i1>
    %sum = dfg.add %body, %x : tensor<f32>, tensor<f32>
    %next = dfg.next_iteration %sum : tensor<f32>
    %exit = dfg.exit %done : tensor<f32>
    dfg.yield %exit : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A loop in a branch runs in its region; a conditional in the loop, in the loop.
// CHECK-LABEL: func.func @in_branch
// CHECK-NEXT: dfg.if %arg0 : tensor<i1> -> tensor<f32> {
// CHECK-NEXT:   dfg.while(%arg1)
// CHECK:        } do {
// CHECK:          dfg.if
// CHECK:            dfg.exp
// CHECK:          } else {
// CHECK-NEXT:       dfg.add
// CHECK:      } else {
// CHECK-NEXT:   dfg.yield %arg1
func.func @in_branch(%p: tensor<i1>, %x: tensor<f32>, %n: tensor<f32>, %h: tensor<f32>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %start = dfg.enter %t {frame = "f"} : tensor<f32>
    %s, %a = dfg.merge %start, %next : tensor<f32>, tensor<f32>
    %less = dfg.less %s, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %less : tensor<i1>
    %body, %done = dfg.switch %s, %go : tensor<f32>, tensor<i1>
    %q = dfg.less %body, %h : tensor<f32>, tensor<f32>
    %bt, %bf = dfg.switch %body, %q : tensor<f32>, tensor<i1>
    %e = dfg.exp %bt : tensor<f32>
    %d = dfg.add %bf, %h : tensor<f32>, tensor<f32>
    %m, %b = dfg.merge %e, %d : tensor<f32>, tensor<f32>
    %next = dfg.next_iteration %m : tensor<f32>
    %exit = dfg.exit %done : tensor<f32>
    %y, %c = dfg.merge %exit, %f : tensor<f32>, tensor<f32>
    dfg.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A variable that dies in some iterations carries a flag, and its exit is checked.
// CHECK-LABEL: func.func @dying
// CHECK: %[[L:.*]]:3 = dfg.while(%arg0, %arg1, %{{.*}}) : tensor<f32>, tensor<f32>, tensor<i1>
// CHECK: dfg.check %[[L]]#2, "'y' at loops.mlir:{{[0-9]+}} has no value
func.func @dying(%zero: tensor<f32>, %x: tensor<f32>, %n: tensor<f32>, %h: tensor<f32>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> attributes {names = ["y"]} {
    %e1 = dfg.enter %zero {frame = "f"} : tensor<f32>
    %e2 = dfg.enter %x {frame = "f"} : tensor<f32>
    %i, %a = dfg.merge %e1, %n1 : tensor<f32>, tensor<f32>
    %s, %b = dfg.merge %e2, %n2 : tensor<f32>, tensor<f32>
    %less = dfg.less %i, %n : tensor<f32>, tensor<f32>
    %go = dfg.loop_cond %less : tensor<i1>
    %ib, %id = dfg.switch %i, %go : tensor<f32>, tensor<i1>
    %sb, %sd = dfg.switch %s, %go : tensor<f32>, tensor<i1>
    %inc = dfg.add %ib, %h : tensor<f32>, tensor<f32>
    %q = dfg.less %sb, %h : tensor<f32>, tensor<f32>
    %st, %sf = dfg.switch %sb, %q : tensor<f32>, tensor<i1>
    %d = dfg.exp %st : tensor<f32>
    %n1 = dfg.next_iteration %inc : tensor<f32>
    %n2 = dfg.next_iteration %d : tensor<f32>
    %exit = dfg.exit %sd : tensor<f32>
    dfg.yield %exit : tensor<f32>
  }
  return %r : tensor<f32>
}
