// Sizes are inferred over named dimensions.
// RUN: tfc-opt %s | FileCheck %s

#n8 = #dfg.dims<n, 8>
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x8xf32, #n8>, %y: tensor<?x8xf32, #dfg.dims<m, 8>>, %i: tensor<?x3xi32, #dfg.dims<k, 3>>) {
  %0 = dfg.slice %x {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<n, 4>, steps = array<i64: 1, 2>} : tensor<?x8xf32, #n8>
  // CHECK: dfg.relu %{{.*}} : tensor<?x4xf32, #dfg.dims<n, 4>>
  %1 = dfg.relu %0 : tensor<?x4xf32, #dfg.dims<n, 4>>
  %2 = dfg.concat %x, %y {axis = 0 : i64} : tensor<?x8xf32, #n8>, tensor<?x8xf32, #dfg.dims<m, 8>>
  // CHECK: dfg.relu %{{.*}} : tensor<?x8xf32, #dfg.dims<"m + n", 8>>
  %3 = dfg.relu %2 : tensor<?x8xf32, #dfg.dims<"m + n", 8>>
  %4 = dfg.gather %x, %i {axis = 1 : i64} : tensor<?x8xf32, #n8>, tensor<?x3xi32, #dfg.dims<k, 3>>
  // CHECK: dfg.relu %{{.*}} : tensor<?x?x3xf32, #dfg.dims<n, k, 3>>
  %5 = dfg.relu %4 : tensor<?x?x3xf32, #dfg.dims<n, k, 3>>
  %6 = dfg.pad %x {low = #dfg.dims<1, 0>, high = #dfg.dims<m, 0>} : tensor<?x8xf32, #n8>
  // CHECK: dfg.relu %{{.*}} : tensor<?x8xf32, #dfg.dims<"m + n + 1", 8>>
  %7 = dfg.relu %6 : tensor<?x8xf32, #dfg.dims<"m + n + 1", 8>>
  %8 = dfg.tile %x {repeats = #dfg.dims<2, 1>} : tensor<?x8xf32, #n8>
  // CHECK: dfg.relu %{{.*}} : tensor<?x8xf32, #dfg.dims<"2 * n", 8>>
  %9 = dfg.relu %8 : tensor<?x8xf32, #dfg.dims<"2 * n", 8>>
  %10 = dfg.rearrange %x {pattern = "n (h d) -> h (n d)", sizes = {h = #dfg.dims<2>}} : tensor<?x8xf32, #n8>
  // CHECK: dfg.relu %{{.*}} : tensor<2x?xf32, #dfg.dims<2, "4 * n">>
  %11 = dfg.relu %10 : tensor<2x?xf32, #dfg.dims<2, "4 * n">>
  %12 = dfg.einsum %x, %y {labels = "a .., b .. -> b a .."} : tensor<?x8xf32, #n8>, tensor<?x8xf32, #dfg.dims<m, 8>>
  // CHECK: dfg.relu %{{.*}} : tensor<?x?x8xf32, #dfg.dims<m, n, 8>>
  %13 = dfg.relu %12 : tensor<?x?x8xf32, #dfg.dims<m, n, 8>>
  return
}
