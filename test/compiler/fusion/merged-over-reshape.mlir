// A kernel that is merged of two finds its operands made before it, also the reshape that stood
// behind its first reader.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

// CHECK-LABEL: dfg.entry @both
// CHECK: %[[P:.*]] = dfg.launch @{{.*}}matmul(%arg2)
// CHECK: %[[R:.*]] = dfg.reshape %[[P]]
// CHECK: %[[L:.*]]:2 = dfg.launch @{{.*}}add(%arg0, %arg1, %[[R]])
// CHECK: dfg.reshape %[[L]]#0
dfg.entry @both(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<4xf32>) {
  %0 = dfg.add %x, %y : tensor<4xf32>, tensor<4xf32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<2, 2>} : tensor<4xf32>
  %2 = dfg.matmul %1, %1 : tensor<2x2xf32>, tensor<2x2xf32>
  %3 = dfg.matmul %z, %z : tensor<2x2xf32>, tensor<2x2xf32>
  %4 = dfg.reshape %3 {shape = #dfg.dims<4>} : tensor<2x2xf32>
  %5 = dfg.add %4, %x : tensor<4xf32>, tensor<4xf32>
  dfg.return %2, %5 : tensor<2x2xf32>, tensor<4xf32>
}
