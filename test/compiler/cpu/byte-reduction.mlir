// Lanes of integers are added up by one reduction: LLVM adds up too few lanes of products of bytes if halves are added.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver4 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @dot(
// CHECK: arith.muli
// CHECK: vector.reduction <add>, %{{.*}} : vector<16xi32> into i32
// CHECK: llvm.return
kernel.func @dot(%x: tensor<16xi8>, %w: tensor<16xi8>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x, %w : tensor<16xi8>, tensor<16xi8>) outs(%i : tensor<i32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extui %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %q = arith.muli %c, %d : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  kernel.return %p : tensor<i32>
}
