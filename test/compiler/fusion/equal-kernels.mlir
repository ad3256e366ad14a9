// Kernels that differ only in the names of their sizes are merged.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

dfg.entry @f(%x: tensor<?xf32, #dfg.dims<n>>, %y: tensor<?xf32, #dfg.dims<"2 * m">>)
    -> (tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<"2 * m">>)
    attributes {symbols = ["n", "m"]} {
  %0 = dfg.exp %x : tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.exp %y : tensor<?xf32, #dfg.dims<"2 * m">>
  dfg.return %0, %1 : tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<"2 * m">>
}
dfg.entry @g(%x: tensor<?xf32, #dfg.dims<k>>) -> tensor<?xf32, #dfg.dims<k>>
    attributes {symbols = ["k"]} {
  %0 = dfg.exp %x : tensor<?xf32, #dfg.dims<k>>
  dfg.return %0 : tensor<?xf32, #dfg.dims<k>>
}

// CHECK: dfg.entry @f
// CHECK: dfg.launch @kernel_0_exp(%{{.*}}) {sizes = #dfg.dims<n>}
// CHECK: dfg.launch @kernel_1_exp(%{{.*}}) {sizes = #dfg.dims<m>}
// CHECK: dfg.entry @g
// CHECK: dfg.launch @kernel_0_exp(%{{.*}}) {sizes = #dfg.dims<k>}
