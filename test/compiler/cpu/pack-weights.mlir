// A constant factor gets the order of the tiles that read it, and these then read consecutive memory.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-pack-weights %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-pack-weights %s | FileCheck %s --check-prefix=AVX2
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: kernel.func @product(
// CHECK-SAME: %{{.*}}: tensor<128x300xf32>, %{{.*}}: tensor<300x200xf32> {kernel.constant, kernel.packing = #kernel.packing<columns = {{[0-9]+}}, sizes = [200, 300], strides = [1, 200]>})
// AVX2-LABEL: kernel.func @product(
// AVX2-SAME: kernel.packing = #kernel.packing<columns = {{[0-9]+}}, sizes = [200, 300], strides = [1, 200]>
// CODE-LABEL: llvm.func hidden @product(
// CODE-NOT: llvm.alloca
// CODE: llvm.intr.fma
// CODE: llvm.return
kernel.func @product(%x: tensor<128x300xf32>, %w: tensor<300x200xf32> {kernel.constant}) -> tensor<128x200xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<128x200xf32>) -> tensor<128x200xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x300xf32>, tensor<300x200xf32>) outs(%i : tensor<128x200xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<128x200xf32>
  kernel.return %p : tensor<128x200xf32>
}

// The kernel reads the factor twice.
// CHECK-LABEL: kernel.func @square(
// CHECK-NOT: kernel.packing
kernel.func @square(%w: tensor<64x64xf32> {kernel.constant}) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  kernel.return %p : tensor<64x64xf32>
}
