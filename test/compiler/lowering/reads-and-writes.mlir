// Slices are access maps where linalg can express them, gathers read at indices that are in range,
// and scatters, scans and sorts are separate operations.
// RUN: tfc-opt --tfc-lower-kernels %s | FileCheck %s

// CHECK-DAG: #[[STRIDED:.*]] = affine_map<(d0) -> (d0 * -2 + 7)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d1 mod 8, d2)>
// CHECK-DAG: #[[Z:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: kernel.func @strided
// CHECK: indexing_maps = [#[[STRIDED]],
dfg.kernel @strided(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<7>, sizes = #dfg.dims<4>, steps = array<i64: -2>} : tensor<8xf32>
  dfg.return %0 : tensor<4xf32>
}

// CHECK-LABEL: kernel.func @prefix
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[I]]
// CHECK-NEXT: tensor.extract %{{.*}}[%[[AT]]]
dfg.kernel @prefix(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = dfg.slice %x {starts = #dfg.dims<0>, sizes = #dfg.dims<4>} : tensor<8xf32>
  dfg.return %0 : tensor<4xf32>
}

// A product reads the first rows of its operand, of which linalg does not take the number.
// CHECK-LABEL: kernel.func @product
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[Y]], #[[Z]]]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<2x6xf32>, tensor<8x6xf32>)
dfg.kernel @product(%x: tensor<2x6xf32>, %y: tensor<8x6xf32>) -> tensor<2x4xf32> {
  %0 = dfg.slice %y {starts = #dfg.dims<0, 0>, sizes = #dfg.dims<4, 6>} : tensor<8x6xf32>
  %1 = dfg.matmul %x, %0 {transpose_rhs = true} : tensor<2x6xf32>, tensor<4x6xf32>
  dfg.return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: kernel.func @rows
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[INDEX:.*]], %
// CHECK: %[[SAFE:.*]] = arith.select %[[IN]], %[[INDEX]], %
// CHECK: %[[ELEMENT:.*]] = tensor.extract %{{.*}}[%[[SAFE]],
// CHECK: arith.select %[[IN]], %[[ELEMENT]], %
dfg.kernel @rows(%x: tensor<8x2xf32>, %i: tensor<3xi32>) -> tensor<3x2xf32> {
  %0 = dfg.gather %x, %i {outside = #dfg.outside<skip>} : tensor<8x2xf32>, tensor<3xi32>
  dfg.return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: kernel.func @running
// CHECK: linalg_ext.scan %{{.*}} along 0 exclusive associative : f32, tensor<4xf16> -> tensor<4xf32>
// CHECK: arith.truncf
dfg.kernel @running(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = dfg.cumsum %x {exclusive = true} : tensor<4xf16>
  dfg.return %0 : tensor<4xf16>
}

// An axis that is kept is a loop over one element.
// CHECK-LABEL: kernel.func @kept
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-NOT: linalg.generic
dfg.kernel @kept(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %0 = dfg.max %x {axis = array<i64: 1>, keep_dims = true} : tensor<4x8xf32>
  dfg.return %0 : tensor<4x1xf32>
}
