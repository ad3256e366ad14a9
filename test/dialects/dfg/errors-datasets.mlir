// Datasets that could not be read, and values that are not of their rows, are refused.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

// expected-error @+1 {{rows need sizes known at compile time}}
dfg.dataset @d : [tensor<?xf32, #dfg.dims<n>>] {names = ["x"], format = #dfg.dataset_format<csv>, paths = ["d"]}

// -----

// expected-error @+1 {{rows have at least one component}}
dfg.dataset @d : [] {names = [], format = #dfg.dataset_format<csv>, paths = ["d"]}

// -----

// expected-error @+1 {{expects one name per component}}
dfg.dataset @d : [tensor<f32>, tensor<f32>] {names = ["x"], format = #dfg.dataset_format<csv>, paths = ["d"]}

// -----

// expected-error @+1 {{expects tensors}}
dfg.dataset @d : [f32] {names = ["x"], format = #dfg.dataset_format<csv>, paths = ["d"]}

// -----

// expected-error @+1 {{rows have tensors of the element types of the language}}
dfg.dataset @d : [tensor<2xindex>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = ["d"]}

// -----

// expected-error @+1 {{a csv file has no f16 and bf16}}
dfg.dataset @d : [tensor<f16>] {names = ["x"], format = #dfg.dataset_format<csv>, paths = ["d"]}

// -----

// expected-error @+1 {{a tf.Example has no f16 and bf16}}
dfg.dataset @d : [tensor<bf16>] {names = ["x"], format = #dfg.dataset_format<tfrecord>, paths = ["d"]}

// -----

// expected-error @+1 {{a npy file has no bf16}}
dfg.dataset @d : [tensor<bf16>] {names = ["x"], format = #dfg.dataset_format<npy>, paths = ["d"]}

// -----

// expected-error @+1 {{a dataset has at least one file}}
dfg.dataset @d : [tensor<f32>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = []}

// -----

// expected-error @+1 {{there are 2 components, but 1 npy files}}
dfg.dataset @d : [tensor<f32>, tensor<f32>] {names = ["x", "y"], format = #dfg.dataset_format<npy>, paths = ["x"]}

// -----

// expected-error @+1 {{'skip' must not be negative}}
dfg.dataset @d : [tensor<f32>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = ["d"], skip = -1 : i64}

// -----

// expected-error @+1 {{only csv and raw files have 'skip'}}
dfg.dataset @d : [tensor<f32>] {names = ["x"], format = #dfg.dataset_format<npy>, paths = ["d"], skip = 1 : i64}

// -----

dfg.entry @f(%i: tensor<i64>) {
  // expected-error @+1 {{expects the name of a dataset, but got @d}}
  %x = dfg.read_rows @d(%i) : tensor<i64> -> tensor<f32>
  dfg.return
}

// -----

dfg.entry @f() {
  // expected-error @+1 {{expects the name of a dataset, but got @d}}
  %x = dfg.dataset_size @d : tensor<i64>
  dfg.return
}

// -----

dfg.dataset @d : [tensor<4xf32>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = ["d"]}
dfg.entry @f(%i: tensor<2xi64>) {
  // expected-error @+1 {{expects f32[2, 4] for @d, but got f32[4, 2]}}
  %x = dfg.read_rows @d(%i) : tensor<2xi64> -> tensor<4x2xf32>
  dfg.return
}

// -----

dfg.dataset @d : [tensor<4xf32>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = ["d"]}
dfg.entry @f(%i: tensor<2xi64>) {
  // expected-error @+1 {{expects 1 results for @d, but got 2}}
  %x:2 = dfg.read_rows @d(%i) : tensor<2xi64> -> tensor<2x4xf32>, tensor<2x4xf32>
  dfg.return
}

// -----

dfg.dataset @d : [tensor<4xf32>] {names = ["x"], format = #dfg.dataset_format<raw>, paths = ["d"]}
dfg.entry @f() {
  // expected-error @+1 {{expects a result of type i64}}
  %x = dfg.dataset_size @d : tensor<i32>
  dfg.return
}
