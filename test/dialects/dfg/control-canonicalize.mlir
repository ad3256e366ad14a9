// Branches on constants are replaced, and unused values carried by loops and branches are dropped.
// RUN: tfc-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @constant
// CHECK-NEXT: dfg.exp
// CHECK-NEXT: return
func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = dfg.constant dense<true> : tensor<i1>
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    %a = dfg.exp %x : tensor<4xf32>
    dfg.yield %a : tensor<4xf32>
  } else {
    dfg.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @unread
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<i1>, %[[X:[a-z0-9]+]]
// CHECK: %[[Y:.*]] = dfg.if %[[P]] : tensor<i1> -> tensor<4xf32>
// CHECK: return %[[Y]], %[[X]]
func.func @unread(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y:3 = dfg.if %p : tensor<i1> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {
    %a = dfg.exp %x : tensor<4xf32>
    %b = dfg.tanh %x : tensor<4xf32>
    dfg.yield %a, %b, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    dfg.yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %y#0, %y#2 : tensor<4xf32>, tensor<4xf32>
}

// A carried value that does not change is read from outside; one that only feeds itself goes.
// CHECK-LABEL: func.func @carried
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK: dfg.while(%{{[a-z0-9]+}}, %[[X]]) : tensor<i32>, tensor<4xf32>
// CHECK: dfg.add %{{.*}}, %[[X]]
func.func @carried(%n: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %r:4 = dfg.while (%zero, %x, %x, %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %fixed: tensor<4xf32>, %unread: tensor<4xf32>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf32>, %fixed: tensor<4xf32>, %unread: tensor<4xf32>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %more = dfg.add %s, %fixed : tensor<4xf32>, tensor<4xf32>
    %other = dfg.exp %unread : tensor<4xf32>
    dfg.yield %next, %more, %fixed, %other : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
}
