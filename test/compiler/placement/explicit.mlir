// Operations are where they ask to be, with names completed as those of the caller's device; cheap ones stay with what
// they read, and reads and assignments are where their variable is.
// RUN: tfc-opt %s --tfc-place | FileCheck %s --implicit-check-not=dfg.colocate

// CHECK: module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:cpu:1">, #dfg.device<"/job:local/task:0/device:cpu:2">]}
// CHECK: dfg.variable @w : tensor<4x4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.variable @w : tensor<4x4xf32> {dfg.device = #dfg.device<"/device:cpu:1">}
// CHECK: dfg.variable @v : tensor<4x4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.variable @v : tensor<4x4xf32> {dfg.colocate = [@w]}
// CHECK: dfg.variable @u : tensor<4x4xf32>{{$}}
dfg.variable @u : tensor<4x4xf32>
dfg.entry @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: dfg.read @w : tensor<4x4xf32>
  %w = dfg.read @w : tensor<4x4xf32>
  // CHECK: dfg.exp %{{[a-z0-9]+}} : tensor<4x4xf32>
  // CHECK: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:2">}
  %y = dfg.matmul %x, %w {dfg.device = #dfg.device<"/device:cpu:2">} : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: dfg.tanh {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:2">}
  %z = dfg.tanh %y : tensor<4x4xf32>
  // CHECK: dfg.assign @w, %{{[0-9]+}} : tensor<4x4xf32>
  %new = dfg.assign @w, %z : tensor<4x4xf32>
  %e = dfg.exp %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:0">} : tensor<4x4xf32>
  dfg.return %e : tensor<4x4xf32>
}
