// Nodes of one guard share a region, exclusive ones share an 'if', and implied ones nest.
// RUN: tfc-opt %s --tfc-structure-control-flow --split-input-file | FileCheck %s

// A conditional as 'if' writes it.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.*]] = dfg.if %[[P]] : tensor<i1> -> tensor<4xf32> {
// CHECK-NEXT:   %[[A:.*]] = dfg.exp %[[X]]
// CHECK-NEXT:   dfg.yield %[[A]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[B:.*]] = dfg.tanh %[[X]]
// CHECK-NEXT:   dfg.yield %[[B]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]]
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dfg.dataflow -> tensor<4xf32> {
    %m, %i = dfg.merge %a, %b : tensor<4xf32>, tensor<4xf32>
    %b = dfg.tanh %f : tensor<4xf32>
    %a = dfg.exp %t : tensor<4xf32>
    %t, %f = dfg.switch %x, %p : tensor<4xf32>, tensor<i1>
    dfg.yield %m : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A predicate computed under another one is tested inside of it; its negation is the other side.
// CHECK-LABEL: func.func @nested
// CHECK: dfg.if %{{.*}} -> tensor<f32> {
// CHECK-NEXT:   %[[Q:.*]] = dfg.less
// CHECK-NEXT:   %[[INNER:.*]] = dfg.if %[[Q]]
// CHECK-NEXT:     dfg.exp
// CHECK:        } else {
// CHECK-NEXT:     dfg.tanh
// CHECK:        dfg.yield %[[INNER]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   dfg.yield %arg1
func.func @nested(%p: tensor<i1>, %x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  %y = dfg.dataflow -> tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %q = dfg.less %t, %z : tensor<f32>, tensor<f32>
    %tt, %unused = dfg.switch %t, %q : tensor<f32>, tensor<i1>
    %n = dfg.logical_not %q : tensor<i1>
    %tf, %unused2 = dfg.switch %t, %n : tensor<f32>, tensor<i1>
    %a = dfg.exp %tt : tensor<f32>
    %b = dfg.tanh %tf : tensor<f32>
    %inner, %i = dfg.merge %a, %b : tensor<f32>, tensor<f32>
    %m, %j = dfg.merge %inner, %f : tensor<f32>, tensor<f32>
    dfg.yield %m : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// Not the form of an 'if': a merge of values that passed different switches. If both are live, it forwards the
// first one; if none is, the call fails.
// CHECK-LABEL: func.func @different_switches
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[Q:.*]]: tensor<i1>, %[[X:.*]]: tensor<f32>)
// CHECK: %[[A:.*]] = dfg.if %[[P]] : tensor<i1> -> tensor<f32> {
// CHECK-NEXT: dfg.exp
// CHECK: %[[B:.*]]:2 = dfg.if %[[Q]] : tensor<i1> -> tensor<f32>, tensor<i32> {
// CHECK-NEXT: %[[TANH:.*]] = dfg.tanh
// CHECK: dfg.select %[[P]], %[[A]], %[[TANH]]
// CHECK: %[[ANY:.*]] = dfg.logical_or %[[Q]], %[[P]]
// CHECK: dfg.check %[[ANY]], "'loss' at branches.mlir:{{[0-9]+}} has no value: the branch that computes it did not run", failed_precondition
func.func @different_switches(%p: tensor<i1>, %q: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %y:2 = dfg.dataflow -> tensor<f32>, tensor<i32> attributes {names = ["loss", "which"]} {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %u, %v = dfg.switch %x, %q : tensor<f32>, tensor<i1>
    %a = dfg.exp %t : tensor<f32>
    %b = dfg.tanh %u : tensor<f32>
    %m, %i = dfg.merge %a, %b : tensor<f32>, tensor<f32>
    dfg.yield %m, %i : tensor<f32>, tensor<i32>
  }
  return %y#0, %y#1 : tensor<f32>, tensor<i32>
}

// -----

// A merge of what only passed a switch is a select; one with an input that is always live needs nothing.
// CHECK-LABEL: func.func @forwarded
// CHECK-NEXT: %[[Y:.*]] = dfg.select %arg0, %arg1, %arg2
// CHECK-NEXT: return %[[Y]], %arg1
func.func @forwarded(%p: tensor<i1>, %x: tensor<f32>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y:2 = dfg.dataflow -> tensor<f32>, tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %u, %v = dfg.switch %z, %p : tensor<f32>, tensor<i1>
    %m, %i = dfg.merge %t, %v : tensor<f32>, tensor<f32>
    %n, %j = dfg.merge %x, %v : tensor<f32>, tensor<f32>
    dfg.yield %m, %n : tensor<f32>, tensor<f32>
  }
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

// -----

// Unused operations are removed; a graph in a graph becomes part of it.
// CHECK-LABEL: func.func @inner
// CHECK-NEXT: %[[Y:.*]] = dfg.if %arg0 : tensor<i1> -> tensor<f32> {
// CHECK-NEXT:   %[[E:.*]] = dfg.exp
// CHECK-NEXT:   dfg.yield %[[E]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   dfg.yield %arg1
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]]
func.func @inner(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %y = dfg.dataflow -> tensor<f32> {
    %t, %f = dfg.switch %x, %p : tensor<f32>, tensor<i1>
    %a = dfg.dataflow -> tensor<f32> {
      %e = dfg.exp %t : tensor<f32>
      dfg.yield %e : tensor<f32>
    }
    %unused = dfg.sin %f : tensor<f32>
    %m, %i = dfg.merge %a, %f : tensor<f32>, tensor<f32>
    dfg.yield %m : tensor<f32>
  }
  return %y : tensor<f32>
}
