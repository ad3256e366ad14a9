// Element types in memory are integers of whole bytes, booleans and floats; others are errors.
// RUN: tfc-opt --tfc-attach-target --tfc-prepare-kernels --tfc-cpu-codegen --verify-diagnostics --split-input-file %s

// expected-error @+1 {{has no code generator for 'tensor<4xcomplex<f32>>' [not-yet]}}
kernel.func @element(%x: tensor<4xcomplex<f32>>) {
  kernel.return
}

// -----

kernel.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no code generator for 'tensor<4xcomplex<f32>>' [not-yet]}}
  %y = tensor.empty() : tensor<4xcomplex<f32>>
  kernel.return %x : tensor<4xf32>
}
