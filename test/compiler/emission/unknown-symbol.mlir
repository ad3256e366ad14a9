// Code that needs a function which only compiler-rt or libgcc has is an internal error that names the kernel, for
// shared libraries, objects and archives. Functions of libm and the runtime are allowed.
// RUN: not tfc compile --start-after=codegen %s -o %t.so 2>&1 | FileCheck %s
// RUN: not tfc compile --start-after=codegen %s -o %t.o 2>&1 | FileCheck %s
// RUN: not tfc compile --start-after=codegen %s -o %t.a 2>&1 | FileCheck %s

// CHECK: error: internal compiler error: the code of 'kernel_1' needs '__truncsfbf2', which neither the C library nor the runtime has
module @unknown {
  llvm.func @sinf(f32) -> f32
  llvm.func hidden @kernel_0(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>} {
    %0 = llvm.load %arg0 : !llvm.ptr -> f32
    %1 = llvm.call @sinf(%0) : (f32) -> f32
    llvm.store %1, %arg0 : f32, !llvm.ptr
    llvm.return
  }
  llvm.func hidden @kernel_1(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) attributes {kernel.abi = #kernel.abi<extent = affine_map<() -> (1)>, grain = 1, scratch = affine_map<() -> (0)>>} {
    llvm.inline_asm has_side_effects ".long __truncsfbf2 - .", "" : () -> ()
    llvm.return
  }
}
