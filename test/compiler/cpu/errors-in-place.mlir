// A result in the memory of an operand that is read after it was overwritten is an error.
// RUN: tfc-opt --tfc-attach-target --tfc-prepare-kernels --tfc-cpu-codegen --verify-diagnostics %s

// expected-error @+1 {{'kernel.func' op cannot write result 0 over tensor argument 0, which it reads later}}
kernel.func @reverse(%x: tensor<8xf32>) -> (tensor<8xf32> {kernel.in_place = 0 : i32}) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (7 - d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}
