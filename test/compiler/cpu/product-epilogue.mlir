// Elementwise consumers of a product are computed before the tile is stored; tails are masked.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @bias_relu(
// CHECK: %[[SUMS:.*]]:16 = scf.for
// CHECK-NOT: llvm.store
// CHECK: %[[SHIFTED:.*]] = arith.addf %[[SUMS]]#0,
// CHECK: %[[POSITIVE:.*]] = arith.maximumf %[[SHIFTED]],
// CHECK: llvm.store %[[POSITIVE]],
// CHECK: llvm.intr.masked.store
// CHECK-NOT: scf.for
// CHECK: llvm.return
kernel.func @bias_relu(%x: tensor<8x64xf32>, %w: tensor<64x20xf32>, %c: tensor<20xf32>)
    -> tensor<8x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x20xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x20xf32>) -> tensor<8x20xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x64xf32>, tensor<64x20xf32>) outs(%i : tensor<8x20xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x20xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                       affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%p, %c : tensor<8x20xf32>, tensor<20xf32>) outs(%e : tensor<8x20xf32>) {
  ^bb0(%v: f32, %b: f32, %o: f32):
    %q = arith.addf %v, %b : f32
    %m = arith.maximumf %q, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x20xf32>
  kernel.return %r : tensor<8x20xf32>
}
