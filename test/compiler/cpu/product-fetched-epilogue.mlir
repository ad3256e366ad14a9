// Operands that the epilogue of a tile reads from memory are fetched before the tile's products, unless a cache holds them or
// there are too few products to hide that.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#c2 = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: llvm.func hidden @large(
// CHECK: llvm.intr.prefetch
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.return
kernel.func @large(%x: tensor<1024x128xf32>, %w: tensor<128x512xf32>, %r: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x128xf32>, tensor<128x512xf32>) outs(%i : tensor<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1024x512xf32>
  %y = linalg.generic {indexing_maps = [#c2, #c2, #c2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%v: f32, %w0: f32, %o: f32):
    %q = arith.addf %v, %w0 : f32
    linalg.yield %q : f32
  } -> tensor<1024x512xf32>
  kernel.return %y : tensor<1024x512xf32>
}

// CHECK-LABEL: llvm.func hidden @cached(
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @cached(%x: tensor<64x128xf32>, %w: tensor<128x512xf32>, %r: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x128xf32>, tensor<128x512xf32>) outs(%i : tensor<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x512xf32>
  %y = linalg.generic {indexing_maps = [#c2, #c2, #c2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<64x512xf32>, tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%v: f32, %w0: f32, %o: f32):
    %q = arith.addf %v, %w0 : f32
    linalg.yield %q : f32
  } -> tensor<64x512xf32>
  kernel.return %y : tensor<64x512xf32>
}

// CHECK-LABEL: llvm.func hidden @few(
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.return
kernel.func @few(%x: tensor<1024x32xf32>, %w: tensor<32x512xf32>, %r: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x32xf32>, tensor<32x512xf32>) outs(%i : tensor<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1024x512xf32>
  %y = linalg.generic {indexing_maps = [#c2, #c2, #c2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%v: f32, %w0: f32, %o: f32):
    %q = arith.addf %v, %w0 : f32
    linalg.yield %q : f32
  } -> tensor<1024x512xf32>
  kernel.return %y : tensor<1024x512xf32>
}
