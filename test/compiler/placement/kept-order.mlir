// A value that another device reads is not computed before an operation with ordered effects that precedes it, or before
// a value for which its device waits. After these it comes first.
// RUN: tfc-opt %s --tfc-place --split-input-file | FileCheck %s

dfg.queue @q : [tensor<64x64xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 8 : i64, dfg.device = #dfg.device<"/device:cpu:0">}
// CHECK-LABEL: dfg.entry @queue
dfg.entry @queue(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: dfg.matmul
  // CHECK: dfg.dequeue @q
  // CHECK: dfg.matmul
  // CHECK: dfg.exp
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  %own = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %first = dfg.dequeue @q : tensor<64x64xf32>
  %own2 = dfg.matmul %own, %first {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own3 = dfg.matmul %own2, %own2 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own4 = dfg.matmul %own3, %own3 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %sent = dfg.exp %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>
  %there = dfg.sin %sent {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>
  dfg.return %own4, %there : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

dfg.tape @t : tensor<64x64xf32>
// CHECK-LABEL: dfg.entry @tape
dfg.entry @tape(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: dfg.matmul
  // CHECK: dfg.push @t
  // CHECK: dfg.pop @t
  // CHECK: dfg.matmul
  // CHECK: dfg.exp
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  %own = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  dfg.push @t, %own : tensor<64x64xf32>
  %popped = dfg.pop @t : tensor<64x64xf32>
  %own2 = dfg.matmul %popped, %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own3 = dfg.matmul %own2, %own2 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own4 = dfg.matmul %own3, %own3 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %sent = dfg.exp %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>
  %there = dfg.sin %sent {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>
  dfg.return %own4, %there : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// CHECK-LABEL: dfg.entry @wait
dfg.entry @wait(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: %[[COMES:.*]] = dfg.tanh {{.*}}cpu:1
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul %{{.*}}, %[[COMES]]
  // CHECK: dfg.exp
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  %comes = dfg.tanh %x {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>
  %own = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own1 = dfg.matmul %own, %own {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own2 = dfg.matmul %own1, %own1 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own3 = dfg.matmul %own2, %comes {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own4 = dfg.matmul %own3, %own3 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own5 = dfg.matmul %own4, %own4 {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %sent = dfg.exp %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>
  %there = dfg.sin %sent {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>
  dfg.return %own5, %there : tensor<64x64xf32>, tensor<64x64xf32>
}
