// Units of work are blocks of rows times panels of columns, computed from the shape, also for dynamic numbers of rows.
// A unit that packs panels of the second factor has as many of them and as many rows as the caches suit, if that leaves enough
// units.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-DAG: #[[FIXED:.*]] = affine_map<() -> ({{[1-9]}})>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> ((s0 ceildiv {{[0-9]+}}) * {{[0-9]+}})>
// CHECK-DAG: #[[LARGE:.*]] = affine_map<() -> (16)>
// CHECK: llvm.func hidden @large({{.*}}#kernel.abi<extent = #[[LARGE]],
// CHECK: llvm.func hidden @fixed({{.*}}#kernel.abi<extent = #[[FIXED]], grain = {{[0-9]+}},
// CHECK: llvm.func hidden @rows({{.*}}#kernel.abi<extent = #[[ROWS]], grain = {{[0-9]+}},
kernel.func @large(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%i : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<1024x1024xf32>
  kernel.return %p : tensor<1024x1024xf32>
}

kernel.func @fixed(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>)
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

kernel.func @rows(%m: index,
    %x: tensor<?x64xf32> {kernel.shape = affine_map<()[s0] -> (s0, 64)>}, %w: tensor<64x128xf32>)
    -> (tensor<?x128xf32> {kernel.shape = affine_map<()[s0] -> (s0, 128)>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x128xf32>) -> tensor<?x128xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x64xf32>, tensor<64x128xf32>) outs(%i : tensor<?x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x128xf32>
  kernel.return %p : tensor<?x128xf32>
}
