//===- Passes.td - Forming kernels ----------------------------------------===//

#ifndef TFC_COMPILER_FUSION_PASSES_TD
#define TFC_COMPILER_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"tfc-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups the operations of entries into kernels";
  let description = [{
    Before: entries hold dfg operations; state is read at their start and
    assigned at their end. After: every computation is a `dfg.launch` of a
    `dfg.kernel`; only state, checks, large constants and reshapes, which cost
    nothing, remain besides them. Equal kernels are merged. With `probe` each
    value that a kernel computes is also pushed, for inspection (see
    `kProbeAttr`); this does not change the kernels.
  }];
  // To see how much code an elementwise operation becomes.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"fuse", "fuse", "bool", /*default=*/"true",
           "Put more than one operation into a kernel">,
    Option<"joinAttention", "attention", "bool", /*default=*/"true",
           "Compute attention, and its gradient, in kernels that store no scores">,
    Option<"printReport", "report", "bool", /*default=*/"false",
           "Print the operations of each kernel, and visits of searches, to standard error">,
    Option<"probe", "probe", "int64_t", /*default=*/"0",
           "Also return intermediate values and pass them to the function at this address">
  ];
  let statistics = [
    Statistic<"kernelCount", "kernels", "Number of different kernels">,
    Statistic<"launchCount", "launches", "Number of launches">
  ];
}

#endif // TFC_COMPILER_FUSION_PASSES_TD
