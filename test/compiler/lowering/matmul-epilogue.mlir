// A kernel becomes a function of plain tensors whose named sizes are leading index arguments.
// RUN: tfc-opt --tfc-lower-kernels %s | FileCheck %s

dfg.kernel @dense(%x: tensor<?x64xf32, #dfg.dims<d0, 64>>, %w: tensor<64x10xf32>, %b: tensor<10xf32>)
    -> tensor<?x10xf32, #dfg.dims<d0, 10>> attributes {symbols = ["d0"]} {
  %0 = dfg.matmul %x, %w : tensor<?x64xf32, #dfg.dims<d0, 64>>, tensor<64x10xf32>
  %1 = dfg.add %0, %b : tensor<?x10xf32, #dfg.dims<d0, 10>>, tensor<10xf32>
  %2 = dfg.relu %1 : tensor<?x10xf32, #dfg.dims<d0, 10>>
  dfg.return %2 : tensor<?x10xf32, #dfg.dims<d0, 10>>
}

// CHECK: kernel.func @dense(%[[N:.*]]: index, %[[X:.*]]: tensor<?x64xf32> {kernel.shape = affine_map<()[s0] -> (s0, 64)>},
// CHECK-SAME: attributes {symbols = ["d0"]}
// CHECK: tensor.empty(%[[N]]) : tensor<?x10xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK-NOT: dfg.
