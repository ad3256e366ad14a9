// On every processor bf16 values are integers throughout, and so are f16 values except in
// conversions that the processor supports. Objects need no functions to convert them.
// RUN: tfc compile --start-after=codegen --mcpu=x86-64 --emit=llvm %s -o - | FileCheck %s --check-prefixes=CHECK,INTS,NONE
// RUN: tfc compile --start-after=codegen --mcpu=haswell --emit=llvm %s -o - | FileCheck %s --check-prefixes=CHECK,INTS,F16C
// RUN: tfc compile --start-after=codegen --mcpu=skylake-avx512 --emit=llvm %s -o - | FileCheck %s --check-prefixes=CHECK,INTS,F16C
// RUN: tfc compile --start-after=codegen --mcpu=znver4 --emit=llvm %s -o - | FileCheck %s --check-prefixes=CHECK,F16C,BF16
// RUN: tfc compile --start-after=codegen --mcpu=znver4 -O0 --emit=llvm %s -o - | FileCheck %s --check-prefixes=CHECK,F16C,BF16
// RUN: tfc compile --start-after=codegen --mcpu=x86-64 -O0 %s -o %t.o
// RUN: tfc compile --start-after=codegen --mcpu=x86-64 %s -o %t.o
// RUN: tfc compile --start-after=codegen --mcpu=haswell %s -o %t.o
// RUN: tfc compile --start-after=codegen --mcpu=skylake-avx512 %s -o %t.o
// RUN: tfc compile --start-after=codegen --mcpu=sapphirerapids %s -o %t.o

module @shorts {
  llvm.func @llvm.fma.v8f16(vector<8xf16>, vector<8xf16>, vector<8xf16>) -> vector<8xf16>

  // Operations that only move short floats are compiled without a type of floats.
  // CHECK-LABEL: @shorts.moves(
  // CHECK-NOT: {{bfloat|half}}
  // CHECK: ret void
  llvm.func @moves(%p: !llvm.ptr, %m: vector<8xi1>, %c: i1) {
    %0 = llvm.load %p : !llvm.ptr -> vector<8xbf16>
    %zero = llvm.mlir.constant(dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : vector<8xbf16>) : vector<8xbf16>
    %1 = llvm.intr.masked.load %p, %m, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xbf16>) -> vector<8xbf16>
    %2 = llvm.select %m, %0, %1 : vector<8xi1>, vector<8xbf16>
    %3 = llvm.shufflevector %2, %0 [0, 9, 2, 11, 4, 13, 6, 15] : vector<8xbf16>
    llvm.cond_br %c, ^then(%3 : vector<8xbf16>), ^else(%2 : vector<8xbf16>)
  ^then(%4: vector<8xbf16>):
    %i = llvm.mlir.constant(3 : i64) : i64
    %5 = llvm.extractelement %4[%i : i64] : vector<8xbf16>
    %6 = llvm.insertelement %5, %0[%i : i64] : vector<8xbf16>
    llvm.br ^else(%6 : vector<8xbf16>)
  ^else(%7: vector<8xbf16>):
    llvm.intr.masked.store %7, %p, %m {alignment = 2 : i32} : vector<8xbf16>, vector<8xi1> into !llvm.ptr
    llvm.return
  }

  // Arithmetic, comparisons and conversions go by way of f32.
  // CHECK-LABEL: @shorts.numbers(
  // INTS-NOT: bfloat
  // NONE-NOT: half
  // F16C: fpext <8 x half> %{{.*}} to <8 x float>
  // CHECK: call {{.*}}<8 x float> @llvm.fma.v8f32
  // F16C: fptrunc <8 x float> %{{.*}} to <8 x half>
  // NONE-NOT: half
  // BF16: fptrunc float %{{.*}} to bfloat
  // INTS-NOT: bfloat
  // CHECK: ret void
  llvm.func @numbers(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) {
    %0 = llvm.load %p : !llvm.ptr -> vector<8xf16>
    %1 = llvm.load %q : !llvm.ptr -> vector<8xf16>
    %2 = llvm.call @llvm.fma.v8f16(%0, %1, %1) : (vector<8xf16>, vector<8xf16>, vector<8xf16>) -> vector<8xf16>
    %3 = llvm.fneg %2 : vector<8xf16>
    %4 = llvm.fcmp "olt" %3, %0 : vector<8xf16>
    %5 = llvm.select %4, %0, %3 : vector<8xi1>, vector<8xf16>
    llvm.store %5, %p : vector<8xf16>, !llvm.ptr
    %6 = llvm.load %r : !llvm.ptr -> bf16
    %7 = llvm.fadd %6, %6 : bf16
    %8 = llvm.fptosi %7 : bf16 to i64
    %9 = llvm.sitofp %8 : i64 to f16
    llvm.store %9, %q : f16, !llvm.ptr
    %10 = llvm.load %q : !llvm.ptr -> f64
    %11 = llvm.fptrunc %10 : f64 to bf16
    llvm.store %11, %r : bf16, !llvm.ptr
    llvm.return
  }

  // Parameters and results of functions become integers, too.
  // CHECK-LABEL: define hidden i16 @shorts.signatures(i16 {{.*}}i16
  // INTS-NOT: bfloat
  // CHECK: ret i16
  llvm.func @signatures(%x: bf16, %y: bf16) -> bf16 attributes {no_inline} {
    %0 = llvm.fmul %x, %y : bf16
    llvm.return %0 : bf16
  }

  // CHECK-LABEL: @shorts.callers(
  // CHECK: call i16 @shorts.signatures(i16
  // CHECK: ret void
  llvm.func @callers(%p: !llvm.ptr) {
    %0 = llvm.load %p : !llvm.ptr -> bf16
    %1 = llvm.call @signatures(%0, %0) : (bf16, bf16) -> bf16
    llvm.store %1, %p : bf16, !llvm.ptr
    llvm.return
  }
}
