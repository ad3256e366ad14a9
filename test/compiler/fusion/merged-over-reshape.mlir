// The operands of a merged kernel are available before it, including a reshape that followed its first
// reader.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

// CHECK-LABEL: dfg.entry @both
// CHECK-DAG: %[[S:.*]] = dfg.launch @{{.*}}sum(%arg0)
// CHECK-DAG: %[[P:.*]] = dfg.launch @{{.*}}matmul(%arg1)
// CHECK-DAG: %[[R:.*]] = dfg.reshape %[[P]]
// CHECK: %[[L:.*]]:2 = dfg.launch {{.*}}%[[R]]
// CHECK: dfg.reshape %[[L]]#0
dfg.entry @both(%x: tensor<4xf32>, %z: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
  %s = dfg.sum %x : tensor<4xf32>
  %0 = dfg.add %x, %s : tensor<4xf32>, tensor<f32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<2, 2>} : tensor<4xf32>
  %2 = dfg.matmul %1, %1 : tensor<2x2xf32>, tensor<2x2xf32>
  %3 = dfg.matmul %z, %z : tensor<2x2xf32>, tensor<2x2xf32>
  %4 = dfg.reshape %3 {shape = #dfg.dims<4>} : tensor<2x2xf32>
  %5 = dfg.add %4, %s : tensor<4xf32>, tensor<f32>
  dfg.return %2, %5 : tensor<2x2xf32>, tensor<4xf32>
}
