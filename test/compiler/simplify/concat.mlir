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

// Elements that follow each other among zeros, as gradients of slices do, are a concatenation.
// CHECK-LABEL: dfg.entry @places
// CHECK: %[[ALL:.*]] = dfg.concat %arg0, %arg1 {axis = 1 : i64} : tensor<2x3xf32>, tensor<2x5xf32>
// CHECK: %[[THREE:.*]] = dfg.concat %arg0, %arg1, %arg0 {axis = 1 : i64}
// CHECK: %[[PART:.*]] = dfg.place %[[THREE]] {shape = #dfg.dims<2, 16>, starts = #dfg.dims<0, 4>}
// CHECK: %[[GAP:.*]] = dfg.add
// CHECK: %[[TWICE:.*]] = dfg.add
// CHECK: dfg.return %[[ALL]], %[[PART]], %[[GAP]], %[[TWICE]], %{{.*}}
dfg.entry @places(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>)
    -> (tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>) {
  %0 = dfg.place %b {starts = #dfg.dims<0, 3>, shape = #dfg.dims<2, 8>} : tensor<2x5xf32>
  %1 = dfg.place %a {starts = #dfg.dims<0, 0>, shape = #dfg.dims<2, 8>} : tensor<2x3xf32>
  %2 = dfg.add %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
  // Three.
  %3 = dfg.place %a {starts = #dfg.dims<0, 4>, shape = #dfg.dims<2, 16>} : tensor<2x3xf32>
  %4 = dfg.place %b {starts = #dfg.dims<0, 7>, shape = #dfg.dims<2, 16>} : tensor<2x5xf32>
  %5 = dfg.add %3, %4 : tensor<2x16xf32>, tensor<2x16xf32>
  %6 = dfg.place %a {starts = #dfg.dims<0, 12>, shape = #dfg.dims<2, 16>} : tensor<2x3xf32>
  %7 = dfg.add %5, %6 : tensor<2x16xf32>, tensor<2x16xf32>
  // A gap between them, and other readers.
  %8 = dfg.place %a {starts = #dfg.dims<0, 4>, shape = #dfg.dims<2, 16>} : tensor<2x3xf32>
  %9 = dfg.place %b {starts = #dfg.dims<0, 8>, shape = #dfg.dims<2, 16>} : tensor<2x5xf32>
  %10 = dfg.add %8, %9 : tensor<2x16xf32>, tensor<2x16xf32>
  %11 = dfg.place %a {starts = #dfg.dims<0, 5>, shape = #dfg.dims<2, 16>} : tensor<2x3xf32>
  %12 = dfg.place %b {starts = #dfg.dims<0, 8>, shape = #dfg.dims<2, 16>} : tensor<2x5xf32>
  %13 = dfg.add %11, %12 : tensor<2x16xf32>, tensor<2x16xf32>
  dfg.return %2, %7, %10, %13, %12 : tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>
}
