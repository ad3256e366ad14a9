//===- ScatterOps.td - Rows combined at computed positions ----------------===//

#ifndef TFC_DIALECTS_DFG_SCATTEROPS_TD
#define TFC_DIALECTS_DFG_SCATTEROPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_ScatterReduceOp : Dfg_PureOp<"scatter_reduce", [Dfg_Differentiable, Dfg_Checked, Dfg_UpdateRole]> {
  let summary = "Combines rows at indices by maximum, minimum or product";
  let description = [{
    `x` with row `indices[i]` combined with `updates[i]`, elementwise, in the
    order of `i`: `mode` is "max" or "min", for which NaN is the extreme, or
    "mul", for which integers wrap. An index out of range fails the call; with
    `outside = "skip"` its update is ignored. Equal extremes share the gradient.

    ```mlir
    %y = dfg.scatter_reduce %x, %i, %u {mode = #dfg.scatter_mode<max>} : tensor<100x8xf32>, tensor<5xi32>, tensor<5x8xf32>
    ```
  }];
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_IndexTensor:$indices, Dfg_NumericTensor:$updates,
                       Dfg_ScatterModeAttr:$mode, Dfg_OutsideOption:$outside);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = [{
    $x `,` $indices `,` $updates attr-dict `:` type($x) `,` type($indices) `,` type($updates)
  }];
}

#endif // TFC_DIALECTS_DFG_SCATTEROPS_TD
