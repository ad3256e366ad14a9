// Between two waits, a device first runs checks, then what other devices read, the least work first, and then the rest.
// RUN: tfc-opt %s --tfc-place | FileCheck %s

// The schedule begins with the products, which are the longest way to the end.
// CHECK-LABEL: dfg.entry @sends
dfg.entry @sends(%x: tensor<64x64xf32>, %holds: tensor<i1>) -> tensor<64x64xf32> {
  // CHECK: dfg.check
  // CHECK-NEXT: dfg.exp
  // CHECK-NEXT: dfg.sin
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  // CHECK: dfg.matmul
  %own = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  %own2 = dfg.matmul %own, %own : tensor<64x64xf32>, tensor<64x64xf32>
  %own3 = dfg.matmul %own2, %own2 : tensor<64x64xf32>, tensor<64x64xf32>
  dfg.check %holds, "holds" {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<i1>
  %small = dfg.exp %x {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>
  %larger = dfg.sin %small {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>
  %there = dfg.add %small, %larger {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>, tensor<64x64xf32>
  %y = dfg.add %own3, %there {dfg.device = #dfg.device<"/device:cpu:0">} : tensor<64x64xf32>, tensor<64x64xf32>
  dfg.return %y : tensor<64x64xf32>
}
