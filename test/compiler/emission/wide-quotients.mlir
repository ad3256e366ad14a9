// Quotients and remainders of 128 bits are computed inline: only compiler-rt and libgcc have functions for them.
// RUN: tfc compile --start-after=codegen %s -o %t.o
// RUN: llvm-nm -u %t.o | FileCheck %s --implicit-check-not=__
// CHECK: tfc_instance_create

module @wide {
  llvm.func @quotients(%p: !llvm.ptr, %x: i128, %y: i128) {
    %0 = llvm.udiv %x, %y : i128
    %1 = llvm.sdiv %0, %x : i128
    %2 = llvm.urem %1, %y : i128
    %3 = llvm.srem %2, %x : i128
    llvm.store %3, %p : i128, !llvm.ptr
    llvm.return
  }
}
