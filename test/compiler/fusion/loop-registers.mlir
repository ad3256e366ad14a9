// Scalars that do not depend on kernels stay in the host function; kernels read them from memory. Views are computed in
// the region that reads them.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

// CHECK-LABEL: dfg.entry @count
// CHECK: dfg.while
// CHECK: dfg.less %{{.*}} {dfg.in_register}
// CHECK: dfg.condition
// CHECK: dfg.add %[[I:.*]], %{{.*}} {dfg.in_register}
// CHECK: %[[F:.*]] = dfg.cast %[[I]] {dfg.in_register, dtype = f32}
// CHECK: dfg.launch @[[K:.*]](%{{.*}}, %[[F]])
// CHECK-NOT: dfg.launch
// CHECK: dfg.return
dfg.entry @count(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %ones = dfg.constant dense<1.0> : tensor<8xf32>
  %last, %sum = dfg.while (%zero, %x) : tensor<i32>, tensor<8xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>):
    %go = dfg.less %i, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>):
    %next = dfg.add %i, %one : tensor<i32>, tensor<i32>
    %f = dfg.cast %i {dtype = f32} : tensor<i32>
    %a = dfg.mul %s, %f : tensor<8xf32>, tensor<f32>
    %b = dfg.add %a, %ones : tensor<8xf32>, tensor<8xf32>
    dfg.yield %next, %b : tensor<i32>, tensor<8xf32>
  }
  dfg.return %sum : tensor<8xf32>
}

// CHECK: dfg.kernel @[[K]]
// CHECK-DAG: dfg.constant
// CHECK-DAG: dfg.mul
// CHECK: dfg.add
