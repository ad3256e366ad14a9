// A launch passes the sizes of its operands and results to its kernel.

// RUN: not tfc compile --start-after=fusion %s -o %t.so 2>&1 | FileCheck %s
// CHECK: launch-sizes.mlir:8:8: error: 'dfg.launch' op expects 'tensor<7000000x4xf32>' as operand 0 of @double, but got 'tensor<?x4xf32, #dfg.dims<n, 4>>'

dfg.entry @f(%x: tensor<?x4xf32, #dfg.dims<n, 4>>) -> tensor<?x4xf32, #dfg.dims<n, 4>>
    attributes {symbols = ["n"]} {
  %y = dfg.launch @double(%x) {sizes = #dfg.dims<7000000>} : (tensor<?x4xf32, #dfg.dims<n, 4>>) -> tensor<?x4xf32, #dfg.dims<n, 4>>
  dfg.return %y : tensor<?x4xf32, #dfg.dims<n, 4>>
}
dfg.kernel @double(%x: tensor<?x4xf32, #dfg.dims<d0, 4>>) -> tensor<?x4xf32, #dfg.dims<d0, 4>>
    attributes {symbols = ["d0"]} {
  %y = dfg.add %x, %x : tensor<?x4xf32, #dfg.dims<d0, 4>>, tensor<?x4xf32, #dfg.dims<d0, 4>>
  dfg.return %y : tensor<?x4xf32, #dfg.dims<d0, 4>>
}
