// A call is refused if its sizes make a tensor too large. If all sizes are small, one comparison
// proves the opposite; otherwise a function computes each byte count with checks for overflow.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

// CHECK-LABEL: llvm.func @tfc_entry_0_run(
// CHECK-DAG: %[[SMALL:.*]] = arith.constant 134217728 : i64
// CHECK: %[[ALL:.*]] = arith.ori %{{.*}}, %{{.*}} : i64
// CHECK: %[[IS_LARGE:.*]] = arith.cmpi uge, %[[ALL]], %[[SMALL]]
// CHECK: scf.if %[[IS_LARGE]] {
// CHECK-NEXT: %[[OK:.*]] = llvm.call @tfc_entry_0_run_limits(
// CHECK-NEXT: rt.check %{{.*}}, %[[OK]] else out_of_memory
// CHECK-NEXT: }
// CHECK-NOT: limits
// CHECK: rt.launch
dfg.entry @outer(%x: tensor<?xf32, #dfg.dims<n>>, %y: tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
    attributes {symbols = ["n", "m"], limits = [#dfg.limit<memory : <"4 * m * n">>]} {
  %0 = dfg.launch @sum(%x, %y) {sizes = #dfg.dims<n, m>, memory = [#dfg.memory<fetch 0>]} : (tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
  dfg.return %0 : tensor<f32>
}

// CHECK-LABEL: llvm.func @tfc_entry_0_run_limits(
// CHECK-SAME: -> i1
// CHECK-SAME: no_inline
// CHECK-SAME: "cold"
// CHECK-COUNT-2: llvm.intr.smul.with.overflow
// CHECK: arith.cmpi sgt
// CHECK: llvm.return %{{.*}} : i1

llvm.func @sum(i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<()[n, m] -> (1)>, grain = 1, scratch = affine_map<()[n, m] -> (0)>>}
