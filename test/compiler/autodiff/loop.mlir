// The gradient of a loop is a loop that counts down: values of an iteration that it uses are pushed on a tape, unless
// they are known outside or follow from the counter.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK: dfg.tape @[[STATE:.*]] : tensor<4xf64>{{$}}
// CHECK-LABEL: dfg.entry @powers
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[W:[a-z0-9]+]]: tensor<4xf64>
// CHECK: %[[F:.*]]:2 = dfg.while
// CHECK: } do {
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<4xf64>):
// CHECK: dfg.push @[[STATE]], %[[S]]
// CHECK: %[[B:.*]]:3 = dfg.while(%[[F]]#0, %{{.*}}, %{{.*}}) : tensor<i32>, tensor<4xf64>, tensor<4xf64>
// CHECK: dfg.greater
// CHECK: } do {
// CHECK: ^bb0(%[[K:.*]]: tensor<i32>, %[[DS:.*]]: tensor<4xf64>, %[[DW:.*]]: tensor<4xf64>):
// CHECK: %[[I:.*]] = dfg.sub %[[K]]
// CHECK: %[[OLD:.*]] = dfg.pop @[[STATE]]
// CHECK: dfg.mul %[[DS]], %[[W]]
// CHECK: dfg.mul %[[DS]], %[[OLD]]
// CHECK: %[[SUM:.*]] = dfg.add %[[DW]]
// CHECK: dfg.yield %[[I]], %{{.*}}, %[[SUM]]
// CHECK: dfg.return %[[B]]#1, %[[B]]#2
dfg.entry @powers(%n: tensor<i32>, %x: tensor<4xf64>, %w: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xf64>) {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %f:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf64> {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %a = dfg.mul %s, %w : tensor<4xf64>, tensor<4xf64>
    dfg.yield %next, %a : tensor<i32>, tensor<4xf64>
  }
  %y = dfg.sum %f#1 : tensor<4xf64>
  %g:2 = dfg.gradients %y, [%x, %w] : (tensor<f64>, tensor<4xf64>, tensor<4xf64>)
      -> (tensor<4xf64>, tensor<4xf64>)
  dfg.return %g#0, %g#1 : tensor<4xf64>, tensor<4xf64>
}

// A row that is read at the counter is read again, and its
// gradient is added in place. Nothing is saved.
// CHECK-LABEL: dfg.entry @rows
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: tensor<8x4xf64>, %[[L:[a-z0-9]+]]: tensor<f64>
// CHECK: dfg.while
// CHECK-NOT: dfg.push
// CHECK: dfg.while
// CHECK: ^bb0(%[[K:[a-z0-9]+]]: tensor<i32>, %[[SUM:.*]]: tensor<8x4xf64>):
// CHECK: dfg.condition
// CHECK: ^bb0(%[[K:[a-z0-9]+]]: tensor<i32>, %[[SUM:.*]]: tensor<8x4xf64>):
// CHECK: %[[I:.*]] = dfg.sub %[[K]]
// CHECK: %[[ROW:.*]] = dfg.gather %[[TABLE]], %[[I]]
// CHECK: %[[NEW:.*]] = dfg.scatter_add %[[SUM]], %[[I]]
// CHECK: dfg.yield %[[I]], %[[NEW]]
dfg.entry @rows(%table: tensor<8x4xf64>, %limit: tensor<f64>) -> tensor<8x4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %none = dfg.constant dense<0.0> : tensor<f64>
  %one = dfg.constant dense<1> : tensor<i32>
  %f:2 = dfg.while (%zero, %none) : tensor<i32>, tensor<f64> {
  ^bb0(%i: tensor<i32>, %s: tensor<f64>):
    %go = dfg.less %s, %limit : tensor<f64>, tensor<f64>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<f64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %row = dfg.gather %table, %i : tensor<8x4xf64>, tensor<i32>
    %square = dfg.square %row : tensor<4xf64>
    %part = dfg.sum %square : tensor<4xf64>
    %sum = dfg.add %s, %part : tensor<f64>, tensor<f64>
    dfg.yield %next, %sum : tensor<i32>, tensor<f64>
  }
  %g = dfg.gradients %f#1, [%table] : (tensor<f64>, tensor<8x4xf64>) -> tensor<8x4xf64>
  dfg.return %g : tensor<8x4xf64>
}

// Nothing is saved or carried for a gradient that is not asked for; without a counter the loop counts.
// CHECK-LABEL: dfg.entry @needed
// CHECK: %[[F:.*]]:2 = dfg.while({{.*}}) : tensor<f64>, tensor<i32> {
// CHECK-NOT: dfg.push
// CHECK: %[[B:.*]]:2 = dfg.while(%[[F]]#1, %{{.*}}) : tensor<i32>, tensor<f64> {
// CHECK: dfg.return %[[B]]#1, %[[F]]#0
dfg.entry @needed(%x: tensor<f64>, %w: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %half = dfg.constant dense<0.5> : tensor<f64>
  %f:2 = dfg.while (%x, %w) : tensor<f64>, tensor<f64> {
  ^bb0(%s: tensor<f64>, %t: tensor<f64>):
    %go = dfg.less %t, %half : tensor<f64>, tensor<f64>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%s: tensor<f64>, %t: tensor<f64>):
    %a = dfg.mul %s, %w : tensor<f64>, tensor<f64>
    %b = dfg.add %t, %half : tensor<f64>, tensor<f64>
    dfg.yield %a, %b : tensor<f64>, tensor<f64>
  }
  %g = dfg.gradients %f#0, [%x] : (tensor<f64>, tensor<f64>) -> tensor<f64>
  dfg.return %g, %f#1 : tensor<f64>, tensor<f64>
}

// The values at the start and at the end of an iteration need only one tape: the backward loop carries
// the latter from the iteration that it has just left. The known number of iterations is the tape's capacity.
// CHECK: dfg.tape @[[TAPE:.*]] : tensor<4xf64> {capacity = #dfg.dims<5>}
// CHECK-LABEL: dfg.entry @states
// CHECK: %[[F:.*]] = dfg.while
// CHECK: dfg.push @[[TAPE]], %{{.*}} :
// CHECK-NOT: dfg.push
// CHECK: dfg.while(%{{.*}}, %{{.*}}, %[[F]]) : tensor<i32>, tensor<4xf64>, tensor<4xf64>
// CHECK: do {
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<4xf64>, %[[NEXT:.*]]: tensor<4xf64>):
// CHECK: %[[OLD:.*]] = dfg.pop @[[TAPE]]
// CHECK: dfg.square %[[NEXT]]
// CHECK: dfg.yield %{{.*}}, %{{.*}}, %[[OLD]]
dfg.entry @states(%go: tensor<i1>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %f = dfg.while (%x) : tensor<4xf64> attributes {trips = #dfg.dims<5>} {
  ^bb0(%s: tensor<4xf64>):
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%s: tensor<4xf64>):
    %sin = dfg.sin %s : tensor<4xf64>
    %next = dfg.tanh %sin : tensor<4xf64>
    dfg.yield %next : tensor<4xf64>
  }
  %y = dfg.sum %f : tensor<4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %g : tensor<4xf64>
}
