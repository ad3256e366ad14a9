// Values that are not alive at the same time share memory: of four values of 4096 bytes two are
// alive at once, and the scratch memory of the last launch reuses that of the first values.
// RUN: tfc-opt --tfc-allocate-arena %s | FileCheck %s

// CHECK: rt.arena = #rt.arena<[8192] of <1>>
// CHECK: rt.memory = [#rt.slot<0, 0>]
// CHECK: rt.memory = [#rt.slot<0, 4096>]
// CHECK: rt.memory = [#rt.slot<0, 0>]
// CHECK: rt.memory = [#rt.slot<0, 4096>]
// CHECK: dfg.launch @last(%{{.*}} {{.*}}rt.scratch = #rt.slot<0, 0>
dfg.entry @chain(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %2 = dfg.reshape %1 {shape = #dfg.dims<32, 32>} : tensor<1024xf32>
  %3 = dfg.reshape %2 {shape = #dfg.dims<1024>} : tensor<32x32xf32>
  %4 = dfg.launch @next(%3) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %5 = dfg.launch @next(%4) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %6 = dfg.launch @last(%5) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<1024xf32>) -> tensor<1024xf32>
  dfg.return %6 : tensor<1024xf32>
}

llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
llvm.func @last(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (4000)>>}
