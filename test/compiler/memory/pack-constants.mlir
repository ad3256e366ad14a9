// Panels of columns follow each other; in a panel the steps, the outermost first, and in a step the columns. In a
// group of steps, those of each column.
// RUN: tfc-opt --tfc-pack-constants %s | FileCheck %s

kernel.func @rows(%w: tensor<2x3xi32> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [3, 2], strides = [1, 3]>})
    -> tensor<2x3xi32> {
  kernel.return %w : tensor<2x3xi32>
}
kernel.func @columns(%w: tensor<2x3xi32> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [2, 3], strides = [3, 1]>})
    -> tensor<2x3xi32> {
  kernel.return %w : tensor<2x3xi32>
}
kernel.func @loops(%w: tensor<2x2x3xi8> {kernel.constant, kernel.packing = #kernel.packing<columns = 1, sizes = [2, 3, 2], strides = [3, 1, 6]>})
    -> tensor<2x2x3xi8> {
  kernel.return %w : tensor<2x2x3xi8>
}
kernel.func @groups(%w: tensor<5x3xi8> {kernel.constant, kernel.packing = #kernel.packing<columns = 2, sizes = [3, 5], strides = [1, 3], group = 2>})
    -> tensor<5x3xi8> {
  kernel.return %w : tensor<5x3xi8>
}

// CHECK: dfg.constant dense<{{\[\[}}1, 2, 4], [5, 3, 6]]> : tensor<2x3xi32>
// CHECK: dfg.constant dense<{{\[\[}}1, 4, 2], [5, 3, 6]]> : tensor<2x3xi32>
// CHECK: dfg.constant dense<{{\[\[\[}}1, 7, 2], [8, 3, 9]], {{\[\[}}4, 10, 5], [11, 6, 12]]]> : tensor<2x2x3xi8>
// CHECK: dfg.constant dense<{{\[\[}}1, 4, 2], [5, 7, 10], [8, 11, 13], [14, 3, 6], [9, 12, 15]]> : tensor<5x3xi8>
// CHECK: dfg.constant dense<7> : tensor<2x3xi32>
// CHECK: dfg.constant dense_resource<[[NAME:.*]]> : tensor<2x3xi32>
dfg.entry @f() -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2x3xi8>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<5x3xi8>) {
  %a = dfg.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = dfg.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = dfg.constant dense<[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]> : tensor<2x2x3xi8>
  %g = dfg.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], [13, 14, 15]]> : tensor<5x3xi8>
  %d = dfg.constant dense<7> : tensor<2x3xi32>
  %e = dfg.constant dense_resource<numbers> : tensor<2x3xi32>
  %0 = dfg.launch @rows(%a) {sizes = #dfg.dims<>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = dfg.launch @columns(%b) {sizes = #dfg.dims<>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = dfg.launch @loops(%c) {sizes = #dfg.dims<>} : (tensor<2x2x3xi8>) -> tensor<2x2x3xi8>
  %3 = dfg.launch @rows(%d) {sizes = #dfg.dims<>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = dfg.launch @columns(%e) {sizes = #dfg.dims<>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = dfg.launch @groups(%g) {sizes = #dfg.dims<>} : (tensor<5x3xi8>) -> tensor<5x3xi8>
  dfg.return %0, %1, %2, %3, %4, %5 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2x3xi8>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<5x3xi8>
}

// CHECK: [[NAME]]: "0x{{[0-9]+}}010000000400000002000000050000000300000006000000"
{-#
  dialect_resources: {
    builtin: {
      numbers: "0x04000000010000000200000003000000040000000500000006000000"
    }
  }
#-}
