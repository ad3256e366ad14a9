// Values that are not alive at the same time share memory: of four values of 4096 bytes two are alive
// at once, and the scratch of the last launch lies where the first ones were.
// RUN: tfc-opt --tfc-emit-host=report %s 2>&1 >/dev/null | FileCheck %s

// CHECK: chain: arena of 8192 bytes, 5 launches, 0 results in place, 0 copies, 0 checks
dfg.entry @chain(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %1 = dfg.launch @next(%0) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %2 = dfg.reshape %1 {shape = #dfg.dims<32, 32>} : tensor<1024xf32>
  %3 = dfg.reshape %2 {shape = #dfg.dims<1024>} : tensor<32x32xf32>
  %4 = dfg.launch @next(%3) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %5 = dfg.launch @next(%4) {sizes = #dfg.dims<>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %6 = dfg.launch @last(%5) {sizes = #dfg.dims<>, tfc.places = [{fetch = 0 : i32}]} : (tensor<1024xf32>) -> tensor<1024xf32>
  dfg.return %6 : tensor<1024xf32>
}

llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<() -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<() -> (0)>}
llvm.func @last(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes
    {tfc.extent = affine_map<() -> (1)>, tfc.grain = 1 : i64, tfc.scratch = affine_map<() -> (4000)>}
