// Several updates of one variable write to its memory: readers of an intermediate value run before
// the next update.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

dfg.variable @w : tensor<64xf32>

// CHECK-LABEL: dfg.entry @twice
// CHECK: %[[ONE:.*]] = dfg.launch @update_inplace(
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
// CHECK: dfg.launch @loss(%[[ONE]])
// CHECK: dfg.launch @update_inplace(%[[ONE]],
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @twice(%g: tensor<64xf32>) -> (tensor<f32>) {
  %w = dfg.read @w : tensor<64xf32>
  %1 = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @update(%1, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %loss = dfg.launch @loss(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<f32>
  %0 = dfg.assign @w, %2 : tensor<64xf32>
  dfg.return %loss : tensor<f32>
}

// An update on which a check depends must not change the variable.
// CHECK-LABEL: dfg.entry @checked
// CHECK: %[[ONE:.*]] = dfg.launch @update(
// CHECK-SAME: memory = [#dfg.memory<arena>]
// CHECK: dfg.check
// CHECK: dfg.launch @update(%[[ONE]],
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @checked(%g: tensor<64xf32>) {
  %w = dfg.read @w : tensor<64xf32>
  %1 = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %ok = dfg.launch @isSmall(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<i1>
  dfg.check %ok, "too large" : tensor<i1>
  %2 = dfg.launch @update(%1, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %0 = dfg.assign @w, %2 : tensor<64xf32>
  dfg.return
}

// The value on the way is a result of the call.
// CHECK-LABEL: dfg.entry @shown
// CHECK: dfg.launch @update(
// CHECK-SAME: memory = [#dfg.memory<fetch 0>]
// CHECK: dfg.launch @update(
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @shown(%g: tensor<64xf32>) -> (tensor<64xf32>) {
  %w = dfg.read @w : tensor<64xf32>
  %1 = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @update(%1, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %0 = dfg.assign @w, %2 : tensor<64xf32>
  dfg.return %1 : tensor<64xf32>
}

// The second update reads the old value too.
// CHECK-LABEL: dfg.entry @old
// CHECK: dfg.launch @update(
// CHECK-SAME: memory = [#dfg.memory<arena>]
// CHECK: dfg.launch @update_inplace(
// CHECK-SAME: memory = [#dfg.memory<variable @w>]
dfg.entry @old(%g: tensor<64xf32>) {
  %w = dfg.read @w : tensor<64xf32>
  %1 = dfg.launch @update(%w, %g) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @update(%w, %1) {sizes = #dfg.dims<>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %0 = dfg.assign @w, %2 : tensor<64xf32>
  dfg.return
}

kernel.func @update(tensor<64xf32>, tensor<64xf32>)
    -> (tensor<64xf32> {kernel.may_share = array<i32: 0>})
kernel.func @loss(tensor<64xf32>) -> (tensor<f32> {kernel.may_share = array<i32>})
kernel.func @isSmall(tensor<64xf32>) -> (tensor<i1> {kernel.may_share = array<i32>})
