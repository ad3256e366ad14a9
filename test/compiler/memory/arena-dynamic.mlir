// Offsets are constants where every size has a bound, else functions of the sizes; a size that cannot
// be counted gives -1.
// RUN: tfc-opt --tfc-emit-host=report %s 2>&1 | FileCheck %s

// CHECK-DAG: bounded: arena of 131072 bytes
// CHECK-DAG: unbounded: arena of 512 * n + 64 bytes
// Small multiples of a size are counted in larger units instead of rounded up.
// CHECK-DAG: small: arena of 64 * ((n + 15) // 16) bytes

dfg.entry @bounded(%x: tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
    attributes {symbols = ["n"], bounds = {n = 256 : i64}} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %2 = dfg.launch @sum(%1) {sizes = #dfg.dims<n>, tfc.places = [{fetch = 0 : i32}]} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
  dfg.return %2 : tensor<f32>
}

dfg.entry @unbounded(%x: tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
    attributes {symbols = ["n"]} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %2 = dfg.launch @next(%1) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<?x64xf32, #dfg.dims<n, 64>>
  %3 = dfg.launch @sum(%2) {sizes = #dfg.dims<n>} : (tensor<?x64xf32, #dfg.dims<n, 64>>) -> tensor<f32>
  %4 = dfg.launch @double(%3) {sizes = #dfg.dims<>, tfc.places = [{fetch = 0 : i32}]} : (tensor<f32>) -> tensor<f32>
  dfg.return %4 : tensor<f32>
}

dfg.entry @small(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
    attributes {symbols = ["n"]} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<n>, tfc.places = [{fetch = 0 : i32}]} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  dfg.return %1 : tensor<?xf32, #dfg.dims<n>>
}

// CHECK-LABEL: llvm.func @tfc_entry_0_arena
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(131072 : i64)
// CHECK-NEXT: llvm.return %[[BYTES]]
// CHECK-LABEL: llvm.func @tfc_entry_1_arena
// CHECK: llvm.intr.smax
// CHECK: "llvm.intr.smul.with.overflow"
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: llvm.select %{{.*}}, %[[NONE]]

llvm.func @next(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<()[s0] -> (s0)>, tfc.grain = 64 : i64, tfc.scratch = affine_map<()[s0] -> (0)>}
llvm.func @next.task(!llvm.ptr, i64, i64)
llvm.func @sum(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<()[s0] -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<()[s0] -> (0)>}
llvm.func @double(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<() -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<() -> (0)>}
