//===- Passes.td - Common code of all targets -----------------------------===//

#ifndef TFC_COMPILER_KERNELS_PASSES_TD
#define TFC_COMPILER_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"tfc-attach-target", "::mlir::ModuleOp"> {
  let summary = "Describes the target of kernels";
  let description = [{
    Before: any module. After: `kernel.targets` of the module describes the
    target `cpu`, for which kernels are compiled unless they name another one.
    An existing description is replaced. Errors: an unknown triple or processor.
  }];
  let options = [
    Option<"triple", "target", "std::string", /*default=*/"\"\"",
           "Triple to generate code for; by default that of this machine">,
    Option<"processor", "mcpu", "std::string", /*default=*/"\"\"",
           "Processor to generate code for, by LLVM's name; by default this machine's, or what all "
           "of another triple have">,
    Option<"products", "products", "bool", /*default=*/"true",
           "Use the dedicated emitter for sums of products">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Use no instructions with larger errors than those of the definition">
  ];
  let dependentDialects = ["::tfc::kernel::KernelDialect"];
}

def PrepareKernels : Pass<"tfc-prepare-kernels", "::mlir::ModuleOp"> {
  let summary = "Brings kernels into the form that schedules expect";
  let description = [{
    Before: kernels in linalg form. After: every structured operation of a kernel
    is a `linalg.generic` or an operation of `linalg_ext`, and every returned
    value is the result of a separate one of them, of the kernel's result type.
    Analyses are preserved if nothing had to change. Errors: types without a
    representation in memory, structured operations without a loop form.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def MeasureWork : Pass<"tfc-measure-work", "::mlir::ModuleOp"> {
  let summary = "Notes the arithmetic of kernels and the memory that they access";
  let description = [{
    Before: kernels as `tfc-prepare-kernels` leaves them. After: each has the
    attribute `kernel.work`, which its code keeps. A kernel that has it before keeps
    its arithmetic, because passes in between may choose an algorithm with fewer
    multiplications: it is that of the definition. An addition, multiplication or
    comparison counts 1, a quotient 6, a function such as the exponential 16.
    A kernel with sizes that depend on data inside of it is left without.
  }];
  let dependentDialects = ["::tfc::kernel::KernelDialect"];
}

#endif // TFC_COMPILER_KERNELS_PASSES_TD
