// Patterns of axis names are checked against each other and against the shapes.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+2 {{'einsum': label 'in_dimm' is in one operand and not in the result, so it would be summed away [einsum-label]}}
  // expected-note @+1 {{help: did you mean 'in_dim'? to sum on purpose, write sum($1, axis: 0)}}
  %y = dfg.einsum %a, %b {labels = "o in_dim, in_dimm k -> o k"} : tensor<2x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'einsum': expected one '->' between operands and result [einsum-label]}}
  %y = dfg.einsum %a {labels = "i j"} : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'einsum': the labels are for 2 operands, but there are 1 [einsum-label]}}
  %y = dfg.einsum %a {labels = "i j, j k -> i k"} : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'einsum': 'i' does not name each axis of f32[2, 3] once [einsum-label]}}
  %y = dfg.einsum %a {labels = "i -> i"} : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{'einsum': 'i' occurs twice in 'i i' [einsum-label]}}
  %y = dfg.einsum %a {labels = "i -> i i"} : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'einsum': label 'k' of the result is in no operand [einsum-label]}}
  %y = dfg.einsum %a {labels = "i j -> i j k"} : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'einsum' expects one size for 'j', but got 3 and 4 [unequal-dimensions]}}
  %y = dfg.einsum %a, %b {labels = "i j, j k -> i k"} : tensor<2x3xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'einsum': '?' is not a valid axis name [einsum-label]}}
  %y = dfg.einsum %a {labels = "i ? -> i"} : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8xf32>) {
  // expected-error @+1 {{'rearrange' needs the size of 'h' or 'd' [rearrange]}}
  %y = dfg.rearrange %a {pattern = "t (h d) -> h t d"} : tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8xf32>) {
  // expected-error @+1 {{cannot prove that 6 equals 8, as 'rearrange' needs for '(h d)' [unequal-dimensions]}}
  %y = dfg.rearrange %a {pattern = "t (h d) -> h t d", sizes = {h = #dfg.dims<3>}} : tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8xf32>) {
  // expected-error @+1 {{'rearrange' expects the same names on both sides, but got 't d -> d' [rearrange]}}
  %y = dfg.rearrange %a {pattern = "t d -> d"} : tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8xf32>) {
  // expected-error @+1 {{'rearrange' has no axis 'x' in 't d' [rearrange]}}
  %y = dfg.rearrange %a {pattern = "t d -> d t", sizes = {x = #dfg.dims<2>}} : tensor<2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8xf32>) {
  // expected-error @+1 {{'rearrange': a ')' is missing [rearrange]}}
  %y = dfg.rearrange %a {pattern = "(t d -> d t"} : tensor<2x8xf32>
  return
}

// -----

dfg.entry @negative(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'rearrange' expects a size of at least 0 for 'b', but got -2 [rearrange]}}
  %y = dfg.rearrange %x {pattern = "i (b c) -> i b c", sizes = {b = #dfg.dims<-2>}} : tensor<4x4xf32>
  dfg.return
}
