// A call refuses names for which a tensor is too large. Where no name has many bits that takes one
// comparison; else a function computes each size with a watch for overflows.
// RUN: tfc-opt --tfc-emit-host %s | FileCheck %s

// CHECK-LABEL: llvm.func @tfc_entry_0_run(
// CHECK-DAG: %[[SMALL:.*]] = llvm.mlir.constant(134217728 : i64)
// CHECK: %[[ALL:.*]] = llvm.or %{{.*}}, %{{.*}} : i64
// CHECK: %[[IS_SMALL:.*]] = llvm.icmp "ult" %[[ALL]], %[[SMALL]]
// CHECK: llvm.cond_br %[[IS_SMALL]] weights([1048576, 1]), ^{{.*}}, ^[[SLOW:.*]]
// CHECK: ^[[SLOW]]:
// CHECK: %[[OK:.*]] = llvm.call @tfc_entry_0_run_limits(
// CHECK: llvm.cond_br %[[OK]]
// CHECK: llvm.mlir.constant(6 : i32)
// CHECK: llvm.call @tfc_rt_fail
dfg.entry @outer(%x: tensor<?xf32, #dfg.dims<n>>, %y: tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
    attributes {symbols = ["n", "m"], tfc.limits = #dfg.dims<"4 * m * n">} {
  %0 = dfg.launch @sum(%x, %y) {sizes = #dfg.dims<n, m>, tfc.places = [{fetch = 0 : i32}]} : (tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<m>>) -> tensor<f32>
  dfg.return %0 : tensor<f32>
}

// CHECK-LABEL: llvm.func @tfc_entry_0_run_limits(
// CHECK-SAME: -> i1
// CHECK-SAME: no_inline
// CHECK-COUNT-2: llvm.intr.smul.with.overflow
// CHECK: llvm.icmp "sgt"
// CHECK: llvm.return %{{.*}} : i1

llvm.func @sum(i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {tfc.scratch = affine_map<()[n, m] -> (0)>, tfc.extent = affine_map<()[n, m] -> (1)>, tfc.grain = 1 : i64}
