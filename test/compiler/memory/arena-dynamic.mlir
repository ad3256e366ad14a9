// Offsets are in bytes if every size has a bound, and otherwise in units of a size.
// RUN: tfc-opt --tfc-allocate-arena %s | FileCheck %s

// CHECK-LABEL: dfg.entry @bounded
// CHECK-SAME: rt.arena = #rt.arena<[131072] of <1>>
// CHECK: dfg.launch @next(%{{.*}} {rt.memory = [#rt.slot<0, 0>]
// CHECK: dfg.launch @next(%{{.*}} {rt.memory = [#rt.slot<0, 65536>]
// CHECK-NOT: rt.memory
// CHECK: dfg.return
dfg.entry @bounded(%x: tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
    attributes {symbols = ["n"], bounds = {n = 256 : i64}} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %2 = dfg.launch @sum(%1) {sizes = #dfg.dims<n>, memory = [#dfg.memory<fetch 0>]} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
  dfg.return %2 : tensor<f32>
}

// CHECK-LABEL: dfg.entry @unbounded
// CHECK-SAME: rt.arena = #rt.arena<[64, 512] of <1, n>>
// CHECK: dfg.launch @next(%{{.*}} {rt.memory = [#rt.slot<1, 0>]
// CHECK: dfg.launch @next(%{{.*}} {rt.memory = [#rt.slot<1, 256>]
// CHECK: dfg.launch @next(%{{.*}} {rt.memory = [#rt.slot<1, 0>]
// CHECK: dfg.launch @sum(%{{.*}} {rt.memory = [#rt.slot<0, 0>]
dfg.entry @unbounded(%x: tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
    attributes {symbols = ["n"]} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %2 = dfg.launch @next(%1) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %3 = dfg.launch @sum(%2) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
  %4 = dfg.launch @double(%3) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<f32>) -> tensor<f32>
  dfg.return %4 : tensor<f32>
}

// Small multiples of a size are counted in larger units instead of rounded up.
// CHECK-LABEL: dfg.entry @small
// CHECK-SAME: rt.arena = #rt.arena<[0, 64] of <1, "(n + 15) // 16">>
dfg.entry @small(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
    attributes {symbols = ["n"]} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>, memory = [#dfg.memory<fetch 0>]} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  dfg.return %1 : tensor<?xf32, #dfg.dims<n>>
}

llvm.func @next(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 64, scratch = affine_map<()[s0] -> (0)>>}
llvm.func @next.task(!llvm.ptr, i64, i64)
llvm.func @sum(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (1)>, grain = 1, scratch = affine_map<()[s0] -> (0)>>}
llvm.func @double(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
