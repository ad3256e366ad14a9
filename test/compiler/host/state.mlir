// Old values of variables that are fetched are copied before anything runs; a swap of two variables
// goes through the arena; a value that is fetched twice is copied once.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host=report %s 2>&1 | FileCheck %s

dfg.variable @v : tensor<4xf32>
dfg.variable @w : tensor<4xf32>

// CHECK-DAG: swap: arena of 128 bytes, 0 launches, 0 results in place, 5 copies, 0 checks
// CHECK-DAG: twice: arena of 0 bytes, 1 launches, 0 results in place, 1 copies, 0 checks
// CHECK-DAG: 2 variables of 32 bytes, weights of 0 bytes

dfg.entry @swap() -> tensor<4xf32> {
  %v = dfg.read @v : tensor<4xf32>
  %w = dfg.read @w : tensor<4xf32>
  %0 = dfg.assign @v, %w : tensor<4xf32>
  %1 = dfg.assign @w, %v : tensor<4xf32>
  dfg.return %v : tensor<4xf32>
}

dfg.entry @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dfg.reshape %0 {shape = #dfg.dims<2, 2>} : tensor<4xf32>
  dfg.return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: llvm.func @tfc_entry_1_run
// CHECK: rt.launch %{{.*}}, @next
// CHECK: "llvm.intr.memcpy"
// CHECK-NOT: dfg.
llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
