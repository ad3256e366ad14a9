// Host code launches kernels whose PTX is written by hand: on variables, constants and messages that
// are in memory of the device. An error of a kernel is that of the call.
// REQUIRES: tfc
// RUN: tfc compile --start-after=kernels %s -o %t.so
// RUN: tfc run %t.so --entry add --feed 'x=[1, 2, 3, 4, 5]' | FileCheck %s
// RUN: not tfc run %t.so --entry broken 2>&1 | FileCheck %s --check-prefix=BROKEN

// CHECK: [2 4 6 8 6]
// BROKEN: emulated device: outside_0, thread 0 of block 0, line 5: 4 bytes at {{.*}} are in no allocation
// BROKEN: tfc: error: broken: the GPU has failed in kernel 'outside_0': unspecified launch failure (719)
#gpu = #dfg.device<"/job:local/task:0/device:gpu:0">
#target = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "", layout = "", l1 = 32768, l2 = 1048576>
module @image attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #gpu], kernel.targets = {gpu = #target}} {
  dfg.variable @w : tensor<4xf32> {dfg.device = #gpu}

  dfg.entry @add(%x: tensor<?xf32, #dfg.dims<n>> {dfg.name = "x"}) -> (tensor<?xf32, #dfg.dims<n>> {dfg.name = "y"})
      attributes {symbols = ["n"], partitions = [@add.1], slots = [#dfg.slot<0 to 1>, #dfg.slot<1 to 0>]} {
    dfg.send %x to slot 0 : tensor<?xf32, #dfg.dims<n>>
    %0 = dfg.receive slot 1 : tensor<?xf32, #dfg.dims<n>>
    dfg.return %0 : tensor<?xf32, #dfg.dims<n>>
  }
  dfg.entry @add.1() attributes {device = #gpu, partition_of = @add, symbols = ["n"]} {
    %w = dfg.read @w : tensor<4xf32>
    %0 = dfg.receive slot 0 copied : tensor<?xf32, #dfg.dims<n>>
    %1 = dfg.launch @add_w(%0, %w) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>, tensor<4xf32>) -> tensor<?xf32, #dfg.dims<n>>
    dfg.send %1 to slot 1 : tensor<?xf32, #dfg.dims<n>>
    dfg.return
  }

  dfg.entry @broken() -> (tensor<4xf32> {dfg.name = "y"})
      attributes {partitions = [@broken.1], slots = [#dfg.slot<1 to 0>]} {
    %0 = dfg.receive slot 0 : tensor<4xf32>
    dfg.return %0 : tensor<4xf32>
  }
  dfg.entry @broken.1() attributes {device = #gpu, partition_of = @broken} {
    %0 = dfg.launch @outside() {sizes = #dfg.dims<>} : () -> tensor<4xf32>
    dfg.send %0 to slot 0 : tensor<4xf32>
    dfg.return
  }

  dfg.entry @tfc.init() attributes {initializer, partitions = [@tfc.init.1], slots = []} {
    dfg.return
  }
  dfg.entry @tfc.init.1() attributes {device = #gpu, partition_of = @tfc.init} {
    %c = dfg.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = dfg.assign @w, %c : tensor<4xf32>
    dfg.return
  }

  llvm.func @add_w(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes
      {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 1, scratch = affine_map<()[s0] -> (0)>, target = "gpu",
       grids = [<"add_w_0", threads = affine_map<()[s0] -> (s0)>, block = 64>]>}
  llvm.func @outside(!llvm.ptr, !llvm.ptr) attributes
      {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>, target = "gpu",
       grids = [<"outside_0", threads = affine_map<() -> (1)>, block = 32>]>}
  kernel.image for "gpu" code ".version 7.0\0A.target sm_80\0A.address_size 64\0A.visible .entry add_w_0(.param .u64 n, .param .u64 x, .param .u64 w, .param .u64 out, .param .u64 scratch) { .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a<9>; .reg .f32 %f<3>; ld.param.u64 %a0, [n]; ld.param.u64 %a1, [x]; ld.param.u64 %a2, [w]; ld.param.u64 %a3, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2; cvt.u64.u32 %a4, %r3; setp.ge.s64 %p, %a4, %a0; @%p ret; and.b64 %a5, %a4, 3; shl.b64 %a4, %a4, 2; shl.b64 %a5, %a5, 2; add.s64 %a6, %a1, %a4; add.s64 %a7, %a2, %a5; add.s64 %a8, %a3, %a4; ld.global.f32 %f0, [%a6]; ld.global.f32 %f1, [%a7]; add.rn.f32 %f2, %f0, %f1; st.global.f32 [%a8], %f2; ret; }\0A.visible .entry outside_0(.param .u64 y, .param .u64 scratch) { .reg .b64 %a<2>; .reg .f32 %f; ld.param.u64 %a0, [y]; mov.u64 %a1, 1099511627776; add.s64 %a0, %a0, %a1; mov.f32 %f, 0f00000000; st.global.f32 [%a0], %f; ret; }"
}
