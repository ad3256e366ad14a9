// A reduction over windows, here a depthwise convolution, computes tiles of points with unrolled taps. Its loops are cut
// where windows begin to lie inside of the operand, so that no tile checks bounds, and each element is loaded once.
// RUN: tfc-opt --tfc-attach-target=mcpu=znver5 --tfc-prepare-kernels --tfc-cpu-codegen %s | FileCheck %s

// CHECK-LABEL: llvm.func hidden @depthwise(
// CHECK-NOT: arith.select
// The first row and the first tile of seven points: 9 weights and 2 x 8 elements.
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-25: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-7: llvm.store
// The tiles between: 9 weights, which are loaded once, and 2 x 9 elements.
// CHECK: scf.for
// CHECK-COUNT-18: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-7: llvm.store
// CHECK: llvm.return
kernel.func @depthwise(%x: tensor<28x28x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c28 = arith.constant 28 : index
  %e = tensor.empty() : tensor<28x28x3x3x64xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(y, x, i, j, c) -> (y, x, i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<28x28x3x3x64xf32>) {
  ^bb0(%o: f32):
    %y = linalg.index 0 : index
    %i = linalg.index 2 : index
    %a0 = arith.addi %y, %i : index
    %a = arith.subi %a0, %c1 : index
    %isRow = arith.cmpi ult, %a, %c28 : index
    %c27 = arith.constant 27 : index
    %c0 = arith.constant 0 : index
    %a1 = arith.minsi %a, %c27 : index
    %row = arith.maxsi %a1, %c0 : index
    %xx = linalg.index 1 : index
    %j = linalg.index 3 : index
    %b0 = arith.addi %xx, %j : index
    %b = arith.subi %b0, %c1 : index
    %isColumn = arith.cmpi ult, %b, %c28 : index
    %b1 = arith.minsi %b, %c27 : index
    %column = arith.maxsi %b1, %c0 : index
    %isInside = arith.andi %isRow, %isColumn : i1
    %c = linalg.index 4 : index
    %v = tensor.extract %x[%row, %column, %c] : tensor<28x28x64xf32>
    %r = arith.select %isInside, %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<28x28x3x3x64xf32>
  %f = tensor.empty() : tensor<28x28x64xf32>
  %n = linalg.fill ins(%zero : f32) outs(%f : tensor<28x28x64xf32>) -> tensor<28x28x64xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(y, x, c, i, j) -> (y, x, i, j, c)>,
                       affine_map<(y, x, c, i, j) -> (i, j, c)>,
                       affine_map<(y, x, c, i, j) -> (y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<28x28x3x3x64xf32>, tensor<3x3x64xf32>) outs(%n : tensor<28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<28x28x64xf32>
  kernel.return %s : tensor<28x28x64xf32>
}
