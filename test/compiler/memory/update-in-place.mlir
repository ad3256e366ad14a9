// A variable is updated in place when its update reads the old value last and may overwrite it;
// launches that read the old value run before, wherever they stand.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @w : tensor<64xf32>

// CHECK-LABEL: dfg.entry @train
// CHECK: dfg.launch @loss
// CHECK-SAME: tfc.places = [{fetch = 0 : i32}]
// CHECK: dfg.launch @update
// CHECK-SAME: tfc.places = [@w]
// CHECK: dfg.assign @w
dfg.entry @train(%g: tensor<64xf32>) -> (tensor<f32>) {
  %w = dfg.read @w : tensor<64xf32>
  %new = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %loss = dfg.launch @loss(%w) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<f32>
  %0 = dfg.assign @w, %new : tensor<64xf32>
  dfg.return %loss : tensor<f32>
}

// CHECK-LABEL: func.func private @update
// CHECK-SAME: tfc.inplace = 0 : i32
func.func private @update(tensor<64xf32>, tensor<64xf32>)
    -> (tensor<64xf32> {tfc.may_share = [0 : i32, 1 : i32]}) attributes {tfc.kernel}
func.func private @loss(tensor<64xf32>) -> (tensor<f32> {tfc.may_share = []})
    attributes {tfc.kernel}
