// A matrix product absorbs its bias and activation; a softmax is one kernel over rows; a following sum over columns
// iterates in another order and is a separate kernel.
// RUN: tfc-opt "--tfc-form-kernels=report=true" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

dfg.entry @f(%x: tensor<?x64xf32, #dfg.dims<n, 64>>, %w: tensor<64x10xf32>, %b: tensor<10xf32>)
    -> (tensor<?x10xf32, #dfg.dims<n, 10>>, tensor<10xf32>) attributes {symbols = ["n"]} {
  %0 = dfg.matmul %x, %w : tensor<?x64xf32, #dfg.dims<n, 64>>, tensor<64x10xf32>
  %1 = dfg.add %0, %b : tensor<?x10xf32, #dfg.dims<n, 10>>, tensor<10xf32>
  %2 = dfg.max %1 {axis = array<i64: 1>, keep_dims = true} : tensor<?x10xf32, #dfg.dims<n, 10>>
  %3 = dfg.sub %1, %2 : tensor<?x10xf32, #dfg.dims<n, 10>>, tensor<?x1xf32, #dfg.dims<n, 1>>
  %4 = dfg.exp %3 : tensor<?x10xf32, #dfg.dims<n, 10>>
  %5 = dfg.sum %4 {axis = array<i64: 1>, keep_dims = true} : tensor<?x10xf32, #dfg.dims<n, 10>>
  %6 = dfg.div %4, %5 : tensor<?x10xf32, #dfg.dims<n, 10>>, tensor<?x1xf32, #dfg.dims<n, 1>>
  %7 = dfg.sum %6 {axis = array<i64: 0>} : tensor<?x10xf32, #dfg.dims<n, 10>>
  dfg.return %6, %7 : tensor<?x10xf32, #dfg.dims<n, 10>>, tensor<10xf32>
}

// REPORT: kernel_0_matmul: matmul add
// REPORT: kernel_1_max: max sub exp sum div
// REPORT: kernel_2_sum: sum

// CHECK: %[[LOGITS:.*]] = dfg.launch @kernel_0_matmul(%{{.*}}) {sizes = #dfg.dims<n>}
// CHECK: %[[SOFTMAX:.*]] = dfg.launch @kernel_1_max(%[[LOGITS]])
// CHECK: dfg.launch @kernel_2_sum(%[[SOFTMAX]])
// CHECK: dfg.kernel @kernel_0_matmul({{.*}}#dfg.dims<d0, 64>{{.*}} attributes {symbols = ["d0"]}
