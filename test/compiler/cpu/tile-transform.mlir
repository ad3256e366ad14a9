// A product with a constant that is the product of two small matrices becomes code: sums and differences of elements,
// without multiplications by 1.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen --split-input-file %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @hadamard(
// CHECK-NOT: llvm.intr.fma
// CHECK-NOT: arith.mulf
// CHECK: %[[A:.*]] = llvm.load {{.*}} vector<16xf32>
// CHECK: %[[B:.*]] = llvm.load {{.*}} vector<16xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[A]], %[[B]]
// CHECK: %[[C:.*]] = llvm.load {{.*}} vector<16xf32>
// CHECK: %[[D:.*]] = llvm.load {{.*}} vector<16xf32>
// CHECK: %[[SUM2:.*]] = arith.addf %[[C]], %[[D]]
// CHECK: %[[DIFFERENCE2:.*]] = arith.subf %[[C]], %[[D]]
// CHECK: arith.addf %[[SUM]], %[[SUM2]]
// CHECK: arith.subf %[[SUM]], %[[SUM2]]
// CHECK: arith.addf %[[DIFFERENCE]], %[[DIFFERENCE2]]
// CHECK: arith.subf %[[DIFFERENCE]], %[[DIFFERENCE2]]
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
kernel.func @hadamard(%x: tensor<9x2x2x32xf32>) -> tensor<2x2x9x32xf32> {
  %k = arith.constant dense<[[[[1.0, 1.0], [1.0, 1.0]], [[1.0, -1.0], [1.0, -1.0]]],
                             [[[1.0, 1.0], [-1.0, -1.0]], [[1.0, -1.0], [-1.0, 1.0]]]]> : tensor<2x2x2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x9x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x9x32xf32>) -> tensor<2x2x9x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(p, q, n, c, a, b) -> (p, q, a, b)>, affine_map<(p, q, n, c, a, b) -> (n, a, b, c)>,
                       affine_map<(p, q, n, c, a, b) -> (p, q, n, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%k, %x : tensor<2x2x2x2xf32>, tensor<9x2x2x32xf32>) outs(%i : tensor<2x2x9x32xf32>) {
  ^bb0(%f: f32, %v: f32, %s: f32):
    %m = arith.mulf %f, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x2x9x32xf32>
  kernel.return %p : tensor<2x2x9x32xf32>
}

// -----

// Another constant is multiplied as usual.
// CHECK-LABEL: llvm.func hidden @other(
// CHECK: llvm.intr.fma
// CHECK: llvm.return
kernel.func @other(%x: tensor<9x2x2x32xf32>) -> tensor<2x2x9x32xf32> {
  %k = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
                             [[[9.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]> : tensor<2x2x2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x9x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x9x32xf32>) -> tensor<2x2x9x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(p, q, n, c, a, b) -> (p, q, a, b)>, affine_map<(p, q, n, c, a, b) -> (n, a, b, c)>,
                       affine_map<(p, q, n, c, a, b) -> (p, q, n, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%k, %x : tensor<2x2x2x2xf32>, tensor<9x2x2x32xf32>) outs(%i : tensor<2x2x9x32xf32>) {
  ^bb0(%f: f32, %v: f32, %s: f32):
    %m = arith.mulf %f, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x2x9x32xf32>
  kernel.return %p : tensor<2x2x9x32xf32>
}
