// Gradients of lists are lists, changed in place: a loop over the elements adds each at its position.
// RUN: tfc-opt --tfc-build-gradients --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: dfg.entry @scan
// CHECK: dfg.while
// CHECK: dfg.push
// CHECK-NOT: dfg.push
// CHECK: %[[D:.*]] = dfg.list_unstack
// CHECK: dfg.while({{.*}}%[[D]]
// CHECK: dfg.condition
// CHECK: ^bb0({{.*}}%[[DY:[a-z0-9]+]]: !dfg.list<tensor<4xf64>>, %[[DX:[a-z0-9]+]]: !dfg.list<tensor<4xf64>>):
// CHECK-NOT: dfg.list_create
// CHECK-DAG: dfg.list_read %[[DY]], %[[I:[a-z0-9]+]]
// CHECK-DAG: dfg.list_add %[[DX]], %[[I]]
// CHECK: dfg.yield
// CHECK-NOT: dfg.list_sum
// CHECK: dfg.list_stack
dfg.entry @scan(%x: tensor<5x4xf64>) -> tensor<5x4xf64> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %five = dfg.constant dense<5> : tensor<i32>
  %none = dfg.constant dense<0.0> : tensor<4xf64>
  %in = dfg.list_unstack %x : tensor<5x4xf64>
  %out = dfg.list_create %five {shape = #dfg.dims<4>, dtype = f64} : tensor<i32>
  %f:3 = dfg.while (%zero, %none, %out) : tensor<i32>, tensor<4xf64>, !dfg.list<tensor<4xf64>> {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %l: !dfg.list<tensor<4xf64>>):
    %go = dfg.less %i, %five : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %l: !dfg.list<tensor<4xf64>>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %e = dfg.list_read %in, %i : !dfg.list<tensor<4xf64>>, tensor<i32>
    %a = dfg.add %s, %e : tensor<4xf64>, tensor<4xf64>
    %b = dfg.tanh %a : tensor<4xf64>
    %m = dfg.list_write %l, %i, %b : !dfg.list<tensor<4xf64>>, tensor<i32>, tensor<4xf64>
    dfg.yield %next, %b, %m : tensor<i32>, tensor<4xf64>, !dfg.list<tensor<4xf64>>
  }
  %ys = dfg.list_stack %f#2 {size = #dfg.dims<5>} : !dfg.list<tensor<4xf64>>
  %y = dfg.sum %ys : tensor<5x4xf64>
  %g = dfg.gradients %y, [%x] : (tensor<f64>, tensor<5x4xf64>) -> tensor<5x4xf64>
  dfg.return %g : tensor<5x4xf64>
}
