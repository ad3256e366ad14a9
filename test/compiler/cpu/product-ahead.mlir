// Tiles that read a panel of a packed constant fetch the panel that follows in memory into the second-level cache, each a
// part of it. The last panel has none that follows.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @product(
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: arith.select %[[LAST]]
// CHECK: scf.for
// CHECK: arith.shrui
// CHECK: llvm.intr.prefetch{{.*}}hint = 2
// CHECK: llvm.intr.fma
kernel.func @product(%x: tensor<128x64xf32>, %w: tensor<64x256xf32> {kernel.constant,
      kernel.packing = #kernel.packing<columns = 32, sizes = [256, 64], strides = [1, 256]>})
    -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x64xf32>, tensor<64x256xf32>) outs(%i : tensor<128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  kernel.return %p : tensor<128x256xf32>
}
