// With `recompute` a loop saves only carried values: of each iteration, or of the iterations 0, 1, 4, 9, ..., from
// which segments run again.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @all
// CHECK: dfg.while
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<4xf64>):
// CHECK: dfg.push @{{.*}}, %[[S]]
// CHECK-NOT: dfg.push
// CHECK: dfg.while
// CHECK: %[[OLD:.*]] = dfg.pop
// CHECK-NEXT: %[[E:.*]] = dfg.softmax %[[OLD]]
// CHECK-NOT: dfg.pop
// CHECK: dfg.return
dfg.entry @all(%n: tensor<i32>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %f:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf64> attributes {recompute = #dfg.recompute<all>} {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %e = dfg.softmax %s : tensor<4xf64>
    %t = dfg.mul %e, %e : tensor<4xf64>, tensor<4xf64>
    dfg.yield %next, %t : tensor<i32>, tensor<4xf64>
  }
  %y = dfg.sum %f#1 : tensor<4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %g : tensor<4xf64>
}

// CHECK-LABEL: dfg.entry @sqrt
// CHECK: %[[F:.*]]:4 = dfg.while
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<4xf64>, %[[SAVED:.*]]: tensor<i32>, %[[I:.*]]: tensor<i32>):
// CHECK: %[[SQUARE:.*]] = dfg.mul %[[SAVED]], %[[SAVED]]
// CHECK: %[[IS:.*]] = dfg.equal %[[I]], %[[SQUARE]]
// CHECK: dfg.if %[[IS]]
// CHECK: dfg.push @[[STATE:.*]], %[[S]]
// CHECK: dfg.while(%[[F]]#2, %[[F]]#3, %{{.*}})
// CHECK: %[[BEGIN:.*]] = dfg.pop @[[STATE]]
// CHECK: dfg.while({{.*}}%[[BEGIN]]
// CHECK: dfg.softmax
// CHECK: dfg.push @[[INNER:.*]],
// CHECK: dfg.while
// CHECK: dfg.pop @[[INNER]]
dfg.entry @sqrt(%n: tensor<i32>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %f:2 = dfg.while (%zero, %x) : tensor<i32>, tensor<4xf64> attributes {recompute = #dfg.recompute<sqrt>} {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %e = dfg.softmax %s : tensor<4xf64>
    %t = dfg.mul %e, %e : tensor<4xf64>, tensor<4xf64>
    dfg.yield %next, %t : tensor<i32>, tensor<4xf64>
  }
  %y = dfg.sum %f#1 : tensor<4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  dfg.return %g : tensor<4xf64>
}
