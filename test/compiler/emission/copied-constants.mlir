// A module read after code generation may only copy constants that it has, to devices that it has.
// RUN: not tfc compile --start-after=codegen %s -o %t.so 2>&1 | FileCheck %s

// CHECK: copied-constants.mlir:[[@LINE+1]]:1: error: expects copied constants within 16 bytes, on one of 2 devices
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #dfg.device<"/job:local/task:0/device:gpu:0">],
    dfg.weights = [dense<1.0> : tensor<4xf32>], rt.copied_constants = [#rt.copied_constant<8, 16 on 1>]} {
}
