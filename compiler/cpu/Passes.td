#ifndef TFC_COMPILER_CPU_PASSES_TD
#define TFC_COMPILER_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuAnnotatePass : Pass<"tfc-cpu-annotate", "::mlir::ModuleOp"> {
  let summary = "Determines which arguments the results of kernels may overwrite";
  let description = [{
    Before: kernels prepared by tfc-prepare-kernels, whose module describes their
    targets. After:
    results of kernels have `kernel.may_share`, the numbers of the tensor
    arguments whose buffers the result may reuse: every read of an element of
    the argument happens before the element is overwritten. The schedules of the
    kernels, which determine this, are preserved for tfc-cpu-codegen. Kernels
    for other targets are unchanged. Errors: those of tfc-cpu-codegen.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CpuChooseSchedulesPass : Pass<"tfc-cpu-choose-schedules", "::mlir::ModuleOp"> {
  let summary = "Names the ways in which products are computed that measurements found";
  let description = [{
    Before: kernels prepared by tfc-prepare-kernels. After: kernels with a product
    have the `kernel.schedule` that `choices` has for them, by a hash of what they
    compute, which is the same wherever and whenever they are compiled; those
    without a choice are unchanged, and the cost model chooses for them. Choices
    that no kernel can be computed with are reported in a warning. With
    `candidate` kernels have instead the way of that number, as far as they have
    so many. Errors: those of tfc-cpu-codegen.
  }];
  let options = [
    ListOption<"choices", "choices", "std::string", "HASH=WAY of kernels">,
    Option<"candidate", "candidate", "int64_t", /*default=*/"-1",
           "The number of the way to use of each kernel">,
    Option<"winograd", "winograd", "bool", /*default=*/"true",
           "Whether weights may be transformed">
  ];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CpuTransformWeightsPass : Pass<"tfc-cpu-transform-weights", "::mlir::ModuleOp"> {
  let summary = "Transforms the weights of convolutions to multiply less";
  let description = [{
    Before: kernels prepared by tfc-prepare-kernels, with `kernel.constant` on arguments
    that are always constants. After: convolutions of f32 with constant weights along one or
    two axes and steps of 1 recover these from weights transformed for Winograd's
    algorithm, if it is estimated to be faster; their emitter reads the latter. Their
    largest error is some 50 times that of the definition. Kernels for other
    targets are unchanged. Errors: those of tfc-cpu-codegen.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CpuPackWeightsPass : Pass<"tfc-cpu-pack-weights", "::mlir::ModuleOp"> {
  let summary = "Chooses the order of the elements of constants that products read";
  let description = [{
    Before: kernels prepared by tfc-prepare-kernels, with `kernel.constant` on arguments
    that are always constants. After: those that a product reads by panels of its
    register tiles have the `kernel.packing` of these. Kernels for other targets are
    unchanged. Errors: those of tfc-cpu-codegen.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def CpuCodegenPass : Pass<"tfc-cpu-codegen", "::mlir::ModuleOp"> {
  let summary = "Turns kernels in linalg form into loops over vectors";
  let description = [{
    Before: prepared kernels, results placed by `kernel.in_place`. After:
    each kernel is an `llvm.func` over pointers with a `#kernel.abi`, and has an
    entry point for tasks; the bodies consist of scf, arith, math, vector and
    LLVM operations. Kernels for other targets are unchanged. Errors: operations
    without an emitter; results that overwrite operands that are read later.
  }];
  let options = [
    Option<"reportSchedules", "report-schedules", "bool", /*default=*/"false",
           "Report the kernels whose schedule no earlier pass has made">
  ];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
}

def CpuExpandMathPass : Pass<"tfc-cpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands functions of floats into arithmetic";
  let description = [{
    Before: math operations on scalars and vectors of any float type. After:
    operations on f32, and some on f64, are expanded into polynomials where
    these are accurate (a few ulp, with C's results for NaN, infinities and
    signed zeros); all others are left to LLVM or call libm on scalars. In
    kernels for processors that can, additions of products that may be
    contracted are fused multiply-adds. No errors.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // TFC_COMPILER_CPU_PASSES_TD
