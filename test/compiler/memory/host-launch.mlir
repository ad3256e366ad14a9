// The run function calls kernels with sizes, pointers, scratch and units: directly where there is one
// chunk, through the runtime's threads where there are more.
// RUN: tfc-opt --tfc-emit-host %s | FileCheck %s

// CHECK: llvm.func @tfc_entry_0_run(%[[FRAME:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.alloca %{{.*}} x !llvm.array<4 x i64>
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @many.task
// CHECK: llvm.call @tfc_rt_parallel_for(%[[FRAME]], %[[TASK]], %{{.*}}, %[[N]], %{{.*}})
// CHECK: %[[ZERO:.*]] = llvm.mlir.zero
// CHECK: llvm.call @one(%{{.*}}, %{{.*}}, %[[ZERO]], %{{.*}}, %{{.*}})
// CHECK: llvm.return
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<f32> attributes {symbols = ["n"]} {
  %0 = dfg.launch @many(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<4xf32>
  %1 = dfg.launch @one(%0) {sizes = #dfg.dims<>, tfc.places = [{fetch = 0 : i32}]} : (tensor<4xf32>) -> tensor<f32>
  dfg.return %1 : tensor<f32>
}

llvm.func @many(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<()[s0] -> (s0)>, tfc.grain = 4096 : i64,
     tfc.scratch = affine_map<()[s0] -> (s0 * 4)>}
llvm.func @many.task(!llvm.ptr, i64, i64)
llvm.func @one(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<() -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<() -> (0)>}
