// The run function launches kernels with sizes, pointers and scratch memory, and with a grain for
// the runtime's threads if there can be more than one unit of work.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

// CHECK: llvm.func @tfc_entry_0_run(%[[FRAME:.*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[SYMBOLS:.*]] = rt.field %[[FRAME]][symbols]
// CHECK-DAG: %[[N:.*]] = rt.element %[[SYMBOLS]][0] : i64
// CHECK-DAG: %[[FEEDS:.*]] = rt.field %[[FRAME]][feeds]
// CHECK-DAG: %[[X:.*]] = rt.element %[[FEEDS]][0] : !llvm.ptr
// CHECK-DAG: %[[FETCHES:.*]] = rt.field %[[FRAME]][fetches]
// CHECK-DAG: %[[FETCH:.*]] = rt.element %[[FETCHES]][0] : !llvm.ptr
// CHECK: rt.launch %[[FRAME]], @many(%[[N]], %[[X]], %[[MADE:.*]], %{{.*}}) over %[[N]] grain 4096
// CHECK: %[[NONE:.*]] = llvm.mlir.zero
// CHECK: rt.launch %[[FRAME]], @one(%[[MADE]], %[[FETCH]], %[[NONE]]) over %{{[^ ]*}} :
// CHECK: llvm.return
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<f32> attributes {symbols = ["n"]} {
  %0 = dfg.launch @many(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<4xf32>
  %1 = dfg.launch @one(%0) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<4xf32>) -> tensor<f32>
  dfg.return %1 : tensor<f32>
}

llvm.func @many(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (s0)>, grain = 4096, scratch = affine_map<()[s0] -> (s0 * 4)>>}
llvm.func @many.task(!llvm.ptr, i64, i64)
llvm.func @one(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
