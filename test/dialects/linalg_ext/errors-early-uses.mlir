// A use before a region that defines the value ends with an error if the region fails to parse.
// RUN: tfc-opt --verify-diagnostics --split-input-file %s

func.func @scan(%init: f32, %x: tensor<4xf32>) {
  %0 = arith.addf %early, %init : f32
  %1 = linalg_ext.scan %init, %x along 0 : f32, tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%early: f32, %e: f32):
    linalg_ext.yield %early : f32
  // expected-error @+1 {{expected operation name in quotes}}
  ^bb1: )
}

// -----

func.func @scatter(%x: tensor<4xf32>, %i: tensor<4x1xi64>, %s: f32) {
  %0 = arith.addf %early, %s : f32
  %1 = linalg_ext.scatter %x into %x at %i : tensor<4xf32>, tensor<4xf32>, tensor<4x1xi64> {
  ^bb0(%early: f32, %e: f32):
    linalg_ext.yield %early : f32
  // expected-error @+1 {{expected operation name in quotes}}
  ^bb1: )
}
