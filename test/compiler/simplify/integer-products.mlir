// Products of quantised tensors are sums of products of integers, which are scaled once.
// RUN: tfc-opt --tfc-integer-products --canonicalize --cse --split-input-file %s | FileCheck %s

// The padding is the zero point; its products are subtracted from the sums: 2 * 9 * 4 * -5.
// CHECK-LABEL: @convolution(
// CHECK-DAG: %[[W:.*]] = dfg.constant dense<5> : tensor<3x3x4x8xi8>
// CHECK-DAG: %[[OFFSET:.*]] = dfg.constant dense<-360> : tensor<1x1x1x8xi32>
// CHECK-DAG: %[[SCALE:.*]] = dfg.constant dense<1.250000e-01> : tensor<1x1x1x8xf32>
// CHECK: %[[PLACED:.*]] = dfg.place %arg0 {{.*}}value = 2.000000e+00
// CHECK: %[[WINDOWS:.*]] = dfg.windows %[[PLACED]]
// CHECK-DAG: %[[X:.*]] = dfg.cast %[[WINDOWS]] {dtype = i32}
// CHECK-DAG: %[[WIDE:.*]] = dfg.cast %[[W]] {dtype = i32}
// CHECK: %[[SUM:.*]] = dfg.contract %[[X]], %[[WIDE]]
// CHECK: %[[Y:.*]] = dfg.add %[[SUM]], %[[OFFSET]]
// CHECK: %[[F:.*]] = dfg.cast %[[Y]] {dtype = f32}
// CHECK: dfg.mul %[[F]], %[[SCALE]]
dfg.entry @convolution(%x: tensor<1x6x6x4xui8>) -> tensor<1x6x6x8xf32> {
  %zero = dfg.constant dense<2> : tensor<i32>
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %quarters = dfg.constant dense<2.5e-01> : tensor<8xf32>
  %w = dfg.constant dense<5> : tensor<3x3x4x8xi8>
  %0 = dfg.cast %x {dtype = i32} : tensor<1x6x6x4xui8>
  %1 = dfg.sub %0, %zero : tensor<1x6x6x4xi32>, tensor<i32>
  %2 = dfg.cast %1 {dtype = f32} : tensor<1x6x6x4xi32>
  %3 = dfg.mul %2, %half : tensor<1x6x6x4xf32>, tensor<f32>
  %4 = dfg.place %3 {shape = #dfg.dims<1, 8, 8, 4>, starts = #dfg.dims<0, 1, 1, 0>} : tensor<1x6x6x4xf32>
  %5 = dfg.windows %4 {size = #dfg.dims<3, 3>} : tensor<1x8x8x4xf32>
  %6 = dfg.cast %w {dtype = f32} : tensor<3x3x4x8xi8>
  %7 = dfg.mul %6, %quarters : tensor<3x3x4x8xf32>, tensor<8xf32>
  %8 = dfg.contract %5, %7 {labels = "n h w i j c, i j c f -> n h w f"} : tensor<1x6x6x3x3x4xf32>, tensor<3x3x4x8xf32>
  dfg.return %8 : tensor<1x6x6x8xf32>
}

// -----

// A bias in units of the sums is added to these, and the quantisation of the result multiplies: 0.5 * 0.25 / 4. As this
// is small, adding 1.5 * 2^23 rounds.
// CHECK-LABEL: @quantised(
// CHECK-DAG: %[[OFFSET:.*]] = dfg.constant dense<7> : tensor<1x8xi32>
// CHECK-DAG: %[[SCALE:.*]] = dfg.constant dense<3.125000e-02> : tensor<1x8xf32>
// CHECK-DAG: %[[MAGIC:.*]] = dfg.constant dense<0x4B400000> : tensor<f32>
// CHECK-DAG: %[[LESS:.*]] = dfg.constant dense<-1262485504> : tensor<i32>
// CHECK-NOT: dfg.div
// CHECK: %[[SUM:.*]] = dfg.matmul
// CHECK: %[[Y:.*]] = dfg.add %[[SUM]], %[[OFFSET]]
// CHECK: %[[F:.*]] = dfg.cast %[[Y]] {dtype = f32}
// CHECK: %[[SCALED:.*]] = dfg.mul %[[F]], %[[SCALE]]
// CHECK: %[[ROUNDED:.*]] = dfg.add %[[SCALED]], %[[MAGIC]]
// CHECK: %[[BITS:.*]] = dfg.bitcast %[[ROUNDED]] {dtype = i32}
// CHECK: %[[INTEGER:.*]] = dfg.add %[[BITS]], %[[LESS]]
// CHECK: %[[BYTE:.*]] = dfg.clamp %[[INTEGER]],
// CHECK: dfg.cast %[[BYTE]] {dtype = ui8}
dfg.entry @quantised(%x: tensor<5x4xui8>) -> tensor<5x8xui8> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %quarter = dfg.constant dense<2.5e-01> : tensor<f32>
  %bias = dfg.constant dense<0.875> : tensor<8xf32>
  %four = dfg.constant dense<4.0> : tensor<f32>
  %w = dfg.constant dense<5> : tensor<4x8xi8>
  %0 = dfg.cast %x {dtype = f32} : tensor<5x4xui8>
  %1 = dfg.mul %0, %half : tensor<5x4xf32>, tensor<f32>
  %2 = dfg.cast %w {dtype = f32} : tensor<4x8xi8>
  %3 = dfg.mul %2, %quarter : tensor<4x8xf32>, tensor<f32>
  %4 = dfg.matmul %1, %3 : tensor<5x4xf32>, tensor<4x8xf32>
  %5 = dfg.add %4, %bias : tensor<5x8xf32>, tensor<8xf32>
  %6 = dfg.div %5, %four : tensor<5x8xf32>, tensor<f32>
  %7 = dfg.round %6 : tensor<5x8xf32>
  %8 = dfg.cast %7 {dtype = ui8} : tensor<5x8xf32>
  dfg.return %8 : tensor<5x8xui8>
}

// -----

// Quantised integers with a sign are stored with 128 added.
// CHECK-LABEL: @signed(
// CHECK-DAG: %[[ZERO:.*]] = dfg.constant dense<1.310000e+02> : tensor<f32>
// CHECK-DAG: %[[OFFSET:.*]] = dfg.constant dense<-2620> : tensor<1x8xi32>
// CHECK: %[[SHIFTED:.*]] = dfg.add %{{.*}}, %[[ZERO]]
// CHECK: %[[BYTES:.*]] = dfg.cast %[[SHIFTED]] {dtype = ui8}
// CHECK: %[[X:.*]] = dfg.cast %[[BYTES]] {dtype = i32}
// CHECK: %[[SUM:.*]] = dfg.matmul %[[X]],
// CHECK: dfg.add %[[SUM]], %[[OFFSET]]
dfg.entry @signed(%x: tensor<5x4xf32>) -> tensor<5x8xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %three = dfg.constant dense<3.0> : tensor<f32>
  %zero = dfg.constant dense<3> : tensor<i32>
  %w = dfg.constant dense<5> : tensor<4x8xi8>
  %0 = dfg.div %x, %half : tensor<5x4xf32>, tensor<f32>
  %1 = dfg.round %0 : tensor<5x4xf32>
  %2 = dfg.add %1, %three : tensor<5x4xf32>, tensor<f32>
  %3 = dfg.cast %2 {dtype = i8} : tensor<5x4xf32>
  %4 = dfg.cast %3 {dtype = i32} : tensor<5x4xi8>
  %5 = dfg.sub %4, %zero : tensor<5x4xi32>, tensor<i32>
  %6 = dfg.cast %5 {dtype = f32} : tensor<5x4xi32>
  %7 = dfg.mul %6, %half : tensor<5x4xf32>, tensor<f32>
  %8 = dfg.cast %w {dtype = f32} : tensor<4x8xi8>
  %9 = dfg.mul %8, %half : tensor<4x8xf32>, tensor<f32>
  %10 = dfg.matmul %7, %9 : tensor<5x4xf32>, tensor<4x8xf32>
  dfg.return %10 : tensor<5x8xf32>
}

// -----

// Maxima of equally quantised numbers are those of the integers.
// CHECK-LABEL: @pooled(
// CHECK-NEXT: %[[PLACED:.*]] = dfg.place %arg0
// CHECK-NOT: value
// CHECK: %[[WINDOWS:.*]] = dfg.windows %[[PLACED]]
// CHECK-NEXT: %[[MAX:.*]] = dfg.max %[[WINDOWS]]
// CHECK-NEXT: dfg.return %[[MAX]]
dfg.entry @pooled(%x: tensor<1x6x4xui8>) -> tensor<1x3x4xui8> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %zero = dfg.constant dense<9> : tensor<i32>
  %nine = dfg.constant dense<9.0> : tensor<f32>
  %0 = dfg.cast %x {dtype = i32} : tensor<1x6x4xui8>
  %1 = dfg.sub %0, %zero : tensor<1x6x4xi32>, tensor<i32>
  %2 = dfg.cast %1 {dtype = f32} : tensor<1x6x4xi32>
  %3 = dfg.mul %2, %half : tensor<1x6x4xf32>, tensor<f32>
  %4 = dfg.place %3 {shape = #dfg.dims<1, 7, 4>, starts = #dfg.dims<0, 1, 0>, value = 0xFFF0000000000000 : f64} : tensor<1x6x4xf32>
  %5 = dfg.windows %4 {size = #dfg.dims<3>, stride = array<i64: 2>} : tensor<1x7x4xf32>
  %6 = dfg.max %5 {axis = array<i64: 2>} : tensor<1x3x3x4xf32>
  %7 = dfg.div %6, %half : tensor<1x3x4xf32>, tensor<f32>
  %8 = dfg.round %7 : tensor<1x3x4xf32>
  %9 = dfg.add %8, %nine : tensor<1x3x4xf32>, tensor<f32>
  %10 = dfg.cast %9 {dtype = ui8} : tensor<1x3x4xf32>
  dfg.return %10 : tensor<1x3x4xui8>
}

// -----

// A depthwise convolution adds up few numbers: f32 holds their sum.
// CHECK-LABEL: @depthwise(
// CHECK-DAG: %[[W:.*]] = dfg.constant dense<5.000000e+00> : tensor<3x8xf32>
// CHECK: %[[X:.*]] = dfg.cast %{{.*}} {dtype = f32} : tensor<1x4x3x8xui8>
// CHECK: dfg.contract %[[X]], %[[W]]
dfg.entry @depthwise(%x: tensor<1x6x8xui8>) -> tensor<1x4x8xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %w = dfg.constant dense<5> : tensor<3x8xi8>
  %0 = dfg.cast %x {dtype = f32} : tensor<1x6x8xui8>
  %1 = dfg.mul %0, %half : tensor<1x6x8xf32>, tensor<f32>
  %2 = dfg.windows %1 {size = #dfg.dims<3>} : tensor<1x6x8xf32>
  %3 = dfg.cast %w {dtype = f32} : tensor<3x8xi8>
  %4 = dfg.mul %3, %half : tensor<3x8xf32>, tensor<f32>
  %5 = dfg.contract %2, %4 {labels = "n w k c, k c -> n w c"} : tensor<1x4x3x8xf32>, tensor<3x8xf32>
  dfg.return %5 : tensor<1x4x8xf32>
}

// -----

// Weights that do not fit into i8 stay as they are.
// CHECK-LABEL: @wide(
// CHECK: dfg.matmul %{{.*}}, %{{.*}} : tensor<5x4xf32>, tensor<4x8xf32>
dfg.entry @wide(%x: tensor<5x4xui8>) -> tensor<5x8xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %w = dfg.constant dense<200> : tensor<4x8xui8>
  %0 = dfg.cast %x {dtype = f32} : tensor<5x4xui8>
  %1 = dfg.mul %0, %half : tensor<5x4xf32>, tensor<f32>
  %2 = dfg.cast %w {dtype = f32} : tensor<4x8xui8>
  %3 = dfg.mul %2, %half : tensor<4x8xf32>, tensor<f32>
  %4 = dfg.matmul %1, %3 : tensor<5x4xf32>, tensor<4x8xf32>
  dfg.return %4 : tensor<5x8xf32>
}

// -----

// A sum that i32 may not hold.
// CHECK-LABEL: @long(
// CHECK: dfg.matmul %{{.*}}, %{{.*}} : tensor<1x80000xf32>, tensor<80000x2xf32>
dfg.entry @long(%x: tensor<1x80000xui8>) -> tensor<1x2xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %w = dfg.constant dense<127> : tensor<80000x2xi8>
  %0 = dfg.cast %x {dtype = f32} : tensor<1x80000xui8>
  %1 = dfg.mul %0, %half : tensor<1x80000xf32>, tensor<f32>
  %2 = dfg.cast %w {dtype = f32} : tensor<80000x2xi8>
  %3 = dfg.mul %2, %half : tensor<80000x2xf32>, tensor<f32>
  %4 = dfg.matmul %1, %3 : tensor<1x80000xf32>, tensor<80000x2xf32>
  dfg.return %4 : tensor<1x2xf32>
}

// -----

// Products of integers subtract zero points from sums: 4 * -2 * (5 - 1).
// CHECK-LABEL: @integers(
// CHECK-DAG: %[[W:.*]] = dfg.constant dense<4> : tensor<4x8xi8>
// CHECK-DAG: %[[OFFSET:.*]] = dfg.constant dense<-32> : tensor<1x8xi32>
// CHECK-DAG: %[[X:.*]] = dfg.cast %arg0 {dtype = i32}
// CHECK-DAG: %[[WIDE:.*]] = dfg.cast %[[W]] {dtype = i32}
// CHECK: %[[SUM:.*]] = dfg.matmul %[[X]], %[[WIDE]]
// CHECK: %[[Y:.*]] = dfg.add %[[SUM]], %[[OFFSET]]
// CHECK: dfg.return %[[Y]]
dfg.entry @integers(%x: tensor<5x4xui8>) -> tensor<5x8xi32> {
  %zero = dfg.constant dense<2> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %w = dfg.constant dense<5> : tensor<4x8xi8>
  %0 = dfg.cast %x {dtype = i32} : tensor<5x4xui8>
  %1 = dfg.sub %0, %zero : tensor<5x4xi32>, tensor<i32>
  %2 = dfg.cast %w {dtype = i32} : tensor<4x8xi8>
  %3 = dfg.sub %2, %one : tensor<4x8xi32>, tensor<i32>
  %4 = dfg.matmul %1, %3 : tensor<5x4xi32>, tensor<4x8xi32>
  dfg.return %4 : tensor<5x8xi32>
}

// -----

// GPUs compute in f32.
// CHECK-LABEL: @gpu(
// CHECK: dfg.matmul %{{.*}}, %{{.*}} {dfg.device = #dfg.device<"/device:gpu:0">} : tensor<5x4xf32>, tensor<4x8xf32>
dfg.entry @gpu(%x: tensor<5x4xui8>) -> tensor<5x8xf32> {
  %half = dfg.constant dense<5.0e-01> : tensor<f32>
  %w = dfg.constant dense<5> : tensor<4x8xi8>
  %0 = dfg.cast %x {dfg.device = #dfg.device<"/device:gpu:0">, dtype = f32} : tensor<5x4xui8>
  %1 = dfg.mul %0, %half {dfg.device = #dfg.device<"/device:gpu:0">} : tensor<5x4xf32>, tensor<f32>
  %2 = dfg.cast %w {dfg.device = #dfg.device<"/device:gpu:0">, dtype = f32} : tensor<4x8xi8>
  %3 = dfg.mul %2, %half {dfg.device = #dfg.device<"/device:gpu:0">} : tensor<4x8xf32>, tensor<f32>
  %4 = dfg.matmul %1, %3 {dfg.device = #dfg.device<"/device:gpu:0">} : tensor<5x4xf32>, tensor<4x8xf32>
  dfg.return %4 : tensor<5x8xf32>
}
