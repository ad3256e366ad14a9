// Products of few rows with concatenations become products with each part. An unknown size counts as 256.
// RUN: tfc-opt --tfc-divide-products %s | FileCheck %s

// Parts of the summed axis are multiplied by slices, and their products are added up.
// CHECK-LABEL: dfg.entry @summed
// CHECK: %[[FIRST:.*]] = dfg.slice %[[X:[a-z0-9]+]] {sizes = #dfg.dims<1, n>, starts = #dfg.dims<0, 0>}
// CHECK: %[[A:.*]] = dfg.matmul %[[FIRST]], %{{[a-z0-9]+}}
// CHECK: %[[LAST:.*]] = dfg.slice %[[X]] {sizes = #dfg.dims<1, 1>, starts = #dfg.dims<0, n>}
// CHECK: %[[B:.*]] = dfg.matmul %[[LAST]], %{{[a-z0-9]+}}
// CHECK: %[[SUM:.*]] = dfg.add %[[A]], %[[B]]
// CHECK: dfg.return %[[SUM]]
dfg.entry @summed(%x: tensor<1x?xf32, #dfg.dims<1, "n + 1">>, %a: tensor<?x64xf32, #dfg.dims<n, 64>>, %b: tensor<1x64xf32>)
    -> tensor<1x64xf32> attributes {symbols = ["n"]} {
  %0 = dfg.concat %a, %b {axis = 0 : i64} : tensor<?x64xf32, #dfg.dims<n, 64>>, tensor<1x64xf32>
  %1 = dfg.matmul %x, %0 : tensor<1x?xf32, #dfg.dims<1, "n + 1">>, tensor<?x64xf32, #dfg.dims<"n + 1", 64>>
  dfg.return %1 : tensor<1x64xf32>
}

// Others are rows or columns of the result, also behind a transpose.
// CHECK-LABEL: dfg.entry @joined
// CHECK: %[[A:.*]] = dfg.transpose %{{[a-z0-9]+}} {permutation = array<i64: 1, 0>} : tensor<100x64xf32>
// CHECK: %[[C:.*]] = dfg.matmul %{{[a-z0-9]+}}, %[[A]] : tensor<2x64xf32>, tensor<64x100xf32>
// CHECK: %[[B:.*]] = dfg.transpose %{{[a-z0-9]+}} {permutation = array<i64: 1, 0>} : tensor<20x64xf32>
// CHECK: %[[D:.*]] = dfg.matmul %{{[a-z0-9]+}}, %[[B]] : tensor<2x64xf32>, tensor<64x20xf32>
// CHECK: dfg.concat %[[C]], %[[D]] {axis = 1 : i64}
dfg.entry @joined(%x: tensor<2x64xf32>, %a: tensor<100x64xf32>, %b: tensor<20x64xf32>) -> tensor<2x120xf32> {
  %0 = dfg.concat %a, %b {axis = 0 : i64} : tensor<100x64xf32>, tensor<20x64xf32>
  %1 = dfg.transpose %0 {permutation = array<i64: 1, 0>} : tensor<120x64xf32>
  %2 = dfg.matmul %x, %1 : tensor<2x64xf32>, tensor<64x120xf32>
  dfg.return %2 : tensor<2x120xf32>
}

// Many rows cost more than the copy.
// CHECK-LABEL: dfg.entry @rows
// CHECK: %[[WHOLE:.*]] = dfg.concat
// CHECK-NEXT: dfg.matmul %{{[a-z0-9]+}}, %[[WHOLE]]
dfg.entry @rows(%x: tensor<64x64xf32>, %a: tensor<100x64xf32>, %b: tensor<20x64xf32>) -> tensor<64x120xf32> {
  %0 = dfg.concat %a, %b {axis = 0 : i64} : tensor<100x64xf32>, tensor<20x64xf32>
  %1 = dfg.matmul %x, %0 {transpose_rhs = true} : tensor<64x64xf32>, tensor<120x64xf32>
  dfg.return %1 : tensor<64x120xf32>
}

// The concatenation is a result, too.
// CHECK-LABEL: dfg.entry @whole
// CHECK: %[[WHOLE:.*]] = dfg.concat
// CHECK-NEXT: dfg.matmul %{{[a-z0-9]+}}, %[[WHOLE]]
dfg.entry @whole(%x: tensor<1x64xf32>, %a: tensor<100x64xf32>, %b: tensor<20x64xf32>) -> (tensor<1x120xf32>, tensor<120x64xf32>) {
  %0 = dfg.concat %a, %b {axis = 0 : i64} : tensor<100x64xf32>, tensor<20x64xf32>
  %1 = dfg.matmul %x, %0 {transpose_rhs = true} : tensor<1x64xf32>, tensor<120x64xf32>
  dfg.return %1, %0 : tensor<1x120xf32>, tensor<120x64xf32>
}

// Kernels of GPUs for attention need it, too.
// CHECK-LABEL: dfg.entry @gpu
// CHECK: %[[WHOLE:.*]] = dfg.concat
// CHECK-NEXT: dfg.matmul %{{[a-z0-9]+}}, %[[WHOLE]]
dfg.entry @gpu(%x: tensor<1x64xf32>, %a: tensor<100x64xf32>, %b: tensor<20x64xf32>) -> tensor<1x120xf32> {
  %0 = dfg.concat %a, %b {axis = 0 : i64, dfg.device = #dfg.device<"/job:local/task:0/device:gpu:0">} : tensor<100x64xf32>, tensor<20x64xf32>
  %1 = dfg.matmul %x, %0 {transpose_rhs = true, dfg.device = #dfg.device<"/job:local/task:0/device:gpu:0">} : tensor<1x64xf32>, tensor<120x64xf32>
  dfg.return %1 : tensor<1x120xf32>
}
