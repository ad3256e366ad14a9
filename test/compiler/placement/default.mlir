// On the default device, operations say nothing about their device any more.
// RUN: tfc-opt %s --tfc-place | FileCheck %s --implicit-check-not=dfg.device --implicit-check-not=colocate

// CHECK: dfg.variable @w
dfg.variable @w : tensor<f32> {dfg.device = #dfg.device<"/task:0">}
// CHECK: dfg.entry @read
dfg.entry @read() -> tensor<f32> {
  %0 = dfg.read @w : tensor<f32>
  %1 = dfg.neg %0 {dfg.colocate = [@w]} : tensor<f32>
  dfg.return %1 : tensor<f32>
}
