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
