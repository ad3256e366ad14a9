// On CPUs the position of an extreme stays one operation along any axis but the last; elsewhere it is composed.
// RUN: tfc-opt --tfc-decompose-composites %s | FileCheck %s

// CHECK-LABEL: @columns(
// CHECK: dfg.argmax
dfg.entry @columns(%x: tensor<8x16xf32>) -> tensor<16xi32> {
  %0 = dfg.argmax %x {axis = 0 : i64} : tensor<8x16xf32>
  dfg.return %0 : tensor<16xi32>
}

// CHECK-LABEL: @rows(
// CHECK-NOT: dfg.argmin
// CHECK: dfg.min
dfg.entry @rows(%x: tensor<8x16xf32>) -> tensor<8xi32> {
  %0 = dfg.argmin %x : tensor<8x16xf32>
  dfg.return %0 : tensor<8xi32>
}

// CHECK-LABEL: @on_gpu(
// CHECK-NOT: dfg.argmax
// CHECK: dfg.max
dfg.entry @on_gpu(%x: tensor<8x16xf32>) -> tensor<16xi32> {
  %0 = dfg.argmax %x {axis = 0 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:gpu:0">} : tensor<8x16xf32>
  dfg.return %0 : tensor<16xi32>
}
