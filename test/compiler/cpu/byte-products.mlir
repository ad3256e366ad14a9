// Four products of bytes are added to each lane by the instruction for them, or are products of 16 bits.
// RUN: tfc-opt --tfc-attach-target=mcpu=cascadelake --tfc-prepare-kernels --tfc-cpu-pack-weights %s | FileCheck %s --check-prefix=PACK
// RUN: tfc-opt --tfc-attach-target=mcpu=cascadelake --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target=mcpu=alderlake --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=VNNI256
// RUN: tfc-opt --tfc-attach-target=mcpu=haswell --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=AVX2
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64 --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=SSE2
// RUN: tfc-opt --tfc-attach-target='target=aarch64-linux-gnu mcpu=neoverse-v1' --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=I8MM
// RUN: tfc-opt --tfc-attach-target='target=aarch64-linux-gnu mcpu=cortex-a76' --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=DOTPROD
// RUN: tfc-opt --tfc-attach-target=target=aarch64-linux-gnu --tfc-prepare-kernels --tfc-cpu-pack-weights --tfc-cpu-codegen %s | FileCheck %s --check-prefix=NEON

// 18 steps are four groups, and two steps that are multiplied as one more group.
// PACK-LABEL: kernel.func @product(
// PACK-SAME: kernel.packing = #kernel.packing<columns = 32, sizes = [32, 18], strides = [1, 32], group = 4>
// CHECK-LABEL: llvm.func hidden @product(
// CHECK-NOT: arith.muli {{.*}}vector
// CHECK: scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: scf.yield
// CHECK: arith.shrui
// CHECK: arith.ori
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: arith.sitofp
// CHECK: llvm.return
// VNNI256: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// SSE2: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
// I8MM-LABEL: llvm.func hidden @product(
// I8MM: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"
// With products of bytes with a sign alone, 128 times the second factor is added for the first one.
// DOTPROD-LABEL: llvm.func hidden @product(
// DOTPROD: %[[HALF:.+]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.+}}, %[[C:.+]], %[[B:.+]]) :
// DOTPROD: %[[REST:.+]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%[[HALF]], %[[C]], %[[B]]) :
// DOTPROD: %[[A:.+]] = arith.xori %{{.+}}, %{{.+}} : vector<16xi8>
// DOTPROD: %[[SUM:.+]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.+}}, %[[A]], %[[B]]) :
// DOTPROD: arith.addi %[[SUM]], %[[REST]]
// NEON: arith.muli {{.*}} : vector<4xi32>
kernel.func @product(%x: tensor<64x18xi8>, %w: tensor<18x32xi8> {kernel.constant}) -> tensor<64x32xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x32xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x32xi32>) -> tensor<64x32xi32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x18xi8>, tensor<18x32xi8>) outs(%i : tensor<64x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extui %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %q = arith.muli %c, %d : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<64x32xi32>
  %f = tensor.empty() : tensor<64x32xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x32xi32>) outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: i32, %o: f32):
    %c = arith.sitofp %a : i32 to f32
    linalg.yield %c : f32
  } -> tensor<64x32xf32>
  kernel.return %r : tensor<64x32xf32>
}

// The instruction multiplies bytes without a sign by bytes with one.
// CHECK-LABEL: llvm.func hidden @signed(
// CHECK-NOT: vpdpbusd
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// CHECK: llvm.return
// I8MM-LABEL: llvm.func hidden @signed(
// I8MM: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// DOTPROD-LABEL: llvm.func hidden @signed(
// DOTPROD-NOT: arith.xori
// DOTPROD: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// DOTPROD: llvm.return
kernel.func @signed(%x: tensor<64x16xi8>, %w: tensor<16x32xi8> {kernel.constant}) -> tensor<64x32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x32xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x32xi32>) -> tensor<64x32xi32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x16xi8>, tensor<16x32xi8>) outs(%i : tensor<64x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %q = arith.muli %c, %d : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<64x32xi32>
  kernel.return %p : tensor<64x32xi32>
}

// Rows whose bytes are not adjacent along the sum are converted one by one.
// PACK-LABEL: kernel.func @columns(
// PACK-NOT: group
kernel.func @columns(%x: tensor<16x64xi8>, %w: tensor<16x32xi8> {kernel.constant}) -> tensor<64x32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x32xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x32xi32>) -> tensor<64x32xi32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x64xi8>, tensor<16x32xi8>) outs(%i : tensor<64x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extui %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %q = arith.muli %c, %d : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<64x32xi32>
  kernel.return %p : tensor<64x32xi32>
}
