// The work of a kernel is its arithmetic, the bytes that it reads of each tensor and those that it writes, over its sizes.
// RUN: tfc-opt --tfc-measure-work %s | FileCheck %s

// A multiplication and an addition at each point of the loops.
// CHECK: #[[PRODUCT:.*]] = affine_map<()[s0] -> (s0 * 64, s0 * 32, 128, s0 * 16)>
// CHECK: #[[LOOKUP:.*]] = affine_map<() -> (64, 64, 4, 64)>
// CHECK: kernel.func @product({{.*}}kernel.work = #[[PRODUCT]]
// CHECK: kernel.func @lookup({{.*}}kernel.work = #[[LOOKUP]]
kernel.func @product(%n: index, %a: tensor<?x8xf32> {kernel.shape = affine_map<()[s0] -> (s0, 8)>}, %b: tensor<8x4xf32>)
    -> (tensor<?x4xf32> {kernel.shape = affine_map<()[s0] -> (s0, 4)>}) attributes {symbols = ["n"]} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x4xf32>
  %filled = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  } -> tensor<?x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%filled : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %sum : f32
    linalg.yield %1 : f32
  } -> tensor<?x4xf32>
  kernel.return %c : tensor<?x4xf32>
}

// Data decide which row is read: as many elements as loops have points. An exponential counts 16, the index nothing; known
// arithmetic stays.
kernel.func @lookup(%table: tensor<1000x16xf32>, %i: tensor<1xi32>) -> tensor<16xf32>
    attributes {kernel.work = affine_map<() -> (64, 0, 0, 0)>} {
  %empty = tensor.empty() : tensor<16xf32>
  %row = linalg.generic {indexing_maps = [affine_map<(j) -> (0)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%i : tensor<1xi32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%place: i32, %out: f32):
    %j = linalg.index 0 : index
    %r = arith.index_cast %place : i32 to index
    %x = tensor.extract %table[%r, %j] : tensor<1000x16xf32>
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  kernel.return %row : tensor<16xf32>
}
