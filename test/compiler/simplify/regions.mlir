// Invariant operations leave loops, including outer ones; views and checks stay. Unused tapes are removed, with the
// computations that only they used.
// RUN: tfc-opt --tfc-insert-checks --tfc-simplify-algebra --tfc-hoist-invariants --canonicalize --cse \
// RUN:     --tfc-drop-tapes %s | FileCheck %s

// CHECK-LABEL: dfg.entry @invariants
// CHECK: %[[E:.*]] = dfg.exp
// CHECK: dfg.gather
// CHECK: dfg.while
// CHECK: do {
// CHECK: dfg.while
// CHECK: do {
// CHECK-DAG: dfg.broadcast %[[E]]
// CHECK-DAG: dfg.check
// CHECK-NOT: dfg.gather
// CHECK: dfg.yield
dfg.entry @invariants(%n: tensor<i32>, %x: tensor<4xf64>, %table: tensor<8x3x4xf64>) -> tensor<3x4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %start = dfg.broadcast %x {shape = #dfg.dims<3, 4>} : tensor<4xf64>
  %y:2 = dfg.while (%zero, %start) : tensor<i32>, tensor<3x4xf64> {
  ^bb0(%i: tensor<i32>, %s: tensor<3x4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<3x4xf64>):
    %z:2 = dfg.while (%zero, %s) : tensor<i32>, tensor<3x4xf64> {
    ^bb0(%j: tensor<i32>, %t: tensor<3x4xf64>):
      %go = dfg.less %j, %i : tensor<i32>, tensor<i32>
      dfg.condition %go : tensor<i1>
    } do {
    ^bb0(%j: tensor<i32>, %t: tensor<3x4xf64>):
      %e = dfg.exp %x : tensor<4xf64>
      %b = dfg.broadcast %e {shape = #dfg.dims<3, 4>} : tensor<4xf64>
      %row = dfg.gather %table, %n : tensor<8x3x4xf64>, tensor<i32>
      %p = dfg.concat %b, %row, %t {axis = 0 : i64} : tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>
      %q = dfg.slice %p {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<3, 4>, steps = array<i64: 2, 1>} : tensor<9x4xf64>
      %next = dfg.add %j, %one : tensor<i32>, tensor<i32>
      dfg.yield %next, %q : tensor<i32>, tensor<3x4xf64>
    }
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    dfg.yield %next, %z#1 : tensor<i32>, tensor<3x4xf64>
  }
  dfg.return %y#1 : tensor<3x4xf64>
}

dfg.tape @read : tensor<4xf64>
dfg.tape @dead : tensor<4xf64>
dfg.tape @unread : tensor<4xf64>

// CHECK: dfg.tape @read
// CHECK-NOT: dfg.tape
// CHECK-LABEL: dfg.entry @tapes
// CHECK-NEXT: dfg.push @read
// CHECK-NEXT: %[[X:.*]] = dfg.pop @read
// CHECK-NEXT: dfg.return %[[X]]
dfg.entry @tapes(%x: tensor<4xf64>) -> tensor<4xf64> {
  %e = dfg.exp %x : tensor<4xf64>
  %s = dfg.softmax %e : tensor<4xf64>
  dfg.push @read, %x : tensor<4xf64>
  dfg.push @dead, %s : tensor<4xf64>
  dfg.push @unread, %s : tensor<4xf64>
  %y = dfg.pop @read : tensor<4xf64>
  %z = dfg.pop @unread : tensor<4xf64>
  dfg.return %y : tensor<4xf64>
}
