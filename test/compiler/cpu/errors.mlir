// Kernels that are not in linalg form are reported, not compiled into something else.
// RUN: tfc-opt --tfc-cpu-codegen --split-input-file --verify-diagnostics %s -o /dev/null

// expected-error @+1 {{a tensor's shape is not known from the kernel's sizes}}
func.func private @unknown_shape(%x: tensor<?xf32>) -> (tensor<?xf32>) attributes {tfc.kernel} {
  return %x : tensor<?xf32>
}

// -----

func.func private @slice(%x: tensor<8xf32>) -> (tensor<4xf32>) attributes {tfc.kernel} {
  // expected-error @+1 {{this tensor has no code generator for the CPU}}
  %0 = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @sort(%x: tensor<8xf32>) -> (tensor<8xi64>) attributes {tfc.kernel} {
  %p = tensor.empty() : tensor<8xi64>
  %k = tensor.empty() : tensor<16xf32>
  %o = tensor.empty() : tensor<16xi64>
  %c = tensor.empty() : tensor<1024xi64>
  // expected-error @+1 {{expected keys of integers of whole bytes}}
  %0:4 = linalg_ext.sort %x along 0 into %p, %k, %o, %c
      : tensor<8xf32> -> tensor<8xi64>, tensor<16xf32>, tensor<16xi64>, tensor<1024xi64>
  return %0#0 : tensor<8xi64>
}
