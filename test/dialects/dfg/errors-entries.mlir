// Entries and kernels take tensors of at most 64 axes; bounds are numbers for declared sizes, and facts compare these.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{'dfg.entry' op expects tensors as operands and results, but got 'i32'}}
dfg.entry @number(%x: i32) {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects tensors as operands and results, but got '!dfg.list<tensor<4xf32>>'}}
dfg.entry @list(%x: !dfg.list<tensor<4xf32>>) {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.kernel' op expects tensors as operands and results, but got 'tensor<4xindex>'}}
dfg.kernel @element(%x: tensor<4xindex>) {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects bounds of at least 0 for sizes that it declares, but got "n" = "x"}}
dfg.entry @kind(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], bounds = {n = "x"}} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects bounds of at least 0 for sizes that it declares, but got "n" = -1}}
dfg.entry @negative(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], bounds = {n = -1 : i64}} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects bounds of at least 0 for sizes that it declares, but got "m" = 4}}
dfg.entry @other(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], bounds = {m = 4 : i64}} {
  dfg.return
}

// -----

dfg.entry @axes(%x: tensor<f32>) {
  // expected-error @+1 {{'dfg.reshape' op expects at most 64 axes, but got 65}}
  %y = dfg.reshape %x {shape = #dfg.dims<1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>} : tensor<f32>
  dfg.return
}

// -----

dfg.tape @t : tensor<4xf32> {capacity = #dfg.dims<3, 4>}
dfg.entry @capacity(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.push' op expects @t to have one size as its capacity}}
  dfg.push @t, %x : tensor<4xf32>
  dfg.return
}

// -----

func.func @sparse() {
  // expected-error @+1 {{'constant' expects the value of each element}}
  %y = dfg.constant sparse<[[1]], [2.0]> : tensor<4xf32>
  return
}

// -----

func.func @list(%n: tensor<i32>) {
  // expected-error @+1 {{'list_create' expects sizes that are not negative, but got -4 [size]}}
  %l = dfg.list_create %n {shape = #dfg.dims<-4>} : tensor<i32>
  return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got "zz >= 1"}}
dfg.entry @unknown(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n >= 1", "zz >= 1"]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got "n"}}
dfg.entry @form(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n >= 1", "n"]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got "n >= 1 +"}}
dfg.entry @syntax(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n >= 1", "n >= 1 +"]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got "`<overflow>` >= 1"}}
dfg.entry @overflow(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n >= 1", "`<overflow>` >= 1"]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got "<too complex> >= 1"}}
dfg.entry @complex(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = ["n >= 1", "<too complex> >= 1"]} {
  dfg.return
}
