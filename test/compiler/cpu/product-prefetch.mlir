// The tiles of a unit share the prefetch of the panel after theirs, if the constant exceeds the cache and there are several.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Each tile has a part of it, to which it advances by a fraction of what it reads.
// CHECK-LABEL: llvm.func hidden @many(
// CHECK: %[[READ:.*]] = arith.subi %{{.*}} : i64
// CHECK: arith.shrui %[[READ]],
// CHECK: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @many(%x: tensor<49x512xf32>, %w: tensor<512x1024xf32> {kernel.constant}) -> tensor<49x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<49x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<49x1024xf32>) -> tensor<49x1024xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<49x512xf32>, tensor<512x1024xf32>) outs(%i : tensor<49x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<49x1024xf32>
  kernel.return %p : tensor<49x1024xf32>
}

// CHECK-LABEL: llvm.func hidden @small(
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @small(%x: tensor<49x64xf32>, %w: tensor<64x1024xf32> {kernel.constant}) -> tensor<49x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<49x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<49x1024xf32>) -> tensor<49x1024xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<49x64xf32>, tensor<64x1024xf32>) outs(%i : tensor<49x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<49x1024xf32>
  kernel.return %p : tensor<49x1024xf32>
}

// CHECK-LABEL: llvm.func hidden @one(
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @one(%x: tensor<1x512xf32>, %w: tensor<512x1024xf32> {kernel.constant}) -> tensor<1x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x512xf32>, tensor<512x1024xf32>) outs(%i : tensor<1x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x1024xf32>
  kernel.return %p : tensor<1x1024xf32>
}

// The parts of an unknown number of rows are counted.
// CHECK-LABEL: llvm.func hidden @unknown(
// CHECK: math.ctlz
// CHECK: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @unknown(%n: index, %x: tensor<?x512xf32> {kernel.shape = affine_map<()[s0] -> (s0, 512)>},
    %w: tensor<512x1024xf32> {kernel.constant})
    -> (tensor<?x1024xf32> {kernel.shape = affine_map<()[s0] -> (s0, 1024)>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<512x1024xf32>) outs(%i : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x1024xf32>
  kernel.return %p : tensor<?x1024xf32>
}
