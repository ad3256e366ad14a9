//===- Passes.td - dfg kernels to linalg on tensors -----------------------===//

#ifndef TFC_COMPILER_LOWERING_PASSES_TD
#define TFC_COMPILER_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernels : Pass<"tfc-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Lowers dfg kernels to linalg on tensors";
  let description = [{
    Before: kernels (`dfg.kernel`) hold dfg operations. After: each is a
    `kernel.func` in linalg form: its named dimensions are leading `index`
    arguments, `kernel.shape` on each dynamic tensor specifies its sizes in
    terms of these, and the body consists of structured operations on tensors.
    Entries are unchanged. An operation without a lowering is an error.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::tfc::kernel::KernelDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
    "::tfc::linalg_ext::LinalgExtDialect"
  ];
}

def MarkConstants : Pass<"tfc-mark-constants", "::mlir::ModuleOp"> {
  let summary = "Finds the arguments of kernels that are always constants";
  let description = [{
    Before: entries launch kernels in linalg form. After: arguments have
    `kernel.constant` if all launches pass constants that nothing else reads.
  }];
}

#endif // TFC_COMPILER_LOWERING_PASSES_TD
