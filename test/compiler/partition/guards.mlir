// Each device checks the sizes that it uses: its accesses are inside of its memory without a wait for the checks of
// others. Checks of data stay on one device.
// RUN: tfc-opt %s --tfc-partition | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
// CHECK-LABEL: dfg.entry @f
// CHECK: dfg.check {{.*}}, "k is too large" {numbers = array<i32: 1>}
// CHECK: dfg.check {{.*}}, "data" {numbers = array<i32: 2>}
// CHECK: dfg.commit

// CHECK-LABEL: dfg.entry @f.1
// CHECK: dfg.bind_size %[[COUNT:.*]] {
// CHECK: %[[HOLDS:.*]] = dfg.less_equal %[[COUNT]], %{{.*}}
// CHECK: dfg.check %[[HOLDS]], "k is too large" {numbers = array<i32: 1>}
// CHECK-NOT: "data"
// CHECK: dfg.neg
dfg.entry @f(%count: tensor<i32>, %p: tensor<i1>, %x: tensor<f32>) -> tensor<?xf32, #dfg.dims<k>> {
  %most = dfg.constant dense<8> : tensor<i32>
  %holds = dfg.less_equal %count, %most : tensor<i32>, tensor<i32>
  dfg.check %holds, "k is too large" : tensor<i1>
  dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i32>
  dfg.check %p, "data" : tensor<i1>
  %1 = dfg.exp %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<f32>
  %2 = dfg.broadcast %1 {shape = #dfg.dims<k>} : tensor<f32>
  %3 = dfg.neg %2 {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<?xf32, #dfg.dims<k>>
  dfg.return %3 : tensor<?xf32, #dfg.dims<k>>
}
}
