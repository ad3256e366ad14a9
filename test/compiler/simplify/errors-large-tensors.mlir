// Tensors that exceed any memory are refused in every form of a graph.
// RUN: tfc-opt --tfc-limit-sizes --split-input-file --verify-diagnostics %s

dfg.entry @result(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'broadcast' returns f32[4611686018427387905, 4], which is too large for any memory [too-large]}}
  %0 = dfg.broadcast %x {shape = #dfg.dims<4611686018427387905, 4>} : tensor<4xf32>
  %1 = dfg.sum %0 : tensor<4611686018427387905x4xf32>
  dfg.return %1 : tensor<f32>
}

// -----

dfg.entry @named(%x: tensor<?xf32, #dfg.dims<n>>) -> tensor<f32> attributes {symbols = ["n"]} {
  // expected-error @+1 {{'tile' returns f32[4611686018427387905 * n], which is too large for any memory [too-large]}}
  %0 = dfg.tile %x {repeats = #dfg.dims<4611686018427387905>} : tensor<?xf32, #dfg.dims<n>>
  %1 = dfg.sum %0 : tensor<?xf32, #dfg.dims<"4611686018427387905 * n">>
  dfg.return %1 : tensor<f32>
}

// -----

dfg.entry @size() -> tensor<i32> {
  // expected-error @+1 {{'size' returns numbers up to -2147483648, which are out of range for i32 [number-range]}}
  %0 = dfg.size {value = #dfg.dims<-2147483648>, dtype = i32}
  dfg.return %0 : tensor<i32>
}

// -----

dfg.entry @position() -> tensor<i8> {
  // expected-error @+1 {{'iota' returns numbers up to 128, which are out of range for i8 [number-range]}}
  %0 = dfg.iota {size = #dfg.dims<129>, dtype = i8}
  %1 = dfg.sum %0 : tensor<129xi8>
  dfg.return %1 : tensor<i8>
}

// -----

dfg.entry @number(%x: tensor<4xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{'place' expects numbers up to 2^56 in 'starts', but got 4611686018427387905 [too-large]}}
  %0 = dfg.place %x {starts = #dfg.dims<4611686018427387905>, shape = #dfg.dims<9>} : tensor<4xf32>
  dfg.return %0 : tensor<9xf32>
}
