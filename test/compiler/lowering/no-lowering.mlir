// An operation without a lowering is an error at its location, not one of the conversion.
// RUN: tfc-opt --tfc-lower-kernels --verify-diagnostics %s
dfg.kernel @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'softmax' is an operation that this version of tfc cannot compile [not-yet]}}
  %y = dfg.softmax %x {axis = -1 : i64} : tensor<4x8xf32>
  dfg.return %y : tensor<4x8xf32>
}
