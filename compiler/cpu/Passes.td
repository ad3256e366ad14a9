#ifndef TFC_COMPILER_CPU_PASSES_TD
#define TFC_COMPILER_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuAnnotatePass : Pass<"tfc-cpu-annotate", "::mlir::ModuleOp"> {
  let summary = "Say which arguments a kernel's results may overwrite";
  let description = [{
    Before: kernels in linalg form whose module describes their targets. After:
    result i of each kernel has
    `kernel.may_share`, the numbers (among the tensor arguments) of those whose
    buffer the result may take: every read of the argument happens before the
    element at the same place is written. The schedule of each kernel, which
    decides that, is kept for tfc-cpu-codegen. Kernels for other targets are left
    as they are. Errors: as of tfc-cpu-codegen.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CpuCodegenPass : Pass<"tfc-cpu-codegen", "::mlir::ModuleOp"> {
  let summary = "Turn kernels in linalg form into loops over vectors";
  let description = [{
    Before: kernels in linalg form, results placed by `kernel.in_place`. After:
    each kernel is an `llvm.func` over pointers with a `#kernel.abi`, and an
    entry for tasks beside it; the bodies hold scf, arith, math, vector and LLVM
    operations. Kernels for other targets are left as they are. Errors:
    operations that no emitter knows, results in place of operands that are read
    later.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
}

def CpuExpandMathPass : Pass<"tfc-cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand functions on floats into arithmetic";
  let description = [{
    Before: math operations on scalars and vectors of any float type. After: the
    ones on f32 are polynomials where those are accurate (a few ulp, NaN,
    infinities and signed zeros as in C), all others are left to LLVM and libm,
    on scalars. No errors.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // TFC_COMPILER_CPU_PASSES_TD
