// A product of few rows reads a large factor whose rows are sums one row after the other, with several sums for each; rows
// that a cache holds are read side by side.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

#map = affine_map<(m, n, k) -> (m, k)>
#map1 = affine_map<(m, n, k) -> (n, k)>
#map2 = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: llvm.func hidden @large(
// CHECK: scf.for {{.*}} {
// CHECK: %[[SUMS:.*]]:4 = scf.for
// CHECK: arith.addf %[[SUMS]]#0, %[[SUMS]]#1
// CHECK: llvm.store
kernel.func @large(%x: tensor<1x256xf32>, %w: tensor<4096x256xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %p = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x256xf32>, tensor<4096x256xf32>) outs(%i : tensor<1x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x4096xf32>
  kernel.return %p : tensor<1x4096xf32>
}

// CHECK-LABEL: llvm.func hidden @small(
// CHECK: %{{.*}}:16 = scf.for
kernel.func @small(%x: tensor<1x64xf32>, %w: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %p = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) outs(%i : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x64xf32>
  kernel.return %p : tensor<1x64xf32>
}
