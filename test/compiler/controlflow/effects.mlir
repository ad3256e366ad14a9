// Effects happen under their guard, in the order of nodes, data and control edges.
// RUN: tfc-opt %s --tfc-structure-control-flow --split-input-file | FileCheck %s

// The token of a node in a branch carries its guard; a ControlTrigger runs after dead tokens.
// CHECK-LABEL: func.func @tokens
// CHECK-NEXT: dfg.if %arg0 : tensor<i1> {
// CHECK-NEXT:   dfg.assign @v, %arg1
// CHECK-NEXT:   dfg.assign @v, %arg2
// CHECK-NEXT:   dfg.yield
// CHECK-NEXT: } else {
// CHECK-NEXT:   dfg.yield
// CHECK-NEXT: }
// CHECK-NEXT: dfg.assign @v, %arg3
dfg.variable @v : tensor<f32>
func.func @tokens(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) {
  dfg.dataflow {
    %last = dfg.node after(%second) attributes {always} {
      %a = dfg.assign @v, %z : tensor<f32>
      dfg.yield
    }
    %second = dfg.node after(%first) {
      %a = dfg.assign @v, %y : tensor<f32>
      dfg.yield
    }
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %new, %first = dfg.node after() -> tensor<f32> {
      %a = dfg.assign @v, %t : tensor<f32>
      dfg.yield %a : tensor<f32>
    }
    dfg.yield
  }
  return
}

// -----

// Where edges leave it open, the order of the nodes counts, across branches, too.
// CHECK-LABEL: func.func @in_order
// CHECK: dfg.if %arg0
// CHECK-NEXT: dfg.assign @v
// CHECK: %[[R:.*]] = dfg.read @v
// CHECK-NEXT: dfg.if %arg0
// CHECK-NEXT: dfg.assign @v
// CHECK: return %[[R]]
dfg.variable @v : tensor<f32>
func.func @in_order(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %u, %g = dfg.switch %y, %p : tensor<f32>, tensor<i1>
    %a = dfg.assign @v, %t : tensor<f32>
    %old = dfg.read @v : tensor<f32>
    %b = dfg.assign @v, %u : tensor<f32>
    dfg.yield %old : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A merge ignores dead control inputs, but comes after the effect.
// CHECK-LABEL: func.func @merge_behind
// CHECK-NEXT: dfg.if %arg0
// CHECK-NEXT: dfg.assign
// CHECK: return %arg1
dfg.variable @v : tensor<f32>
func.func @merge_behind(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = dfg.dataflow -> tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %a, %done = dfg.node after() -> tensor<f32> {
      %b = dfg.assign @v, %t : tensor<f32>
      dfg.yield %b : tensor<f32>
    }
    %y, %end = dfg.node after(%done) -> tensor<f32> {
      %m, %i = dfg.merge %x : tensor<f32>
      dfg.yield %m : tensor<f32>
    }
    dfg.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A loop with nothing but effects, and effects in a condition: once more than the body.
// CHECK-LABEL: func.func @loop_effects
// CHECK-NEXT: dfg.while(%arg0) : tensor<i32> {
// CHECK:      dfg.enqueue @q(%arg3)
// CHECK:      dfg.condition
// CHECK:    } do {
// CHECK:      dfg.assign @v, %arg3
// CHECK:      dfg.yield
dfg.variable @v : tensor<f32>
dfg.queue @q : [tensor<f32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64}
func.func @loop_effects(%zero: tensor<i32>, %one: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>) {
  dfg.dataflow {
    %e = dfg.enter %zero {frame = "f"} : tensor<i32>
    %i, %which = dfg.merge %e, %next : tensor<i32>, tensor<i32>
    %same, %in = dfg.node after() -> tensor<i32> {
      dfg.yield %i : tensor<i32>
    }
    %counted = dfg.node after(%in) {
      dfg.enqueue @q(%x) : tensor<f32>
      dfg.yield
    }
    %less, %t = dfg.node after(%counted) -> tensor<i1> {
      %l = dfg.less %i, %n : tensor<i32>, tensor<i32>
      dfg.yield %l : tensor<i1>
    }
    %go = dfg.loop_cond %less : tensor<i1>
    %body, %end = dfg.switch %i, %go : tensor<i32>, tensor<i1>
    %more, %started = dfg.node after() -> tensor<i32> {
      %sum = dfg.add %body, %one : tensor<i32>, tensor<i32>
      dfg.yield %sum : tensor<i32>
    }
    %assigned = dfg.node after(%started) {
      %a = dfg.assign @v, %x : tensor<f32>
      dfg.yield
    }
    %next = dfg.next_iteration %more : tensor<i32>
    dfg.yield
  }
  return
}
