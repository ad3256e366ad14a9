// If a read is not contiguous along the lanes, the loop along its contiguous dimension is tiled. Tiles of as many points as
// there are lanes are transposed in registers, in blocks of 64 rows and columns.
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64-v4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK: llvm.func{{.*}}@transposed
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} step %c16
// CHECK: scf.for {{.*}} step %c16
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: llvm.store {{.*}} : vector<16xf32>
kernel.func @transposed(%x: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %empty = tensor.empty() : tensor<128x64xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x128xf32>) outs(%empty : tensor<128x64xf32>) {
  ^bb0(%e: f32, %old: f32):
    linalg.yield %e : f32
  } -> tensor<128x64xf32>
  kernel.return %y : tensor<128x64xf32>
}
