// A result takes the memory of an operand that is read for the last time, in all launches of a
// kernel or in none.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

// CHECK-LABEL: dfg.entry @agree
// CHECK: dfg.launch @first({{.*}}tfc.places = [unit]
// CHECK: dfg.launch @next({{.*}}tfc.places = [{operand = 0 : i32}]
// CHECK: dfg.launch @next({{.*}}tfc.places = [{operand = 0 : i32}]
// CHECK: dfg.launch @last({{.*}}tfc.places = [{fetch = 0 : i32}]
dfg.entry @agree(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = dfg.launch @first(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @next(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %3 = dfg.launch @last(%2) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  dfg.return %3 : tensor<64xf32>
}

// The feed is not the model's to overwrite, so @other never writes in place.
// CHECK-LABEL: dfg.entry @disagree
// CHECK: dfg.launch @other({{.*}}tfc.places = [unit]
// CHECK: dfg.launch @other({{.*}}tfc.places = [unit]
dfg.entry @disagree(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = dfg.launch @other(%x) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = dfg.launch @other(%0) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = dfg.launch @last(%1) {sizes = #dfg.dims<>} : (tensor<64xf32>) -> tensor<64xf32>
  dfg.return %2 : tensor<64xf32>
}

// CHECK: @first({{.*}}tfc.may_share = [0 : i32]}
func.func private @first(tensor<64xf32>)
    -> (tensor<64xf32> {tfc.may_share = [0 : i32]}) attributes {tfc.kernel}
// CHECK: @next({{.*}}tfc.inplace = 0 : i32
func.func private @next(tensor<64xf32>)
    -> (tensor<64xf32> {tfc.may_share = [0 : i32]}) attributes {tfc.kernel}
// CHECK: @other({{.*}}-> (tensor<64xf32> {tfc.may_share = [0 : i32]})
func.func private @other(tensor<64xf32>)
    -> (tensor<64xf32> {tfc.may_share = [0 : i32]}) attributes {tfc.kernel}
func.func private @last(tensor<64xf32>)
    -> (tensor<64xf32> {tfc.may_share = []}) attributes {tfc.kernel}
