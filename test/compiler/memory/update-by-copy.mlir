// A new value that is made while the old one is still read stays in the arena and is copied at the
// end.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @v : tensor<64x64xf32>
dfg.variable @w : tensor<64x64xf32>

// CHECK-LABEL: dfg.entry @square
// CHECK: dfg.launch @product
// CHECK-SAME: tfc.places = [unit]
dfg.entry @square() {
  %w = dfg.read @w : tensor<64x64xf32>
  %new = dfg.launch @product(%w, %w) {sizes = #dfg.dims<>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = dfg.assign @w, %new : tensor<64x64xf32>
  dfg.return
}

// The old value of @v is read by what needs its new one.
// CHECK-LABEL: dfg.entry @both
// CHECK: dfg.launch @next
// CHECK-SAME: tfc.places = [unit]
// CHECK: dfg.launch @product
// CHECK-SAME: tfc.places = [@w]
dfg.entry @both(%x: tensor<64x64xf32>) {
  %v = dfg.read @v : tensor<64x64xf32>
  %new = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = dfg.launch @product(%v, %new) {sizes = #dfg.dims<>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = dfg.assign @v, %new : tensor<64x64xf32>
  %1 = dfg.assign @w, %p : tensor<64x64xf32>
  dfg.return
}

// CHECK: func.func private @product
// CHECK-NOT: tfc.inplace
func.func private @product(tensor<64x64xf32>, tensor<64x64xf32>)
    -> (tensor<64x64xf32> {tfc.may_share = []}) attributes {tfc.kernel}
func.func private @next(tensor<64x64xf32>)
    -> (tensor<64x64xf32> {tfc.may_share = [0 : i32]}) attributes {tfc.kernel}
