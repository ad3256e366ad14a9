// Facts about sizes are checked before anything runs, data at the position of their check.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK: arith.remsi
// CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %{{.*}}, %c0_i64{{.*}} : i64
// CHECK-NEXT: rt.check %{{.*}}, %[[HOLDS]] else invalid_argument "n %% 4 == 0 does not hold: n is %lld"(%{{.*}})
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: rt.check %{{.*}} else out_of_range "gather: an index is out of range"
// CHECK: rt.check %{{.*}} else failed_precondition "ensure: 100%% other sizes"
// CHECK: rt.launch %{{.*}}, @next
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>, %ok: tensor<i1>) -> tensor<?xf32, #dfg.dims<n>>
    attributes {symbols = ["n"], where = [#dfg.fact<"n % 4 == 0">]} {
  dfg.check %ok, "gather: an index is out of range" : tensor<i1>
  dfg.check %ok, "ensure: 100% other sizes", failed_precondition : tensor<i1>
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>, memory = [#dfg.memory<fetch 0>]} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  dfg.return %0 : tensor<?xf32, #dfg.dims<n>>
}

llvm.func @next(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {kernel.abi = #kernel.abi<extent = affine_map<()[s0] -> (1)>, grain = 1, scratch = affine_map<()[s0] -> (0)>>}
