// Bounds may allow sizes for which the values of a call do not fit in memory.
// RUN: tfc-opt --tfc-allocate-arena --verify-diagnostics %s

// expected-error @+1 {{the values of 'f' do not fit in memory for the largest sizes that its bounds allow [too-large]}}
dfg.entry @f(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<f32>
    attributes {symbols = ["n"], bounds = {n = 4611686018427387904 : i64}} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<n>} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.launch @sum(%0) {sizes = #dfg.dims<n>, memory = [#dfg.memory<fetch 0>]} : (tensor<?xf32, #dfg.dims<n>>) -> tensor<f32>
  dfg.return %1 : tensor<f32>
}

llvm.func @next(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<()[n] -> (1)>, grain = 1, scratch = affine_map<()[n] -> (0)>>}
llvm.func @sum(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<()[n] -> (1)>, grain = 1, scratch = affine_map<()[n] -> (0)>>}
