// The devices of a file share branches that are worth the transfers, and nothing else.
// RUN: split-file %s %t
// RUN: tfc-opt %t/graph.mlir --tfc-place=devices=%t/two.json | FileCheck %s
// RUN: tfc-opt %t/graph.mlir --tfc-place=devices=%t/slow-link.json | FileCheck %s --check-prefix=ONE --implicit-check-not=dfg.devices
// RUN: tfc-opt %t/graph.mlir --tfc-place=devices=%t/fast.json | FileCheck %s --check-prefix=FAST

//--- two.json
{"devices": [{"name": "cpu:0"}, {"name": "cpu:1"}]}
//--- slow-link.json
{"devices": [{"name": "cpu:0"}, {"name": "cpu:1"}],
 "links": [{"from": "cpu:0", "to": "cpu:1", "latency_seconds": 1}]}
//--- fast.json
{"devices": [{"name": "cpu:3", "flops_per_second": 1e13, "bytes_per_second": 1e12, "launch_seconds": 1e-7}]}
//--- graph.mlir
// CHECK-LABEL: dfg.entry @small
// CHECK-NOT: dfg.device
// CHECK-LABEL: dfg.entry @large
// CHECK: dfg.matmul %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor
// CHECK: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">, transpose_lhs = true}
// ONE-LABEL: dfg.entry @large
// FAST-LABEL: dfg.entry @large
// FAST: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:3">
// FAST: dfg.matmul {{.*}} {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:3">
dfg.entry @small(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = dfg.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %b = dfg.matmul %x, %x {transpose_lhs = true} : tensor<4x4xf32>, tensor<4x4xf32>
  %c = dfg.add %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
  dfg.return %c : tensor<4x4xf32>
}
dfg.entry @large(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %a = dfg.matmul %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
  %b = dfg.matmul %x, %x {transpose_lhs = true} : tensor<512x512xf32>, tensor<512x512xf32>
  %c = dfg.add %a, %b : tensor<512x512xf32>, tensor<512x512xf32>
  dfg.return %c : tensor<512x512xf32>
}
