// A carried value is updated in its buffer if all readers of the old value can run before and the
// kernel allows it; otherwise the loop alternates between two buffers.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

// CHECK-LABEL: dfg.entry @in_place
// CHECK: dfg.while{{.*}}dfg.single_buffers = array<i64: 1>
// CHECK: dfg.launch @update{{.*}}memory = [#dfg.memory<result 1>]
dfg.entry @in_place(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last, %sum = dfg.while (%zero, %x) : tensor<i32>, tensor<8xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>):
    %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>):
    %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
    %b = dfg.launch @update(%s) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %next, %b : tensor<i32>, tensor<8xf32>
  }
  dfg.return %sum : tensor<8xf32>
}

// Each reads the other's old value: only the one that runs last writes in place.
// CHECK-LABEL: dfg.entry @exchanged
// CHECK: dfg.while{{.*}}dfg.single_buffers = array<i64: 1>
// CHECK-DAG: dfg.launch @both{{.*}}memory = [#dfg.memory<result 1>]
// CHECK-DAG: dfg.launch @both{{.*}}memory = [#dfg.memory<result 2>]
dfg.entry @exchanged(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last, %a, %b = dfg.while (%zero, %x, %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
    %u = dfg.launch @both(%s, %t) {sizes = #dfg.dims<>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %v = dfg.launch @both(%t, %s) {sizes = #dfg.dims<>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %next, %u, %v : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  dfg.return %a : tensor<8xf32>
}

// Both branches write where the result is.
// CHECK-LABEL: dfg.entry @branch
// CHECK: dfg.launch @update{{.*}}memory = [#dfg.memory<result 0>]
// CHECK: dfg.launch @update{{.*}}memory = [#dfg.memory<result 0>]
dfg.entry @branch(%p: tensor<i1>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = dfg.if %p : tensor<i1> -> tensor<8xf32> {
    %a = dfg.launch @update(%x) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %a : tensor<8xf32>
  } else {
    %a = dfg.launch @update(%y) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %a : tensor<8xf32>
  }
  dfg.return %z : tensor<8xf32>
}

// Three updates of one value change it in its buffer, the reader of the second between them.
// CHECK-LABEL: dfg.entry @chain
// CHECK: dfg.while{{.*}}dfg.single_buffers = array<i64: 1, 2>
// CHECK: %[[FIRST:.*]] = dfg.launch @update_inplace({{.*}}memory = [#dfg.memory<result 2>]
// CHECK: %[[SECOND:.*]] = dfg.launch @update_inplace(%[[FIRST]]){{.*}}memory = [#dfg.memory<result 2>]
// CHECK: dfg.launch @both_inplace({{.*}}, %[[SECOND]]){{.*}}memory = [#dfg.memory<result 1>]
// CHECK: dfg.launch @update_inplace(%[[SECOND]]){{.*}}memory = [#dfg.memory<result 2>]
dfg.entry @chain(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last, %a, %b = dfg.while (%zero, %x, %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
    %u = dfg.launch @update(%t) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    %v = dfg.launch @update(%u) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    %w = dfg.launch @update(%v) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    %r = dfg.launch @both(%s, %v) {sizes = #dfg.dims<>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %next, %r, %w : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  dfg.return %a : tensor<8xf32>
}

// Where the value between is carried too, it has a buffer of its own.
// CHECK-LABEL: dfg.entry @between
// CHECK: dfg.while{{.*}}dfg.single_buffers = array<i64: 1, 2>
// CHECK: dfg.launch @update(%{{.*}}memory = [#dfg.memory<result 1>]
// CHECK: dfg.launch @update(%{{.*}}memory = [#dfg.memory<result 2>]
dfg.entry @between(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %last, %a, %b = dfg.while (%zero, %x, %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32> {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %go = dfg.less %i, %n {dfg.in_register} : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %next = dfg.add %i, %one {dfg.in_register} : tensor<i32>, tensor<i32>
    %u = dfg.launch @update(%t) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    %v = dfg.launch @update(%u) {sizes = #dfg.dims<>} : (tensor<8xf32>) -> tensor<8xf32>
    dfg.yield %next, %u, %v : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  dfg.return %a : tensor<8xf32>
}

kernel.func @update(tensor<8xf32>) -> (tensor<8xf32> {kernel.may_share = array<i32: 0>})
kernel.func @both(tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32> {kernel.may_share = array<i32: 0, 1>})
