// A module read after code generation may only declare functions of the C library or the runtime.
// RUN: not tfc compile --start-after=codegen %s -o %t.so 2>&1 | FileCheck %s

module {
  llvm.func @expf(f32) -> f32
  llvm.func @tfc_rt_call(!llvm.ptr) -> i32
  // CHECK: unknown-declaration.mlir:[[@LINE+1]]:3: error: 'no_such_function' is declared, but neither the C library nor the runtime has it
  llvm.func @no_such_function(f32) -> f32
}
