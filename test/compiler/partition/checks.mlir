// Partitions with checks or assignments agree on failed checks, in the order of the entry, before
// variables change. Without another partition that is concerned, none waits.
// RUN: tfc-opt %s --tfc-partition | FileCheck %s

module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">,
                                  #dfg.device<"/job:local/task:0/device:cpu:1">]} {
dfg.variable @v : tensor<4xf32> {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">}

// CHECK-LABEL: dfg.entry @f
// CHECK: dfg.check %arg0, "first" {numbers = array<i32: 1>}
// CHECK: dfg.commit

// CHECK-LABEL: dfg.entry @f.1
// CHECK: dfg.check {{.*}}, "second" {numbers = array<i32: 2>}
// CHECK: dfg.commit
// CHECK: dfg.assign @v
dfg.entry @f(%p: tensor<i1>, %x: tensor<4xf32>) -> () {
  dfg.check %p, "first" : tensor<i1>
  %q = dfg.logical_not %p {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<i1>
  dfg.check %q, "second" {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<i1>
  %0 = dfg.assign @v, %x : tensor<4xf32>
  dfg.return
}

// CHECK-LABEL: dfg.entry @alone
// CHECK: dfg.check %arg0, "only" : tensor<i1>
// CHECK-NOT: dfg.commit
// CHECK-LABEL: dfg.entry @alone.1
// CHECK-NOT: dfg.commit
// CHECK: dfg.return
dfg.entry @alone(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  dfg.check %p, "only" : tensor<i1>
  %0 = dfg.neg %x {dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">} : tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
}
