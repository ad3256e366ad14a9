// A new value that is computed while the old one is still needed stays in the arena and is copied
// at the end.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @v : tensor<64x64xf32>
dfg.variable @w : tensor<64x64xf32>

// CHECK-LABEL: dfg.entry @square
// CHECK: dfg.launch @product
// CHECK-SAME: memory = [#dfg.memory<arena>]
dfg.entry @square() {
  %w = dfg.read @w : tensor<64x64xf32>
  %new = dfg.launch @product(%w, %w) {sizes = #dfg.dims<>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = dfg.assign @w, %new : tensor<64x64xf32>
  dfg.return
}

// A launch that reads the new value of @v reads the old one, too.
// CHECK-LABEL: dfg.entry @both
// CHECK: dfg.launch @next
// CHECK-SAME: memory = [#dfg.memory<arena>]
// CHECK: dfg.launch @product
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @both(%x: tensor<64x64xf32>) {
  %v = dfg.read @v : tensor<64x64xf32>
  %new = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = dfg.launch @product(%v, %new) {sizes = #dfg.dims<>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = dfg.assign @v, %new : tensor<64x64xf32>
  %1 = dfg.assign @w, %p : tensor<64x64xf32>
  dfg.return
}

// CHECK: kernel.func @product
// CHECK-NOT: kernel.in_place
kernel.func @product(tensor<64x64xf32>, tensor<64x64xf32>)
    -> (tensor<64x64xf32> {kernel.may_share = array<i32>})
kernel.func @next(tensor<64x64xf32>)
    -> (tensor<64x64xf32> {kernel.may_share = array<i32: 0>})
