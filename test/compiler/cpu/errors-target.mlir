// A kernel needs a target that its module describes.
// RUN: tfc-opt --tfc-cpu-codegen --verify-diagnostics %s

// expected-error @+1 {{'kernel.func' op expects its module to describe its target}}
kernel.func @nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  kernel.return %x : tensor<4xf32>
}
