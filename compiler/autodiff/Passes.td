//===- Passes.td - Gradients ----------------------------------------------===//

#ifndef TFC_COMPILER_AUTODIFF_PASSES_TD
#define TFC_COMPILER_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildGradients : Pass<"tfc-build-gradients", "::mlir::ModuleOp"> {
  let summary = "Replaces dfg.gradients by the operations that compute them";
  let description = [{
    Before: entries may hold `dfg.gradients`; a variable is read once between
    two assignments. After: none is left. Reverse-mode differentiation: each
    operation provides the gradients of its operands
    (`DifferentiableOpInterface`). A value that reaches the loss only through
    operations without a gradient is an error that shows the path. Too many
    operations are an error as well, which gradients of gradients may cause:
    each level doubles their number.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "uint64_t", /*default=*/"::tfc::dfg::kMaxOperations",
           "The largest number of operations in the gradients of a module">,
  ];
}

#endif // TFC_COMPILER_AUTODIFF_PASSES_TD
