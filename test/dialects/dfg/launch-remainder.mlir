// Sizes of a launch are compared by value, because affine expressions write remainders in another form.
// RUN: tfc-opt %s | FileCheck %s

// CHECK: dfg.launch @k
dfg.entry @run(%x: tensor<?xui8, #dfg.dims<"n + -4 * (n // 4)">>) attributes {symbols = ["n"]} {
  dfg.launch @k(%x) {sizes = #dfg.dims<n>} : (tensor<?xui8, #dfg.dims<"n + -4 * (n // 4)">>) -> ()
  dfg.return
}
kernel.func @k(index, tensor<?xi8> {kernel.shape = affine_map<()[s0] -> (s0 mod 4)>})
