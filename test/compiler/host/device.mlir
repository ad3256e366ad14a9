// The partition of a device with memory of its own launches the grids of its kernels, copies what it
// receives, reads back scalars that steer it, and has copies of constants.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

#gpu = #dfg.device<"/job:local/task:0/device:gpu:0">

// CHECK: module attributes
// CHECK-SAME: rt.copied_constants = [#rt.copied_constant<0, 16 on 1>]
// CHECK-SAME: rt.variable_devices = array<i64: 0, 1>
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #gpu],
    kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "", layout = "", l1 = 32768, l2 = 1048576>}} {
  dfg.variable @v : tensor<4xf32>
  dfg.variable @w : tensor<4xf32> {dfg.device = #gpu}

  // The caller reads the message in memory of the host.
  // CHECK-LABEL: llvm.func @tfc_entry_0_partition0
  // CHECK: rt.send %{{.*}}, slot 0, %{{.*}} : !llvm.ptr
  // CHECK: %[[Y:.*]] = rt.receive %{{.*}}, slot 1 : !llvm.ptr
  // CHECK: "llvm.intr.memcpy"(%{{.*}}, %[[Y]],
  dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
      attributes {symbols = ["n"], partitions = [@run.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<1 to 0>]} {
    dfg.send %x to slot 0 : tensor<?xf32, #dfg.dims<n>>
    %0 = dfg.receive slot 1 : tensor<?xf32, #dfg.dims<n>>
    dfg.return %0 : tensor<?xf32, #dfg.dims<n>>
  }

  // A kernel of two grids, both with its sizes, addresses and scratch memory.
  // CHECK-LABEL: llvm.func @tfc_entry_0_partition1
  // CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr
  // CHECK-DAG: %[[N:.*]] = rt.element %{{.*}}[0] : i64
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[TWICE:.*]] = arith.muli %[[TWO]], %[[N]]
  // CHECK-DAG: %[[C:.*]] = rt.device_constant %[[FRAME]], 0
  // CHECK-DAG: %[[W:.*]] = rt.element %{{.*}}[1] : !llvm.ptr
  // CHECK: %[[X:.*]] = rt.receive %[[FRAME]], slot 0 : !llvm.ptr
  // CHECK: rt.device_upload %[[FRAME]], %[[COPY:.*]], %[[X]], %{{.*}}
  // CHECK: rt.release %[[FRAME]], slot 0
  // CHECK: rt.device_launch %[[FRAME]], grid 0(%[[N]], %[[COPY]], %[[C]], %[[Y:.*]], %[[SCRATCH:.*]]) threads %[[N]]
  // CHECK: rt.device_launch %[[FRAME]], grid 1(%[[N]], %[[COPY]], %[[C]], %[[Y]], %[[SCRATCH]]) threads %[[TWICE]]
  // CHECK: rt.device_launch %[[FRAME]], grid 2(%[[N]], %[[Y]], %[[LAST:.*]], %{{.*}}) threads %{{.*}}
  // The branch depends on what the kernel has computed.
  // CHECK: %[[READ:.*]] = rt.device_read %[[FRAME]], %[[LAST]] : i8
  // CHECK: scf.if
  // CHECK: rt.device_copy
  // CHECK: else
  // CHECK: rt.device_fill
  // CHECK: rt.device_send %[[FRAME]], slot 1, %[[Y]], %{{.*}}
  // CHECK: rt.device_copy %[[FRAME]], %[[W]], %{{.*}}, %{{.*}}
  dfg.entry @run.1() attributes {device = #gpu, partition_of = @run, symbols = ["n"]} {
    %c = dfg.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %zero = dfg.constant dense<0.0> : tensor<4xf32>
    %0 = dfg.receive slot 0 copied : tensor<?xf32, #dfg.dims<n>>
    %1 = dfg.launch @twice(%0, %c) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>, tensor<4xf32>) -> tensor<?xf32, #dfg.dims<n>>
    %2 = dfg.launch @last(%1) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<i1>
    %3 = dfg.if %2 : tensor<i1> -> tensor<4xf32> {
      dfg.yield %c : tensor<4xf32>
    } else {
      dfg.yield %zero : tensor<4xf32>
    }
    dfg.send %1 to slot 1 : tensor<?xf32, #dfg.dims<n>>
    %4 = dfg.assign @w, %3 : tensor<4xf32>
    dfg.return
  }

  llvm.func @twice(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes
      {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 1, scratch = affine_map<()[s0] -> (s0 * 4)>, target = "gpu",
       grids = [<"first", threads = affine_map<()[s0] -> (s0)>, block = 256>, <"second", threads = affine_map<()[s0] -> (s0 * 2)>, block = 128>]>}
  llvm.func @last(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes
      {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 1, scratch = affine_map<()[s0] -> (0)>, target = "gpu",
       grids = [<"last", threads = affine_map<()[s0] -> (1)>, block = 32>]>}
}
