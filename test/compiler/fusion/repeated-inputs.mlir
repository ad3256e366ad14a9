// A reduction that is not of rows recomputes an input that reads at most two tensors: nothing is stored for it, and
// elementwise consumers of the reduction form one kernel.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

// CHECK: dfg.entry @distances
// CHECK-NEXT: %[[SUM:.*]] = dfg.launch @kernel_0_{{.*}}(%arg0, %arg1) {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = dfg.launch @kernel_1_{{.*}}(%arg0, %arg1, %[[SUM]]) {{.*}} -> tensor<64x8xf32>
// CHECK-NEXT: dfg.return %[[Y]]
dfg.entry @distances(%x: tensor<64x8xf32> {dfg.name = "x"}, %t: tensor<64x8xf32> {dfg.name = "t"})
    -> (tensor<64x8xf32> {dfg.name = "y"}) {
  %d = dfg.sub %x, %t : tensor<64x8xf32>, tensor<64x8xf32>
  %s = dfg.square %d : tensor<64x8xf32>
  %sum = dfg.sum %s {axis = array<i64: 0>} : tensor<64x8xf32>
  %p = dfg.mul %d, %s : tensor<64x8xf32>, tensor<64x8xf32>
  %y = dfg.mul %p, %sum : tensor<64x8xf32>, tensor<8xf32>
  dfg.return %y : tensor<64x8xf32>
}

// An input that is stored anyway is read, not repeated.
// CHECK: dfg.entry @stored
// CHECK-NEXT: %[[D:.*]] = dfg.launch @kernel_2_{{.*}}(%arg0, %arg1)
// CHECK-NEXT: dfg.launch @kernel_3_{{.*}}(%[[D]])
dfg.entry @stored(%x: tensor<64x8xf32> {dfg.name = "x"}, %t: tensor<64x8xf32> {dfg.name = "t"})
    -> (tensor<64x8xf32> {dfg.name = "d"}, tensor<8xf32> {dfg.name = "sum"}) {
  %d = dfg.sub %x, %t : tensor<64x8xf32>, tensor<64x8xf32>
  %s = dfg.square %d : tensor<64x8xf32>
  %sum = dfg.sum %s {axis = array<i64: 0>} : tensor<64x8xf32>
  dfg.return %d, %sum : tensor<64x8xf32>, tensor<8xf32>
}

// So is one that another device reads: partitions send it.
// CHECK: dfg.entry @sent
// CHECK-NEXT: %[[D:.*]] = dfg.launch @kernel_2_{{.*}}(%arg0, %arg1)
// CHECK: dfg.launch @kernel_3_{{.*}}(%[[D]])
dfg.entry @sent(%x: tensor<64x8xf32> {dfg.name = "x"}, %t: tensor<64x8xf32> {dfg.name = "t"})
    -> (tensor<64x8xf32> {dfg.name = "e"}, tensor<8xf32> {dfg.name = "sum"}) {
  %d = dfg.sub %x, %t : tensor<64x8xf32>, tensor<64x8xf32>
  %s = dfg.square %d : tensor<64x8xf32>
  %sum = dfg.sum %s {axis = array<i64: 0>} : tensor<64x8xf32>
  %e = dfg.exp %d {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<64x8xf32>
  dfg.return %e, %sum : tensor<64x8xf32>, tensor<8xf32>
}

// CHECK: dfg.kernel @kernel_0_
// CHECK-NEXT: dfg.sub
// CHECK-NEXT: dfg.square
// CHECK-NEXT: dfg.sum
// CHECK: dfg.kernel @kernel_2_
// CHECK-NEXT: dfg.sub
// CHECK-NEXT: dfg.return
