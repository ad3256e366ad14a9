// Variables that are slices of a larger tensor.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

module {
  dfg.variable @good : tensor<3x4xf32> {slice = #dfg.slice<"w", axis = 0, first = 1, step = 2, size = 6>}
  dfg.variable @scalar : tensor<f32> {slice = #dfg.slice<"s", axis = 0, first = 0, step = 1, size = 1>}
}

// -----

module {
  // expected-error @+1 {{expects its slice to be along one of its axes, but got axis 2}}
  dfg.variable @v : tensor<3x4xf32> {slice = #dfg.slice<"w", axis = 2, first = 1, step = 2, size = 6>}
}

// -----

module {
  // expected-error @+1 {{expects its slice to have 3 elements along axis 0, but it has at most 2}}
  dfg.variable @v : tensor<3x4xf32> {slice = #dfg.slice<"w", axis = 0, first = 1, step = 2, size = 5>}
}

// -----

module {
  // expected-error @+1 {{a slice needs the name of a tensor}}
  dfg.variable @v : tensor<3xf32> {slice = #dfg.slice<"", axis = 0, first = 0, step = 1, size = 3>}
}

// -----

module {
  // expected-error @+1 {{expected an axis, a first element and a size that are not negative, and a step of at least 1}}
  dfg.variable @v : tensor<3xf32> {slice = #dfg.slice<"w", axis = 0, first = 0, step = 0, size = 3>}
}
