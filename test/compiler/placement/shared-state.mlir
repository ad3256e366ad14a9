// The entry with the most work decides where a variable is, and others follow.
// RUN: split-file %s %t
// RUN: tfc-opt %t/graph.mlir --tfc-place=devices=%t/devices.json | FileCheck %s

//--- devices.json
{"devices": [{"name": "cpu:1", "flops_per_second": 1e12, "bytes_per_second": 1e11}]}
//--- graph.mlir
// CHECK: dfg.variable @w : tensor<512x512xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
dfg.variable @w : tensor<512x512xf32>
// CHECK-LABEL: dfg.entry @light
dfg.entry @light() -> tensor<512x512xf32> {
  %w = dfg.read @w : tensor<512x512xf32>
  // CHECK: dfg.neg {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
  %r = dfg.neg %w : tensor<512x512xf32>
  dfg.return %r : tensor<512x512xf32>
}
dfg.entry @heavy() -> tensor<f32> {
  %w = dfg.read @w : tensor<512x512xf32>
  // CHECK: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}
  %y = dfg.matmul %w, %w : tensor<512x512xf32>, tensor<512x512xf32>
  %s = dfg.sum %y : tensor<512x512xf32>
  dfg.return %s : tensor<f32>
}
