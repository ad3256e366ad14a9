// Every size that an entry or a kernel mentions is declared, and kernels mention only sizes that they can compute.

// RUN: tfc-opt -split-input-file -verify-diagnostics %s

dfg.kernel @undeclared(%x: tensor<?xf32, #dfg.dims<d0>>) -> tensor<?xf32, #dfg.dims<d0>>
    attributes {symbols = []} {
  // expected-error @below {{'dfg.exp' op mentions the size 'd0', which 'undeclared' does not declare}}
  %y = dfg.exp %x : tensor<?xf32, #dfg.dims<d0>>
  dfg.return %y : tensor<?xf32, #dfg.dims<d0>>
}

// -----

// expected-error @below {{'dfg.kernel' op mentions the size 'd0', which 'argument' does not declare}}
dfg.kernel @argument(%x: tensor<?xf32, #dfg.dims<d0>>) {
  dfg.return
}

// -----

dfg.entry @attribute() -> (tensor<?xi64, #dfg.dims<n>> {dfg.name = "y"}) attributes {symbols = ["n"]} {
  // expected-error @below {{'dfg.iota' op mentions the size 'm', which 'attribute' does not declare}}
  %x = dfg.iota {dtype = i64, size = #dfg.dims<m>}
  %y = dfg.iota {dtype = i64, size = #dfg.dims<n>}
  dfg.return %y : tensor<?xi64, #dfg.dims<n>>
}

// -----

// expected-error @below {{'dfg.kernel' op expects a name for each size that is not static, but got 'tensor<?xf32>'}}
dfg.kernel @unnamed(%x: tensor<?xf32>) {
  dfg.return
}

// -----

// expected-error @below {{'dfg.kernel' op expects sizes that a kernel can compute, but got f32[min(4, d0)]}}
dfg.kernel @least(%x: tensor<?xf32, #dfg.dims<"min(4, d0)">>) -> tensor<?xf32, #dfg.dims<"min(4, d0)">>
    attributes {symbols = ["d0"]} {
  dfg.return %x : tensor<?xf32, #dfg.dims<"min(4, d0)">>
}

// -----

// expected-error @below {{'dfg.entry' op declares the size "n" twice}}
dfg.entry @twice() attributes {symbols = ["n", "n"]} {
  dfg.return
}

// -----

// expected-error @below {{'dfg.entry' op expects names of sizes, but got "a`b"}}
dfg.entry @no_name() attributes {symbols = ["2 * n", "<overflow>", "a`b"]} {
  dfg.return
}
