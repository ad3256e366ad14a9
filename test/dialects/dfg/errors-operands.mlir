// Operands of the wrong kind are errors before result types are inferred from them.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

func.func @number(%i: i32) {
  // expected-error @+1 {{'concat' expects a tensor for xs, but got 'i32' [dtype]}}
  %y = dfg.concat %i, %i : i32, i32
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'stack' expects a tensor for xs, but got 'tensor<*xf32>' [dtype]}}
  %y = dfg.stack %x, %x : tensor<*xf32>, tensor<*xf32>
  return
}

// -----

func.func @list(%l: !dfg.list<tensor<4xf32>>) {
  // expected-error @+1 {{'einsum' expects a tensor for xs, but got list[f32[4]] [dtype]}}
  %y = dfg.einsum %l, %l {labels = "i,i->"} : !dfg.list<tensor<4xf32>>, !dfg.list<tensor<4xf32>>
  return
}

// -----

func.func @none(%x: none) {
  // expected-error @+1 {{'merge' expects a tensor or a list for inputs, but got 'none' [dtype]}}
  %y, %i = dfg.merge %x, %x : none, none
  return
}

// -----

func.func @element(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'neg' expects a tensor for x, but got 'tensor<4xcomplex<f32>>' [dtype]}}
  %y = dfg.neg %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @unnamed(%x: tensor<?xf32>) {
  // expected-error @+1 {{'neg' expects a tensor for x, but got 'tensor<?xf32>' [dtype]}}
  %y = dfg.neg %x : tensor<?xf32>
  return
}

// -----

func.func @predicate(%x: tensor<4xf32>, %p: tensor<2xi1>) {
  // expected-error @+1 {{'switch' expects a bool for predicate, but got bool[2] [dtype]}}
  %t, %f = dfg.switch %x, %p : tensor<4xf32>, tensor<2xi1>
  return
}

// -----

// expected-error @+1 {{expected elements of a list to be tensors, but got index[4]}}
func.func @elements(%l: !dfg.list<tensor<4xindex>>) {
  return
}

// -----

func.func @dtype(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.cast' op attribute 'dtype' failed to satisfy constraint: element type}}
  %y = dfg.cast %x {dtype = vector<4xf32>} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'dfg.variable' op attribute 'type' failed to satisfy constraint}}
dfg.variable @w : tensor<4xindex>
