// A launch needs a generated kernel that takes its arguments.
// RUN: tfc-opt --tfc-emit-host --split-input-file --verify-diagnostics %s

dfg.entry @run(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects @next to be a generated kernel}}
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
func.func private @next(tensor<4xf32>) -> tensor<4xf32>

// -----

dfg.entry @run(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects @next to take 5 arguments, but it takes 4}}
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
llvm.func @next(!llvm.ptr, !llvm.ptr, i64, i64) attributes {tfc.extent = affine_map<() -> (1)>}

// -----

// expected-error @below {{expects comparisons of sizes that it declares, but got "n is even"}}
dfg.entry @run(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n is even"]} {
  dfg.return
}
