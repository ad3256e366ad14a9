// The guarantees of earlier stages are checked.
// RUN: tfc-opt --tfc-plan-memory --split-input-file --verify-diagnostics %s

dfg.variable @w : tensor<4xf32>
dfg.entry @twice(%x: tensor<4xf32>) {
  %0 = dfg.assign @w, %x : tensor<4xf32>
  // expected-error @below {{expects one assignment of @w}}
  %1 = dfg.assign @w, %x : tensor<4xf32>
  dfg.return
}

// -----

dfg.variable @w : tensor<4xf32>
dfg.entry @late(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dfg.assign @w, %x : tensor<4xf32>
  // expected-error @below {{expects reads of @w to precede its assignment}}
  %1 = dfg.read @w : tensor<4xf32>
  dfg.return %1 : tensor<4xf32>
}

// -----

dfg.entry @computes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not allowed in an entry whose memory is planned}}
  %0 = dfg.exp %x : tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
