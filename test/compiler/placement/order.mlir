// The operations of an entry on several devices are in the order of the schedule; those with effects keep theirs.
// RUN: tfc-opt %s --tfc-place | FileCheck %s

dfg.tape @a : tensor<64x64xf32>
dfg.tape @b : tensor<64x64xf32>
// CHECK-LABEL: dfg.entry @f
dfg.entry @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // The long way is on its device first.
  // CHECK: dfg.matmul {{.*}} {dfg.device = {{.*}}cpu:1">, transpose_lhs = true}
  // CHECK: dfg.matmul %{{arg0, %arg0}} {dfg.device = {{.*}}cpu:1">} :
  %short = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:1">} : tensor<64x64xf32>, tensor<64x64xf32>
  %long1 = dfg.matmul %x, %x {dfg.device = #dfg.device<"/device:cpu:1">, transpose_lhs = true} : tensor<64x64xf32>, tensor<64x64xf32>
  %long2 = dfg.matmul %long1, %long1 : tensor<64x64xf32>, tensor<64x64xf32>
  %long3 = dfg.matmul %long2, %long2 : tensor<64x64xf32>, tensor<64x64xf32>
  %y = dfg.add %short, %long3 : tensor<64x64xf32>, tensor<64x64xf32>
  // CHECK: dfg.push @a
  // CHECK: dfg.push @b
  dfg.push @a, %y : tensor<64x64xf32>
  dfg.push @b, %x : tensor<64x64xf32>
  dfg.return %y : tensor<64x64xf32>
}
