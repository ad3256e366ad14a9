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
