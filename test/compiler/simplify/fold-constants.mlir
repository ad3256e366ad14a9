// Elementwise operations on constants are folded; f16 rounds when it is stored, u8 is unsigned.
// RUN: tfc-opt --tfc-fold-constants %s | FileCheck %s

// CHECK-LABEL: dfg.entry @chain
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: dfg.return %[[C]]
dfg.entry @chain() -> tensor<f32> {
  %0 = dfg.constant dense<4> : tensor<i64>
  %1 = dfg.cast %0 {dtype = f32} : tensor<i64>
  %2 = dfg.sqrt %1 : tensor<f32>
  %3 = dfg.constant dense<1.0> : tensor<f32>
  %4 = dfg.div %3, %2 : tensor<f32>, tensor<f32>
  dfg.return %4 : tensor<f32>
}

// CHECK-LABEL: dfg.entry @narrow
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<2.048000e+03> : tensor<4xf16>
dfg.entry @narrow() -> tensor<4xf16> {
  %0 = dfg.constant dense<2048.0> : tensor<4xf16>
  %1 = dfg.constant dense<1.0> : tensor<f16>
  %2 = dfg.add %0, %1 : tensor<4xf16>, tensor<f16>
  dfg.return %2 : tensor<4xf16>
}

// CHECK-LABEL: dfg.entry @unsigned
// CHECK-NEXT: %[[C:.*]] = dfg.constant dense<true> : tensor<i1>
dfg.entry @unsigned() -> tensor<i1> {
  %0 = dfg.constant dense<200> : tensor<ui8>
  %1 = dfg.constant dense<100> : tensor<ui8>
  %2 = dfg.greater %0, %1 : tensor<ui8>, tensor<ui8>
  dfg.return %2 : tensor<i1>
}

// Bits are kept, also those of a denormal number, which counts as zero in arithmetic.
// CHECK-LABEL: dfg.entry @bits
// CHECK-DAG: dfg.constant dense<1> : tensor<i32>
// CHECK-DAG: dfg.constant dense<1.401{{[0-9]*[eE]}}-45> : tensor<f32>
// CHECK-DAG: dfg.constant dense<15360> : tensor<ui16>
dfg.entry @bits() -> (tensor<i32>, tensor<f32>, tensor<ui16>) {
  %0 = dfg.constant dense<1.4e-45> : tensor<f32>
  %1 = dfg.bitcast %0 {dtype = i32} : tensor<f32>
  %2 = dfg.constant dense<1> : tensor<i32>
  %3 = dfg.bitcast %2 {dtype = f32} : tensor<i32>
  %4 = dfg.constant dense<1.0> : tensor<f16>
  %5 = dfg.bitcast %4 {dtype = ui16} : tensor<f16>
  dfg.return %1, %3, %5 : tensor<i32>, tensor<f32>, tensor<ui16>
}
