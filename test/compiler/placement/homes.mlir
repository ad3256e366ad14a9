// A carried value is on the device that makes its next value, the result of a branch on one where a region makes it; a
// counter is on none, which counts as the caller's.
// RUN: tfc-opt %s --tfc-place --split-input-file | FileCheck %s

// CHECK-LABEL: dfg.entry @loop
dfg.entry @loop(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %n = dfg.constant dense<9> : tensor<i32>
  // CHECK: dfg.while
  // CHECK-SAME: dfg.homes = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">]
  %i, %y = dfg.while (%zero, %x) : tensor<i32>, tensor<4x4xf32> {
  ^bb0(%j: tensor<i32>, %s: tensor<4x4xf32>):
    // CHECK: dfg.less {{.*}} : tensor<i32>, tensor<i32>
    // CHECK-NOT: dfg.device
    // CHECK: dfg.condition
    %go = dfg.less %j, %n : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%j: tensor<i32>, %s: tensor<4x4xf32>):
    %next = dfg.add %j, %one : tensor<i32>, tensor<i32>
    %t = dfg.matmul %s, %w {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<4x4xf32>, tensor<4x4xf32>
    dfg.yield %next, %t : tensor<i32>, tensor<4x4xf32>
  }
  dfg.return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: dfg.entry @branch
dfg.entry @branch(%p: tensor<i1>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: dfg.if
  // CHECK: dfg.homes = [#dfg.device<"/job:local/task:0/device:cpu:1">, #dfg.device<"/job:local/task:0/device:cpu:0">]
  %y, %z = dfg.if %p : tensor<i1> -> tensor<4x4xf32>, tensor<4x4xf32> {
    dfg.yield %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  } else {
    %t = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<4x4xf32>, tensor<4x4xf32>
    dfg.yield %t, %x : tensor<4x4xf32>, tensor<4x4xf32>
  }
  dfg.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}
