// A product over windows runs in tiles, with one loop over the rows of a window around another over
// its columns and channels, which are contiguous in memory; nothing is copied.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @convolution(
// CHECK-NOT: llvm.alloca
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[REST:.*]] = arith.constant 48 : index
// CHECK: scf.for %{{.*}} to %[[ROWS]]
// CHECK: scf.for %{{.*}} to %[[REST]]
// CHECK-COUNT-8: llvm.intr.fma
// CHECK: llvm.return
kernel.func @convolution(%x: tensor<2x10x34x16xf32>, %w: tensor<3x3x16x32xf32>)
    -> tensor<2x8x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x32x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x32x32xf32>) -> tensor<2x8x32x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(n, y, x, f, i, j, c) -> (n, y + i, x + j, c)>,
                       affine_map<(n, y, x, f, i, j, c) -> (i, j, c, f)>,
                       affine_map<(n, y, x, f, i, j, c) -> (n, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x10x34x16xf32>, tensor<3x3x16x32xf32>) outs(%i : tensor<2x8x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<2x8x32x32xf32>
  kernel.return %p : tensor<2x8x32x32xf32>
}
