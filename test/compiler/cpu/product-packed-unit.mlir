// The rows of all tiles of a unit are packed together if a is contiguous across them, from runs that are fetched ahead. The
// sums of several blocks along k are in memory, and become results row by row.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

#at = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: llvm.func hidden @transposed(
// Blocks along k: panels of b, then the rows of a.
// CHECK: scf.for {{.*}} step %c160
// CHECK: llvm.intr.prefetch
// CHECK: llvm.intr.masked.load
// CHECK: scf.for {{.*}} to %c192{{.*}} step %c12
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.intr.fma
// The results of 192 rows.
// CHECK: scf.for {{.*}} to %c192{{.*}} step %c1
// CHECK: scf.for {{.*}} to %c192{{.*}} step %c16
// CHECK-NOT: scf.for
// CHECK: llvm.return
kernel.func @transposed(%x: tensor<1024x384xf32>, %w: tensor<1024x384xf32>) -> tensor<384x384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384x384xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<384x384xf32>) -> tensor<384x384xf32>
  %p = linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x384xf32>, tensor<1024x384xf32>) outs(%i : tensor<384x384xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<384x384xf32>
  kernel.return %p : tensor<384x384xf32>
}
