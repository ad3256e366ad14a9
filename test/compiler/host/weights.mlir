// Constants are bytes in the weights, aligned to 64 bytes, and equal ones are stored once; a
// constant of one repeated byte that is only copied is not stored.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host %s | FileCheck %s

// CHECK: module attributes {dfg.weights = [dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, dense<[3, 4]> : tensor<2xi32>]}
dfg.variable @v : tensor<2xf32>
dfg.variable @w : tensor<2xi32>
dfg.variable @zero : tensor<64xf32>

// CHECK-LABEL: llvm.func @tfc_entry_0_run
// CHECK-COUNT-2: "llvm.intr.memcpy"
// CHECK: "llvm.intr.memset"
dfg.entry @init() attributes {initializer} {
  %0 = dfg.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = dfg.constant dense<[3, 4]> : tensor<2xi32>
  %2 = dfg.constant dense<0.0> : tensor<64xf32>
  %3 = dfg.assign @v, %0 : tensor<2xf32>
  %4 = dfg.assign @w, %1 : tensor<2xi32>
  %5 = dfg.assign @zero, %2 : tensor<64xf32>
  dfg.return
}
// CHECK: llvm.mlir.global external hidden constant @tfc_weights()
