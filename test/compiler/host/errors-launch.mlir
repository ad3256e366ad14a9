// A launch needs a generated kernel that accepts its arguments.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host --split-input-file --verify-diagnostics %s

dfg.entry @run(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects @next to be a generated kernel}}
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
kernel.func @next(tensor<4xf32>) -> tensor<4xf32>

// -----

dfg.entry @run(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects @next to take 5 arguments, but it takes 4}}
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
llvm.func @next(!llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}

// -----

// expected-error @below {{expected a comparison of sizes, but got 'n is even'}}
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n is even">]} {
  dfg.return
}

// -----

module attributes {kernel.targets = {gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_90", features = "", layout = "", l1 = 32768, l2 = 1048576>}} {
  dfg.entry @run(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expects @next to be for the device of the entry}}
    %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
    dfg.return %0 : tensor<4xf32>
  }
  llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>, target = "gpu">}
}
