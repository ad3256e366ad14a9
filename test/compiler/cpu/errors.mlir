// Kernels that are not in linalg form are errors, and are not miscompiled.
// RUN: tfc-opt --tfc-attach-target --tfc-prepare-kernels --tfc-cpu-codegen --split-input-file --verify-diagnostics %s -o /dev/null

// expected-error @+1 {{a tensor's shape is not known from the kernel's sizes}}
kernel.func @unknown_shape(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  kernel.return %x : tensor<?xf32>
}

// -----

kernel.func @slice(%x: tensor<8xf32>) -> (tensor<4xf32>) {
  // expected-error @+1 {{this tensor has no code generator}}
  %0 = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  kernel.return %0 : tensor<4xf32>
}

// -----

kernel.func @sort(%x: tensor<8xf32>) -> (tensor<8xi64>) {
  %p = tensor.empty() : tensor<8xi64>
  // expected-error @+1 {{expected integer keys of whole bytes}}
  %0 = linalg_ext.sort %x along 0 into %p : tensor<8xf32> -> tensor<8xi64>
  kernel.return %0 : tensor<8xi64>
}
