#ifndef TFC_COMPILER_CPU_PASSES_TD
#define TFC_COMPILER_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuAnnotatePass : Pass<"tfc-cpu-annotate", "::mlir::ModuleOp"> {
  let summary = "Say which arguments a kernel's results may overwrite";
  let description = [{
    Before: kernels in linalg form. After: result i of each kernel has
    `tfc.may_share`, the numbers (among the tensor arguments) of those whose
    buffer the result may take: every read of the argument happens before the
    element at the same place is written. Errors: as of tfc-cpu-codegen.
  }];
  let options = [
    Option<"cpu", "mcpu", "std::string", /*default=*/"\"native\"",
           "Processor to schedule for, by LLVM's name: the same as for tfc-cpu-codegen">,
    Option<"products", "products", "bool", /*default=*/"true",
           "Emit matrix products by code of their own: the same as for tfc-cpu-codegen">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def CpuCodegenPass : Pass<"tfc-cpu-codegen", "::mlir::ModuleOp"> {
  let summary = "Turn kernels in linalg form into loops over vectors";
  let description = [{
    Before: kernels in linalg form, results placed by `tfc.inplace`. After: each
    kernel is an `llvm.func` over pointers with the attributes `tfc.extent`,
    `tfc.grain` and `tfc.scratch`, and an entry for tasks beside it; the bodies
    hold scf, arith, math, vector and LLVM operations. Errors: operations that
    no emitter knows.
  }];
  let options = [
    Option<"cpu", "mcpu", "std::string", /*default=*/"\"native\"",
           "Processor to schedule for, by LLVM's name">,
    Option<"products", "products", "bool", /*default=*/"true",
           "Emit matrix products by code of their own">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
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
