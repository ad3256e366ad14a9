// A product whose second factor comes from memory reads it in long runs. With few rows it is read in place, so many rows of it
// at a time that factors stay in registers, else in copies of blocks of steps for many columns.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver3 --tfc-prepare-kernels --tfc-cpu-codegen --canonicalize %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: llvm.func hidden @few(
// CHECK: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} to %c1024 step %c8 {
// CHECK: scf.for {{.*}} step %c8 {
// CHECK-COUNT-8: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.store
kernel.func @few(%x: tensor<1x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x1024xf32>, tensor<1024x4096xf32>) outs(%i : tensor<1x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x4096xf32>
  kernel.return %p : tensor<1x4096xf32>
}

// CHECK-LABEL: llvm.func hidden @more(
// CHECK: scf.for {{.*}} to %c1024 step %c128 {
// CHECK: scf.for
// CHECK: scf.for {{.*}} to %c32 step %c1 {
// CHECK: "llvm.intr.prefetch"
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: llvm.intr.fma
kernel.func @more(%x: tensor<24x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<24x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<24x4096xf32>) -> tensor<24x4096xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x1024xf32>, tensor<1024x4096xf32>) outs(%i : tensor<24x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<24x4096xf32>
  kernel.return %p : tensor<24x4096xf32>
}
