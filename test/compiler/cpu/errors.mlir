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

func.func private @sort(%x: tensor<8xf32>) -> (tensor<8xf32>) attributes {tfc.kernel} {
  // expected-error @+1 {{expected a dimension below the rank 1}}
  %0 = linalg_ext.sort %x along 1 : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    linalg_ext.yield %c : i1
  }
  return %0 : tensor<8xf32>
}
