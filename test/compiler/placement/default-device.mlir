// Operations and variables that say nothing are on the device of the option; constants are on none.
// RUN: tfc-opt %s --tfc-place=device=cpu:1 | FileCheck %s

// CHECK: dfg.variable @w : tensor<4x4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.variable @w : tensor<4x4xf32>
// CHECK: dfg.variable @here : tensor<4x4xf32>{{$}}
dfg.variable @here : tensor<4x4xf32> {dfg.device = #dfg.device<"/device:cpu:0">}
dfg.entry @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = dfg.read @w : tensor<4x4xf32>
  // CHECK: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
  %y = dfg.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: dfg.constant dense
  %one = dfg.constant dense<1.0> : tensor<f32>
  // CHECK: dfg.add {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:2">}
  %z = dfg.add %y, %one {dfg.device = #dfg.device<"/device:cpu:2">} : tensor<4x4xf32>, tensor<f32>
  dfg.return %z : tensor<4x4xf32>
}
