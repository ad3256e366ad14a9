// An argument is marked if all launches pass constants that nothing else reads.
// RUN: tfc-opt --tfc-mark-constants %s | FileCheck %s

// CHECK: kernel.func @product(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x4xf32> {kernel.constant})
kernel.func @product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = tensor.empty() : tensor<2x4xf32>
  kernel.return %y : tensor<2x4xf32>
}
// CHECK: kernel.func @sum(%{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<3x4xf32>)
kernel.func @sum(%x: tensor<3x4xf32>, %w: tensor<3x4xf32>) -> tensor<3x4xf32> {
  kernel.return %x : tensor<3x4xf32>
}
// CHECK: kernel.func @mixed(%{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<3x4xf32> {kernel.constant})
kernel.func @mixed(%x: tensor<3x4xf32>, %w: tensor<3x4xf32>) -> tensor<3x4xf32> {
  kernel.return %x : tensor<3x4xf32>
}

dfg.entry @f(%x: tensor<2x3xf32>, %v: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %a = dfg.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
  %b = dfg.constant dense<2.0> : tensor<3x4xf32>
  %c = dfg.constant dense<3.0> : tensor<3x4xf32>
  %d = dfg.constant dense<4.0> : tensor<3x4xf32>
  %e = dfg.constant dense<5.0> : tensor<3x4xf32>
  %0 = dfg.launch @product(%x, %a) {sizes = #dfg.dims<>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = dfg.launch @product(%x, %b) {sizes = #dfg.dims<>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = dfg.launch @sum(%c, %c) {sizes = #dfg.dims<>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = dfg.launch @mixed(%d, %e) {sizes = #dfg.dims<>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = dfg.launch @mixed(%v, %e) {sizes = #dfg.dims<>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  dfg.return %0, %1, %2, %3, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
