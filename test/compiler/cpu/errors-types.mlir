// A kernel takes sizes and tensors that memory can hold, and makes such tensors.
// RUN: tfc-opt --tfc-cpu-codegen --verify-diagnostics --split-input-file %s

// expected-error @+1 {{expected a kernel of sizes and tensors, but got 'tensor<4xcomplex<f32>>'}}
func.func private @element(%x: tensor<4xcomplex<f32>>) attributes {tfc.kernel} {
  return
}

// -----

// expected-error @+1 {{expected a kernel of sizes and tensors, but got 'tensor<*xf32>'}}
func.func private @unranked(%x: tensor<*xf32>) attributes {tfc.kernel} {
  return
}

// -----

// expected-error @+1 {{expected a kernel of sizes and tensors, but got 'index'}}
func.func private @order(%x: tensor<4xf32>, %n: index) attributes {tfc.kernel} {
  return
}

// -----

// expected-error @+1 {{expected a kernel of sizes and tensors, but got 'f32'}}
func.func private @scalar() -> f32 attributes {tfc.kernel} {
  %c = arith.constant 1.0 : f32
  return %c : f32
}

// -----

func.func private @inside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tfc.kernel} {
  // expected-error @+1 {{has no code generator for the CPU for 'tensor<4xcomplex<f32>>' [not-yet]}}
  %y = tensor.empty() : tensor<4xcomplex<f32>>
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a kernel that returns}}
func.func private @end(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tfc.kernel} {
  ub.unreachable
}
