// Rows of three elements, here the channels of an image that become its last axis, are computed with lanes along the loop
// around them: their vectors are interleaved by shuffles and stored one after the other.
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64-v4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @channels_last(
// CHECK-NOT: llvm.intr.masked
// CHECK: scf.for
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: llvm.store {{.*}} : vector<16xf32>
// The last 8 of 328 rows are 24 elements.
// CHECK-COUNT-3: llvm.intr.masked.load
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: llvm.intr.masked.store
// CHECK: llvm.return
kernel.func @channels_last(%x: tensor<3x8x41xf32>) -> tensor<8x41x3xf32> {
  %empty = tensor.empty() : tensor<8x41x3xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(y, x, c) -> (c, y, x)>, affine_map<(y, x, c) -> (y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x8x41xf32>) outs(%empty : tensor<8x41x3xf32>) {
  ^bb0(%e: f32, %old: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<8x41x3xf32>
  kernel.return %y : tensor<8x41x3xf32>
}
