// A product keeps a tile of its output in registers, of as many vectors as the processor has registers for.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s --check-prefixes=CHECK,NARROW

// CHECK-LABEL: llvm.func hidden @dense(
// WIDE: %{{.*}}:{{2[0-9]|3[01]}} = scf.for
// NARROW: %{{.*}}:{{1[0-5]}} = scf.for
// WIDE: %[[B:.*]] = llvm.load {{.*}} -> vector<16xf32>
// NARROW: %[[B:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[ELEMENT:.*]] = llvm.load {{.*}} -> f32
// CHECK: %[[A:.*]] = vector.broadcast %[[ELEMENT]]
// CHECK: llvm.intr.fma(%[[A]], %[[B]],
// CHECK: scf.yield
kernel.func @dense(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>)
    -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xf32>, tensor<64x128xf32>) outs(%i : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  kernel.return %p : tensor<64x128xf32>
}
