// A plan read from a file must be valid: each variable is assigned once, and generated names are not in use.
// RUN: tfc-opt --tfc-allocate-arena --tfc-build-host --split-input-file --verify-diagnostics %s

dfg.variable @w : tensor<4xf32>
dfg.entry @twice(%x: tensor<4xf32>) {
  %a = dfg.assign @w, %x : tensor<4xf32>
  // expected-error @below {{expects one assignment of @w}}
  %b = dfg.assign @w, %a : tensor<4xf32>
  dfg.return
}

// -----

dfg.variable @w : tensor<4xf32>
dfg.entry @inside(%p: tensor<i1>, %x: tensor<4xf32>) {
  dfg.if %p : tensor<i1> {
    // expected-error @below {{is not allowed in an entry whose memory is planned}}
    %y = dfg.exp %x : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}

// -----

// expected-error @below {{has a name that is reserved for generated code: "tfc_rt_fail"}}
llvm.func @tfc_rt_fail() {
  llvm.return
}
dfg.entry @f() {
  dfg.return
}

// -----

// expected-error @below {{has a name that is reserved for generated code: "tfc_entry_0_run"}}
llvm.func @tfc_entry_0_run(i32) -> i32
dfg.entry @f() {
  dfg.return
}

// -----

dfg.variable @w : tensor<4xf32>
dfg.entry @branch(%p: tensor<i1>, %x: tensor<4xf32>) {
  dfg.if %p : tensor<i1> {
    // expected-error @below {{expects to be outside of branches and loops}}
    %y = dfg.assign @w, %x : tensor<4xf32>
    dfg.yield
  } else {
    dfg.yield
  }
  dfg.return
}
