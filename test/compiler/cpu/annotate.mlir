// A result may take an argument's buffer if every read of the argument comes before its element is written.
// RUN: tfc-opt --tfc-attach-target --tfc-prepare-kernels --tfc-cpu-annotate %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Elementwise: both operands are read at the place that is written.
// CHECK-LABEL: kernel.func @add
// CHECK-SAME: -> (tensor<4x8xf32> {kernel.may_share = array<i32: 0, 1>})
kernel.func @add(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  kernel.return %0 : tensor<4x8xf32>
}

// Another place of the first operand is read, and the second has another type.
// CHECK-LABEL: kernel.func @reverse
// CHECK-SAME: kernel.may_share = array<i32>
kernel.func @reverse(%x: tensor<8xf32>, %y: tensor<8xi32>) -> (tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (7 - d0)>, affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xi32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %1 = arith.sitofp %b : i32 to f32
    %2 = arith.addf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}

// The first sweep over a row reads all of it before the second one writes it.
// CHECK-LABEL: kernel.func @centre
// CHECK-SAME: kernel.may_share = array<i32: 0>
kernel.func @centre(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %o, %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  kernel.return %0 : tensor<4x8xf32>
}

// A gather may read any row at any time.
// CHECK-LABEL: kernel.func @gather
// CHECK-SAME: kernel.may_share = array<i32>
kernel.func @gather(%x: tensor<8xf32>, %i: tensor<8xi64>) -> (tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%i : tensor<8xi64>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %k = arith.index_cast %a : i64 to index
    %v = tensor.extract %x[%k] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  kernel.return %0 : tensor<8xf32>
}

// A product reads its operands until its last step.
// CHECK-LABEL: kernel.func @product
// CHECK-SAME: kernel.may_share = array<i32>
kernel.func @product(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  kernel.return %0 : tensor<8x8xf32>
}

// A scatter may change its operand in place.
// CHECK-LABEL: kernel.func @scatter
// CHECK-SAME: kernel.may_share = array<i32: 0>
kernel.func @scatter(%x: tensor<8xf32>, %u: tensor<3xf32>, %i: tensor<3x1xi64>) -> (tensor<8xf32>) {
  %0 = linalg_ext.scatter %u into %x at %i : tensor<3xf32>, tensor<8xf32>, tensor<3x1xi64> {
  ^bb0(%old: f32, %new: f32):
    linalg_ext.yield %new : f32
  }
  kernel.return %0 : tensor<8xf32>
}
