// Variables are values in regions too: results of branches, carried values of loops, and captures in regions that only
// read them.
// RUN: tfc-opt --tfc-resolve-state %s | FileCheck %s

dfg.variable @v : tensor<4xf32>
dfg.variable @w : tensor<4xf32>
dfg.variable @count : tensor<i64>

// CHECK-LABEL: dfg.entry @branch
// CHECK-NEXT: %[[V:.*]] = dfg.read @v
// CHECK-NEXT: %[[W:.*]] = dfg.read @w
// CHECK-NEXT: %[[NEW:.*]]:2 = dfg.if %[[P:[a-z0-9]+]] : tensor<i1> -> tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT: %[[SUM:.*]] = dfg.add %[[V]], %[[W]]
// CHECK-NEXT: dfg.yield %[[W]], %[[SUM]]
// CHECK-NEXT: } else {
// CHECK-NEXT: dfg.yield %[[V]], %[[V]]
// CHECK: dfg.assign @v, %[[NEW]]#1
// CHECK-NEXT: dfg.return %[[NEW]]#0, %[[NEW]]#1
dfg.entry @branch(%p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    %old = dfg.read @v : tensor<4xf32>
    %w = dfg.read @w : tensor<4xf32>
    %sum = dfg.add %old, %w : tensor<4xf32>, tensor<4xf32>
    %new = dfg.assign @v, %sum : tensor<4xf32>
    dfg.yield %w : tensor<4xf32>
  } else {
    %same = dfg.read @v : tensor<4xf32>
    dfg.yield %same : tensor<4xf32>
  }
  %v = dfg.read @v : tensor<4xf32>
  dfg.return %y, %v : tensor<4xf32>, tensor<4xf32>
}

// The condition reads what the body assigns, in a branch; the other variable is captured.
// CHECK-LABEL: dfg.entry @loop
// CHECK: %[[COUNT:.*]] = dfg.read @count
// CHECK: %[[V:.*]] = dfg.read @v
// CHECK: %[[W:.*]] = dfg.read @w
// CHECK: %[[R:.*]]:2 = dfg.while(%[[COUNT]], %[[V]])
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>):
// CHECK-NEXT: dfg.less %[[C]]
// CHECK: ^bb0(%[[C:.*]]: tensor<i64>, %[[CARRIED:.*]]: tensor<4xf32>):
// CHECK: %[[NEXT:.*]] = dfg.add %[[C]]
// CHECK: %[[IF:.*]] = dfg.if
// CHECK: dfg.add %[[CARRIED]], %[[W]]
// CHECK: dfg.yield %[[CARRIED]]
// CHECK: dfg.yield %[[NEXT]], %[[IF]]
// CHECK: dfg.assign @count, %[[R]]#0
// CHECK-NEXT: dfg.assign @v, %[[R]]#1
// CHECK-NOT: dfg.assign
dfg.entry @loop(%n: tensor<i64>, %p: tensor<i1>) {
  dfg.while () {
    %c = dfg.read @count : tensor<i64>
    %go = dfg.less %c, %n : tensor<i64>, tensor<i64>
    dfg.condition %go : tensor<i1>
  } do {
    %c = dfg.read @count : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %next = dfg.add %c, %one : tensor<i64>, tensor<i64>
    dfg.assign @count, %next : tensor<i64>
    dfg.if %p : tensor<i1> {
      %v = dfg.read @v : tensor<4xf32>
      %w = dfg.read @w : tensor<4xf32>
      %sum = dfg.add %v, %w : tensor<4xf32>, tensor<4xf32>
      dfg.assign @v, %sum : tensor<4xf32>
      dfg.yield
    } else {
      dfg.yield
    }
    dfg.yield
  }
  dfg.return
}

// A condition assigns a variable each time it is evaluated: before the loop and after each
// iteration.
// CHECK-LABEL: dfg.entry @condition
// CHECK: %[[COUNT:.*]] = dfg.read @count
// CHECK: %[[FIRST:.*]] = dfg.add %[[COUNT]]
// CHECK: %[[GO:.*]] = dfg.less %[[FIRST]]
// CHECK: %[[R:.*]]:2 = dfg.while(%[[GO]], %[[FIRST]])
// CHECK-NEXT: ^bb0(%[[G:.*]]: tensor<i1>, %{{.*}}: tensor<i64>):
// CHECK-NEXT: dfg.condition %[[G]]
// CHECK: ^bb0(%{{.*}}: tensor<i1>, %[[C:.*]]: tensor<i64>):
// CHECK: %[[NEXT:.*]] = dfg.add %[[C]]
// CHECK: %[[GO:.*]] = dfg.less %[[NEXT]]
// CHECK-NEXT: dfg.yield %[[GO]], %[[NEXT]]
// CHECK: dfg.assign @count, %[[R]]#1
dfg.entry @condition(%n: tensor<i64>) {
  dfg.while () {
    %c = dfg.read @count : tensor<i64>
    %one = dfg.constant dense<1> : tensor<i64>
    %next = dfg.add %c, %one : tensor<i64>, tensor<i64>
    dfg.assign @count, %next : tensor<i64>
    %go = dfg.less %next, %n : tensor<i64>, tensor<i64>
    dfg.condition %go : tensor<i1>
  } do {
    dfg.yield
  }
  dfg.return
}
