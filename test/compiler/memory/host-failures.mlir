// Facts about sizes are checked before anything runs, data where the check stands; a failing call
// returns the status that tfc_rt_fail returns.
// RUN: tfc-opt --tfc-emit-host %s | FileCheck %s

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK: llvm.icmp "eq"
// CHECK: llvm.cond_br %{{.*}} weights([1048576, 1]), ^[[GO:.*]], ^[[FAIL:.*]]
// CHECK: ^[[FAIL]]:
// CHECK: %[[STATUS:.*]] = llvm.call @tfc_rt_fail
// CHECK: llvm.return %[[STATUS]] : i32
// CHECK: ^[[GO]]:
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: llvm.cond_br
// CHECK: llvm.mlir.constant(2 : i32)
// CHECK: llvm.call @tfc_rt_fail
// CHECK: llvm.mlir.constant(4 : i32)
// CHECK: llvm.call @tfc_rt_fail
// CHECK: llvm.call @next
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>, %ok: tensor<i1>) -> tensor<?xf32, #dfg.dims<n>>
    attributes {symbols = ["n"], where = ["n % 4 == 0"]} {
  dfg.check %ok, "gather: an index is out of range" : tensor<i1>
  dfg.check %ok, "ensure: other sizes", failed_precondition : tensor<i1>
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>, tfc.places = [{fetch = 0 : i32}]} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  dfg.return %0 : tensor<?xf32, #dfg.dims<n>>
}

// CHECK: "n %% 4 == 0 does not hold: n is %lld\00"
// CHECK: "gather: an index is out of range\00"
llvm.func @next(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<()[s0] -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<()[s0] -> (0)>}
