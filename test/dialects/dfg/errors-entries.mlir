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

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got #dfg.fact<"zz >= 1">}}
dfg.entry @unknown(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n >= 1">, #dfg.fact<"zz >= 1">]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects a name that it does not declare, '==' and a size, but got #dfg.fact<"n == 3">}}
dfg.entry @declared(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], solved = [#dfg.fact<"n == 3">]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects a name that it does not declare, '==' and a size, but got #dfg.fact<"m >= n">}}
dfg.entry @inequality(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], solved = [#dfg.fact<"m >= n">]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects a name that it does not declare, '==' and a size, but got #dfg.fact<"m == k">}}
dfg.entry @undeclared(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], solved = [#dfg.fact<"m == 2 * n">, #dfg.fact<"m == k">]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected a comparison of sizes, but got 'n'}}
dfg.entry @form(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n >= 1">, #dfg.fact<"n">]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected a comparison of sizes, but got 'n >= 1 +'}}
dfg.entry @syntax(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n >= 1">, #dfg.fact<"n >= 1 +">]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects comparisons of sizes that it declares, but got #dfg.fact<"`<overflow>` >= 1">}}
dfg.entry @overflow(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n >= 1">, #dfg.fact<"`<overflow>` >= 1">]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected a comparison of sizes, but got '<overflow>' as one of them}}
dfg.entry @unknown(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"<overflow> >= 1">]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected a comparison of sizes, but got '<too complex>' as one of them}}
dfg.entry @complex(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], where = [#dfg.fact<"n >= 1">, #dfg.fact<"<too complex> >= 1">]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects limits of sizes that it declares, but got #dfg.limit<memory : <zz>>}}
dfg.entry @limited(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], limits = [#dfg.limit<memory : <zz>>]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects one limit of each use, but got another #dfg.limit<i32 : <"n - 1">>}}
dfg.entry @twice(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], limits = [#dfg.limit<i32 : <n>>, #dfg.limit<i32 : <"n - 1">>]} {
  dfg.return
}

// -----

// expected-error @+1 {{expected sizes to limit, but got '<overflow>'}}
dfg.entry @huge(%x: tensor<?xf32, #dfg.dims<n>>) attributes {symbols = ["n"], limits = [#dfg.limit<i32 : <"<overflow>">>]} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op has two feeds or two fetches named "x"}}
dfg.entry @same(%x: tensor<f32> {dfg.name = "x"}, %y: tensor<f32> {dfg.name = "x"}) {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects a string as 'dfg.name', but got 3 : i64}}
dfg.entry @number(%x: tensor<f32> {dfg.name = 3}) {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.entry' op expects an initializer without feeds and fetches}}
dfg.entry @init(%x: tensor<f32>) attributes {initializer} {
  dfg.return
}

// -----

dfg.entry @init() attributes {initializer} {
  dfg.return
}
// expected-error @+1 {{'dfg.entry' op expects to be the only initializer}}
dfg.entry @other() attributes {initializer} {
  dfg.return
}

// -----

// expected-error @+1 {{'dfg.kernel' op expects to end with 'dfg.return'}}
dfg.kernel @end(%x: tensor<f32>) -> tensor<f32> {
  llvm.unreachable
}
