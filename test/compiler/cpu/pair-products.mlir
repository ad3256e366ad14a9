// Products of bf16 add two steps at once to lanes of f32, where an instruction does; elsewhere their factors are widened.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-pack-weights %s | FileCheck %s --check-prefix=PACK
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=skylake-avx512 --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=WIDE
// RUN: tfc-opt --tfc-attach-target='target=aarch64-linux-gnu mcpu=neoverse-v1' --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=ARM
// RUN: tfc-opt --tfc-attach-target='target=aarch64-linux-gnu mcpu=neoverse-v1 strict=true' --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=WIDE

#row = affine_map<(m, n, k) -> (m, k)>
#col = affine_map<(m, n, k) -> (k, n)>
#left = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// Two rows of b become a row of words, which tiles multiply by words of a in place.
// PACK-LABEL: kernel.func @fed(
// PACK-NOT: packing
// CHECK-LABEL: llvm.func hidden @fed(
// CHECK: arith.extui {{.*}} : vector<16xi16> to vector<16xi32>
// CHECK: arith.extui {{.*}} : vector<16xi16> to vector<16xi32>
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: %[[WORD:.+]] = llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK: vector.broadcast %[[WORD]] : i32 to vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: arith.mulf
// CHECK: llvm.return
// WIDE-LABEL: llvm.func hidden @fed(
// WIDE-NOT: call_intrinsic
// WIDE: llvm.intr.fma
// ARM-LABEL: llvm.func hidden @fed(
// ARM: llvm.call_intrinsic "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
kernel.func @fed(%x: tensor<64x18xbf16>, %y: tensor<18x32xbf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#row, #col, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x18xbf16>, tensor<18x32xbf16>) outs(%i : tensor<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %q = arith.mulf %c, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  kernel.return %p : tensor<64x32xf32>
}

// Pairs of a constant are adjacent. Of 19 steps one is left, of which tiles make words.
// PACK-LABEL: kernel.func @weights(
// PACK-SAME: kernel.packing = #kernel.packing<columns = 32, sizes = [32, 19], strides = [1, 32], group = 2>
// CHECK-LABEL: llvm.func hidden @weights(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: scf.yield
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<16xi16>
// CHECK: %[[HALF:.+]] = llvm.load {{.*}} : !llvm.ptr -> i16
// CHECK: arith.extui %[[HALF]] : i16 to i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
kernel.func @weights(%x: tensor<64x19xbf16>, %y: tensor<19x32xbf16> {kernel.constant}) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#row, #col, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x19xbf16>, tensor<19x32xbf16>) outs(%i : tensor<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %q = arith.mulf %c, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  kernel.return %p : tensor<64x32xf32>
}

// Both operands are transposed: a is copied like b, and b as squares of words.
// CHECK-LABEL: llvm.func hidden @transposed(
// CHECK: vector.bitcast {{.*}} : vector<32xbf16> to vector<16xi32>
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: arith.ori {{.*}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
kernel.func @transposed(%x: tensor<18x64xbf16>, %y: tensor<32x18xbf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<18x64xbf16>, tensor<32x18xbf16>) outs(%i : tensor<64x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %q = arith.mulf %c, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  kernel.return %p : tensor<64x32xf32>
}

// One row of a by rows of b: lanes are pairs of steps.
// CHECK-LABEL: llvm.func hidden @row(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.+}}, %{{.+}}, %{{.+}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>)
kernel.func @row(%x: tensor<1x70xbf16>, %y: tensor<48x70xbf16>) -> tensor<1x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x48xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x48xf32>) -> tensor<1x48xf32>
  %p = linalg.generic {indexing_maps = [#row, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x70xbf16>, tensor<48x70xbf16>) outs(%i : tensor<1x48xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %q = arith.mulf %c, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x48xf32>
  kernel.return %p : tensor<1x48xf32>
}

// Factors of f16, and products whose other factor is f32, are widened.
// CHECK-LABEL: llvm.func hidden @mixed(
// CHECK-NOT: call_intrinsic
// CHECK: llvm.intr.fma
kernel.func @mixed(%x: tensor<64x18xf32>, %y: tensor<18x32xbf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#row, #col, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x18xf32>, tensor<18x32xbf16>) outs(%i : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %d = arith.extf %b : bf16 to f32
    %q = arith.mulf %a, %d : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  kernel.return %p : tensor<64x32xf32>
}
