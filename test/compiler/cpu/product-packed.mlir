// A factor that is contiguous along the summed dimension is transposed on the stack if there are
// many rows, and read in place with the lanes along the sum if there are few.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @many_rows(
// CHECK: %[[PANEL:.*]] = llvm.alloca
// CHECK: vector.shuffle
// CHECK: llvm.store
// CHECK: llvm.intr.fma
// CHECK: llvm.return
kernel.func @many_rows(%x: tensor<64x32xf32>, %w: tensor<128x32xf32>)
    -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x32xf32>, tensor<128x32xf32>) outs(%i : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  kernel.return %p : tensor<64x128xf32>
}

// CHECK-LABEL: llvm.func hidden @one_row(
// CHECK-NOT: llvm.alloca
// CHECK: %{{.*}}:16 = scf.for
// CHECK: vector.shuffle
// CHECK: llvm.return
kernel.func @one_row(%x: tensor<1x32xf32>, %w: tensor<128x32xf32>)
    -> tensor<1x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x32xf32>, tensor<128x32xf32>) outs(%i : tensor<1x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x128xf32>
  kernel.return %p : tensor<1x128xf32>
}
