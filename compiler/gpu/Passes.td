//===- Passes.td - Code of GPUs -------------------------------------------===//

#ifndef TFC_COMPILER_GPU_PASSES_TD
#define TFC_COMPILER_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def GpuAttachTargetPass : Pass<"tfc-gpu-attach-target", "::mlir::ModuleOp"> {
  let summary = "Describes the target of kernels for GPUs";
  let description = [{
    Before: any module. After: if a kernel is for the target `gpu`,
    `kernel.targets` of the module describes it; an existing description is
    replaced. No errors.
  }];
  let options = [
    Option<"products", "products", "bool", /*default=*/"true",
           "Use the dedicated emitter of sums of products">,
    Option<"precision", "precision", "::tfc::gpu::Precision",
           /*default=*/"::tfc::gpu::Precision::F32",
           "The type to which products of f32 may round their factors",
           [{::llvm::cl::values(clEnumValN(::tfc::gpu::Precision::F32, "f32", ""),
                                clEnumValN(::tfc::gpu::Precision::TF32, "tf32", ""),
                                clEnumValN(::tfc::gpu::Precision::BF16, "bf16", ""))}]>
  ];
  let dependentDialects = ["::tfc::kernel::KernelDialect"];
}

def GpuAnnotatePass : Pass<"tfc-gpu-annotate", "::mlir::ModuleOp"> {
  let summary = "Determines which arguments the results of a GPU's kernels may overwrite";
  let description = [{
    Before: kernels prepared by tfc-prepare-kernels, whose module describes their
    targets. After: results of kernels for GPUs have `kernel.may_share`, as by
    tfc-cpu-annotate. Other kernels are unchanged. Errors: those of
    tfc-gpu-codegen.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def GpuCodegenPass : Pass<"tfc-gpu-codegen", "::mlir::ModuleOp"> {
  let summary = "Turns a GPU's kernels in linalg form into functions of a thread";
  let description = [{
    Before: prepared kernels, results placed by `kernel.in_place`. After: each
    kernel for a GPU is a declaration with a `#kernel.abi`, whose grids are
    functions of the module `device_code`: `llvm.func`s that compute what one
    thread does, with bodies of scf, arith, math and LLVM operations. Kernels for
    other targets are unchanged. Errors: operations without a code generator, and
    results that overwrite arguments that are read later.
  }];
  let dependentDialects = [
    "::tfc::kernel::KernelDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
}

def GpuExpandMathPass : Pass<"tfc-gpu-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands functions on floats";
  let description = [{
    Before: functions of `device_code` as tfc-gpu-codegen leaves them. After: the
    functions on floats that the code generator of GPUs lacks are polynomials, or
    calls of functions of libclc, which tfc-gpu-emit-image links. No errors.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def GpuEmitImagePass : Pass<"tfc-gpu-emit-image", "::mlir::ModuleOp"> {
  let summary = "Compiles a GPU's functions to PTX";
  let description = [{
    Before: a module `device_code` in the LLVM dialect. After: a `kernel.image`
    with its code replaces it, and with the binaries that NVIDIA's assembler makes
    from it for the capabilities asked for. Errors: what LLVM's code generator for
    GPUs cannot select, functions that nothing defines, and those of the assembler.
  }];
  let options = [
    Option<"optLevel", "opt-level", "unsigned", /*default=*/"2", "LLVM's optimisation level">,
    ListOption<"capabilities", "capabilities", "int64_t",
               "Compute capabilities, in tenths, of the GPUs to assemble for">
  ];
  let dependentDialects = ["::tfc::kernel::KernelDialect"];
}

#endif // TFC_COMPILER_GPU_PASSES_TD
