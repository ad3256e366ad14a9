// The operations on a list are on one device, and so are the results of loops and branches that are this list.
// RUN: tfc-opt %s --tfc-place | FileCheck %s

// CHECK-LABEL: dfg.entry @list
dfg.entry @list(%n: tensor<i32>, %p: tensor<i1>, %x: tensor<4xf32>) -> tensor<i32> {
  // CHECK: dfg.list_create {{.*}}dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">
  %l = dfg.list_create %n {shape = #dfg.dims<4>, dfg.device = #dfg.device<"/device:cpu:1">} : tensor<i32>
  // CHECK: dfg.homes = [#dfg.device<"/job:local/task:0/device:cpu:1">]
  %m = dfg.if %p : tensor<i1> -> !dfg.list<tensor<4xf32>> {
    // CHECK: dfg.list_write {{.*}}dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">
    %0 = dfg.list_write %l, %n, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    dfg.yield %0 : !dfg.list<tensor<4xf32>>
  } else {
    dfg.yield %l : !dfg.list<tensor<4xf32>>
  }
  // CHECK: dfg.list_size {{.*}}dfg.device = #dfg.device<"/job:local/task:0/device:cpu:1">
  %s = dfg.list_size %m : !dfg.list<tensor<4xf32>>
  dfg.return %s : tensor<i32>
}
