// Kernels for a GPU are left to its own code generation.
// RUN: tfc-opt --tfc-prepare-kernels --tfc-cpu-annotate --tfc-cpu-codegen %s | FileCheck %s

module attributes {kernel.targets = {
    cpu = #kernel.target<triple = "x86_64", processor = "x86-64", features = "", layout = "e", l1 = 32768, l2 = 524288>,
    gpu = #kernel.target<triple = "nvptx64-nvidia-cuda", processor = "sm_80", features = "", layout = "e",
                         l1 = 131072, l2 = 41943040>}} {
  // CHECK: llvm.func hidden @on_cpu
  kernel.func @on_cpu(%x: tensor<4xf32>) -> tensor<4xf32> {
    kernel.return %x : tensor<4xf32>
  }
  // CHECK: kernel.func @on_gpu(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {target = "gpu"}
  kernel.func @on_gpu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {target = "gpu"} {
    kernel.return %x : tensor<4xf32>
  }
}
