// A feed of a process is one of the entry, with its type.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

dfg.entry @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects the number of a feed, but got 1}}
  %y = dfg.own_feed 1 : tensor<4xf32>
  dfg.return
}

// -----

dfg.entry @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects f32[4] for feed 0, but got f32[3]}}
  %y = dfg.own_feed 0 : tensor<3xf32>
  dfg.return
}

// -----

// expected-error @+1 {{expects to be in an entry}}
%y = dfg.own_feed 0 : tensor<3xf32>
