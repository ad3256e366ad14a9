// Attributes for the memory of values that an entry does not have are refused.
// RUN: tfc-opt --split-input-file --verify-diagnostics %s -o /dev/null

// expected-error @+1 {{expected an offset of at least 0, but got -64}}
#slot = #rt.slot<0, -64>

// -----

// expected-error @+1 {{expected a chunk below 1048576, but got 1048576}}
#chunk = #rt.chunk<1048576>

// -----

// expected-error @+1 {{expected a unit for each region, but got 1 counts and 2 units}}
#arena = #rt.arena<[64] of <1, n>>

// -----

// expected-error @+1 {{expected bytes as the unit of the first region}}
#arena = #rt.arena<[64] of <n>>

// -----

// expected-error @+1 {{expected counts of at least 0}}
#arena = #rt.arena<[-64] of <1>>

// -----

// expected-error @+1 {{has an invalid attribute 'rt.arena'}}
dfg.entry @arena() attributes {rt.arena = 64 : i64} {
  dfg.return
}

// -----

// expected-error @+1 {{has an invalid attribute 'rt.tapes'}}
dfg.entry @tapes() attributes {rt.tapes = ["tape"]} {
  dfg.return
}

// -----

// expected-error @+1 {{has an invalid attribute 'rt.other'}}
dfg.entry @other() attributes {rt.other} {
  dfg.return
}

// -----

dfg.entry @number(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.memory'}}
  %m = dfg.neg %n {dfg.in_register, rt.memory = []} : tensor<i32>
  dfg.return
}

// -----

dfg.entry @region(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.memory'}}
  %m = dfg.neg %n {dfg.in_register, rt.memory = [#rt.slot<1, 0>]} : tensor<i32>
  dfg.return
}

// -----

dfg.entry @offset(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.memory'}}
  %m = dfg.neg %n {dfg.in_register, rt.memory = [#rt.slot<0, 64>]} : tensor<i32>
  dfg.return
}

// -----

dfg.entry @kind(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.memory'}}
  %m = dfg.neg %n {dfg.in_register, rt.memory = [#rt.chunk<0>]} : tensor<i32>
  dfg.return
}

// -----

dfg.entry @scratch(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.scratch'}}
  %m = dfg.neg %n {dfg.in_register, rt.scratch = #rt.slot<0, 0>} : tensor<i32>
  dfg.return
}

// -----

dfg.entry @alternate(%n: tensor<i32>) attributes {rt.arena = #rt.arena<[64] of <1>>} {
  // expected-error @+1 {{has an invalid attribute 'rt.alternate'}}
  %m = dfg.neg %n {dfg.in_register, rt.alternate = [#rt.slot<0, 0>]} : tensor<i32>
  dfg.return
}

// -----

// expected-error @+1 {{has an invalid attribute 'rt.entry'}}
llvm.func @entry(!llvm.ptr) -> i32 attributes {rt.entry = 0 : i32}

// -----

// expected-error @+1 {{has an invalid attribute 'rt.on_gpu'}}
llvm.func @on_gpu(!llvm.ptr) -> i32 attributes {rt.entry, rt.on_gpu = 1 : i64}

// -----

// expected-error @+1 {{expected partitions on device 0 and others}}
llvm.func @alone() attributes {rt.entry, rt.partitioning = #rt.partitioning<[0], [0], [], false>}

// -----

// expected-error @+1 {{expected 0, 1 or 2 for each partition's use of variables, or 4 more}}
llvm.func @accesses() attributes {rt.entry, rt.partitioning = #rt.partitioning<[0, 1], [0, 3], [], false>}

// -----

// expected-error @+1 {{expected slots of 2 partitions, but got #dfg.slot<0 to 2>}}
llvm.func @slots() attributes {rt.entry, rt.partitioning = #rt.partitioning<[0, 1], [0, 0], [#dfg.slot<0 to 2>], false>}

// -----

// expected-error @+1 {{expected bytes of the constants and a device other than the caller's}}
#copied = #rt.copied_constant<64, 16 on 0>

// -----

// expected-error @+1 {{has an invalid attribute 'rt.copied_constants'}}
module attributes {rt.copied_constants = [64]} {
}

// -----

// expected-error @+1 {{has an invalid attribute 'rt.variable_devices'}}
module attributes {rt.variable_devices = [1]} {
}
