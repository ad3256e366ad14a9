// Many parts are concatenated in steps, because each element of a concatenation is selected among all of its parts.
// RUN: tfc-opt --tfc-simplify-algebra %s | FileCheck %s

// CHECK-LABEL: dfg.entry @many
// CHECK-NEXT: %[[FIRST:.*]] = dfg.concat {{(%[a-z0-9]+, ){31}%[a-z0-9]+}} : tensor<2xf32>
// CHECK-NEXT: %[[REST:.*]] = dfg.concat {{(%[a-z0-9]+, ){2}%[a-z0-9]+}} : tensor<2xf32>
// CHECK-NEXT: dfg.concat %[[FIRST]], %[[REST]] : tensor<64xf32>, tensor<6xf32>
// CHECK-NEXT: dfg.return
dfg.entry @many(%x: tensor<2xf32>) -> tensor<70xf32> {
  %0 = dfg.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  dfg.return %0 : tensor<70xf32>
}

// A slice inside of a part is a slice of the part.
// CHECK-LABEL: dfg.entry @slices
// CHECK: %[[FIRST:.*]] = dfg.slice %[[B:[a-z0-9]+]] {sizes = #dfg.dims<2, 4>, starts = #dfg.dims<1, 0>}
// CHECK: %[[OVER:.*]] = dfg.slice %[[WHOLE:.*]] {sizes = #dfg.dims<2, 4>, starts = #dfg.dims<"n + 4", 0>}
// CHECK: dfg.return %[[FIRST]], %[[B]], %[[OVER]]
dfg.entry @slices(%a: tensor<?x4xf32, #dfg.dims<n, 4>>, %b: tensor<5x4xf32>, %c: tensor<3x4xf32>)
    -> (tensor<2x4xf32>, tensor<5x4xf32>, tensor<2x4xf32>) attributes {symbols = ["n"]} {
  %0 = dfg.concat %a, %b, %c {axis = 0 : i64} : tensor<?x4xf32, #dfg.dims<n, 4>>, tensor<5x4xf32>, tensor<3x4xf32>
  %1 = dfg.slice %0 {sizes = #dfg.dims<2, 4>, starts = #dfg.dims<"n + 1", 0>} : tensor<?x4xf32, #dfg.dims<"n + 8", 4>>
  %2 = dfg.slice %0 {sizes = #dfg.dims<5, 4>, starts = #dfg.dims<n, 0>} : tensor<?x4xf32, #dfg.dims<"n + 8", 4>>
  %3 = dfg.slice %0 {sizes = #dfg.dims<2, 4>, starts = #dfg.dims<"n + 4", 0>} : tensor<?x4xf32, #dfg.dims<"n + 8", 4>>
  dfg.return %1, %2, %3 : tensor<2x4xf32>, tensor<5x4xf32>, tensor<2x4xf32>
}
