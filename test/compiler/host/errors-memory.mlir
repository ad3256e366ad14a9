// Values without assigned memory are errors, and so is a fetch whose memory another value uses.
// RUN: tfc-opt --tfc-build-host --split-input-file --verify-diagnostics %s -o /dev/null

// expected-error @+1 {{expects its memory in 'rt.arena', which 'tfc-allocate-arena' sets}}
dfg.entry @arena() {
  dfg.return
}

// -----

dfg.entry @slot(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.arena = #rt.arena<[0] of <1>>} {
  // expected-error @+1 {{expects memory for a value of 'tensor<4xf32>', which 'tfc-allocate-arena' assigns}}
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0 : tensor<4xf32>
}
llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}

// -----

// The next value of what a loop carries is not there while the condition is computed.
dfg.entry @target(%p: tensor<i1>, %x: tensor<4xf32>) attributes {rt.arena = #rt.arena<[128] of <1>>} {
  // expected-error @+1 {{expects memory for a value of 'tensor<4xf32>', which 'tfc-allocate-arena' assigns}}
  %y = dfg.while (%x) : tensor<4xf32> attributes {rt.memory = [#rt.slot<0, 0>]} {
  ^bb0(%s: tensor<4xf32>):
    dfg.condition %p : tensor<i1>
  } do {
  ^bb0(%s: tensor<4xf32>):
    dfg.yield %s : tensor<4xf32>
  }
  dfg.return
}

// -----

dfg.entry @list(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[0] of <1>>} {
  // expected-error @+1 {{expects a chunk for a list, which 'tfc-allocate-arena' assigns}}
  %l = dfg.list_create %n {shape = #dfg.dims<4>} : tensor<i32>
  dfg.return
}

// -----

dfg.tape @saved : tensor<4xf32>
dfg.entry @tape(%x: tensor<4xf32>) attributes {rt.arena = #rt.arena<[0] of <1>>} {
  // expected-error @+1 {{expects a chunk for @saved, which 'tfc-allocate-arena' assigns}}
  dfg.push @saved, %x : tensor<4xf32>
  dfg.return
}

// -----

// expected-error @+1 {{expects @saved to be a tape}}
dfg.entry @tapes() attributes {rt.arena = #rt.arena<[0] of <1>>, rt.tapes = [@saved]} {
  dfg.return
}

// -----

dfg.variable @v : tensor<4xf32>
dfg.variable @w : tensor<4xf32>
dfg.entry @swap() attributes {rt.arena = #rt.arena<[0] of <1>>} {
  %v = dfg.read @v : tensor<4xf32>
  // expected-error @+1 {{expects memory for the old value, which 'tfc-allocate-arena' assigns}}
  %w = dfg.read @w : tensor<4xf32>
  %0 = dfg.assign @v, %w : tensor<4xf32>
  %1 = dfg.assign @w, %v : tensor<4xf32>
  dfg.return
}

// -----

dfg.entry @fetch(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {rt.arena = #rt.arena<[0] of <1>>} {
  %0 = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expects result 0 to be fetch 0, in whose memory it is}}
  %1 = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  dfg.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
llvm.func @next(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>}
