// A launch whose sizes are checked waits for the check, also when the check waits for another one.
// RUN: tfc-opt --tfc-plan-memory %s | FileCheck %s

// CHECK-LABEL: dfg.entry @f
// CHECK: dfg.check {{.*}}, "data"
// CHECK: dfg.check {{.*}}, "k is too large"
// CHECK: dfg.launch @small
dfg.entry @f(%x: tensor<4096xf32>, %count: tensor<i32>) -> tensor<?xf32, #dfg.dims<k>> attributes {symbols = ["k"]} {
  %most = dfg.constant dense<8> : tensor<i32>
  %large = dfg.launch @large(%x) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<4096xf32>
  %valid = dfg.launch @valid(%large) {sizes = #dfg.dims<>} : (tensor<4096xf32>) -> tensor<i1>
  dfg.check %valid, "data" : tensor<i1>
  %holds = dfg.less_equal %count, %most {dfg.in_register} : tensor<i32>, tensor<i32>
  dfg.check %holds, "k is too large" : tensor<i1>
  dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i32>
  %y = dfg.launch @small(%x) {sizes = #dfg.dims<k>} : (tensor<4096xf32>) -> tensor<?xf32, #dfg.dims<k>>
  dfg.return %y : tensor<?xf32, #dfg.dims<k>>
}

kernel.func @large(tensor<4096xf32>) -> (tensor<4096xf32> {kernel.may_share = array<i32: 0>})
kernel.func @valid(tensor<4096xf32>) -> (tensor<i1> {kernel.may_share = array<i32>})
kernel.func @small(index, tensor<4096xf32>) -> (tensor<?xf32> {kernel.may_share = array<i32>})
