// An image that is padded with its own elements along adjacent axes is one gather of runs. Short runs, and one axis alone,
// stay concatenations.
// RUN: tfc-opt --tfc-simplify-algebra %s | FileCheck %s

// The positions are 1, 0, 1, 2, 1 along one axis and 0, 0, 1, 1 along the other.
// CHECK-LABEL: @mirrored(
// CHECK-DAG: %[[I:.*]] = dfg.constant dense<[2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 2, 2, 3, 3]> : tensor<20xi32>
// CHECK-DAG: %[[X:.*]] = dfg.reshape %{{.*}} {shape = #dfg.dims<n, 6, 32>}
// CHECK: %[[Y:.*]] = dfg.gather %[[X]], %[[I]] {axis = 1 : i64}
// CHECK: dfg.reshape %[[Y]] {shape = #dfg.dims<n, 5, 4, 32>}
// CHECK-NOT: dfg.concat
dfg.entry @mirrored(%x: tensor<?x3x2x32xf32, #dfg.dims<n, 3, 2, 32>>) -> tensor<?x5x4x32xf32, #dfg.dims<n, 5, 4, 32>> attributes {symbols = ["n"]} {
  %0 = dfg.slice %x {sizes = #dfg.dims<n, 1, 2, 32>, starts = #dfg.dims<0, 1, 0, 0>} : tensor<?x3x2x32xf32, #dfg.dims<n, 3, 2, 32>>
  %1 = dfg.reverse %0 {axis = array<i64: 1>} : tensor<?x1x2x32xf32, #dfg.dims<n, 1, 2, 32>>
  %2 = dfg.concat %1, %x, %0 {axis = 1 : i64} : tensor<?x1x2x32xf32, #dfg.dims<n, 1, 2, 32>>, tensor<?x3x2x32xf32, #dfg.dims<n, 3, 2, 32>>, tensor<?x1x2x32xf32, #dfg.dims<n, 1, 2, 32>>
  %3 = dfg.slice %2 {sizes = #dfg.dims<n, 5, 1, 32>, starts = #dfg.dims<0, 0, 0, 0>} : tensor<?x5x2x32xf32, #dfg.dims<n, 5, 2, 32>>
  %4 = dfg.slice %2 {sizes = #dfg.dims<n, 5, 1, 32>, starts = #dfg.dims<0, 0, 1, 0>} : tensor<?x5x2x32xf32, #dfg.dims<n, 5, 2, 32>>
  %5 = dfg.concat %3, %2, %4 {axis = 2 : i64} : tensor<?x5x1x32xf32, #dfg.dims<n, 5, 1, 32>>, tensor<?x5x2x32xf32, #dfg.dims<n, 5, 2, 32>>, tensor<?x5x1x32xf32, #dfg.dims<n, 5, 1, 32>>
  dfg.return %5 : tensor<?x5x4x32xf32, #dfg.dims<n, 5, 4, 32>>
}

// CHECK-LABEL: @short(
// CHECK-NOT: dfg.gather
dfg.entry @short(%x: tensor<3x2x4xf32>) -> tensor<4x3x4xf32> {
  %0 = dfg.slice %x {sizes = #dfg.dims<1, 2, 4>, starts = #dfg.dims<1, 0, 0>} : tensor<3x2x4xf32>
  %1 = dfg.concat %0, %x {axis = 0 : i64} : tensor<1x2x4xf32>, tensor<3x2x4xf32>
  %2 = dfg.slice %1 {sizes = #dfg.dims<4, 1, 4>, starts = #dfg.dims<0, 1, 0>} : tensor<4x2x4xf32>
  %3 = dfg.concat %2, %1 {axis = 1 : i64} : tensor<4x1x4xf32>, tensor<4x2x4xf32>
  dfg.return %3 : tensor<4x3x4xf32>
}

// CHECK-LABEL: @one_axis(
// CHECK-NOT: dfg.gather
dfg.entry @one_axis(%x: tensor<3x64xf32>) -> tensor<4x64xf32> {
  %0 = dfg.slice %x {sizes = #dfg.dims<1, 64>, starts = #dfg.dims<1, 0>} : tensor<3x64xf32>
  %1 = dfg.concat %0, %x {axis = 0 : i64} : tensor<1x64xf32>, tensor<3x64xf32>
  dfg.return %1 : tensor<4x64xf32>
}
