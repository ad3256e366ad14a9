// Missing attributes in parsed IR are an error before types are inferred.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

func.func @missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.slice' op requires attribute 'sizes'}}
  %y = dfg.slice %x {start = 3 : i64} : tensor<4xf32>
  return
}

// -----

func.func @wrong(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dfg.iota' op attribute 'size' failed to satisfy constraint}}
  %y = dfg.iota {size = 3 : i64}
  return
}

// -----

func.func @recompute(%x: tensor<4xf32>) {
  // expected-error @+2 {{expected ::tfc::dfg::Recompute to be one of: all, sqrt}}
  // expected-error @+1 {{failed to parse Dfg_RecomputeAttr parameter 'value'}}
  %y = dfg.while (%x) : tensor<4xf32> attributes {recompute = #dfg.recompute<some>} {
  ^bb0(%a: tensor<4xf32>):
    %go = dfg.constant dense<false> : tensor<i1>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%a: tensor<4xf32>):
    dfg.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @yields(%p: tensor<i1>, %x: tensor<4xf32>) {
  %y = dfg.if %p : tensor<i1> -> tensor<4xf32> {
    dfg.yield %x : tensor<4xf32>
  } else {
    // expected-error @+1 {{expects values of the types (f32[4]), but got ()}}
    dfg.yield
  }
  return
}

// -----

func.func @merge(%x: tensor<4xf32>, %n: tensor<i32>) {
  // expected-error @+1 {{expects inputs of one type, but got f32[4] and i32}}
  %y, %i = dfg.merge %x, %n : tensor<4xf32>, tensor<i32>
  return
}

// -----

func.func @tape(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects the name of a tape, but got @none}}
  dfg.push @none, %x : tensor<4xf32>
  return
}

// -----

func.func @element(%l: !dfg.list<tensor<4xf32>>, %i: tensor<i32>, %x: tensor<i32>) {
  // expected-error @+1 {{'list_write' expects an element f32[4] for a list of them, but got i32 [list-element]}}
  %m = dfg.list_write %l, %i, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @sum_of_bools(%l: !dfg.list<tensor<4xi1>>) {
  // expected-error @+1 {{'list_sum' expects a list of numbers, but got list[bool[4]] [dtype]}}
  %m = dfg.list_sum %l, %l : !dfg.list<tensor<4xi1>>, !dfg.list<tensor<4xi1>>
  return
}

// -----

// expected-error @+1 {{attribute 'kind' failed to satisfy constraint: The order in which a queue returns its elements}}
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = "fifo", capacity = 8 : i64}

// -----

// expected-error @+1 {{expects a capacity of at least 1, but got 0}}
dfg.queue @q : [tensor<4xf32>] {names = ["x"], kind = #dfg.queue<fifo>, capacity = 0 : i64}
