// Bytes are stored, rather than the numbers that readers compute from them.
// RUN: tfc-opt --tfc-form-kernels %s | FileCheck %s

// CHECK-LABEL: dfg.entry @residual(
// CHECK: %[[Q:.*]] = dfg.launch @{{.*}} -> tensor<64x32xui8>
// CHECK: dfg.launch @{{.*}}(%[[Q]], {{.*}} -> tensor<64x32xf32>
dfg.entry @residual(%x: tensor<64x32xf32>, %w: tensor<32x32xi8>) -> tensor<64x32xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %q = dfg.cast %x {dtype = ui8} : tensor<64x32xf32>
  %i = dfg.cast %q {dtype = i32} : tensor<64x32xui8>
  %d = dfg.cast %w {dtype = i32} : tensor<32x32xi8>
  %p = dfg.matmul %i, %d : tensor<64x32xi32>, tensor<32x32xi32>
  %y = dfg.cast %p {dtype = f32} : tensor<64x32xi32>
  %f = dfg.cast %i {dtype = f32} : tensor<64x32xi32>
  %r = dfg.mul %f, %half : tensor<64x32xf32>, tensor<f32>
  %s = dfg.add %y, %r : tensor<64x32xf32>, tensor<64x32xf32>
  dfg.return %s : tensor<64x32xf32>
}
