//===- ContractionOps.td - Sums of products -------------------------------===//

#ifndef TFC_DIALECTS_DFG_CONTRACTIONOPS_TD
#define TFC_DIALECTS_DFG_CONTRACTIONOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_MatmulOp : Dfg_PureOp<"matmul", [Dfg_ContractionRole, Dfg_Differentiable]> {
  let summary = "Multiplies matrices, batch by batch";
  let description = [{
    The last two axes are matrices, the axes before them a batch, broadcast like those
    of elementwise operations. `transpose_lhs` and `transpose_rhs` read the matrix
    with its last two axes swapped. f16 and bf16 accumulate in f32.

    ```mlir
    %c = dfg.matmul %a, %b : tensor<4x8xf32>, tensor<8x16xf32>
    ```
  }];
  let specialValues =
      "Integers wrap. 0 times an infinity is NaN, and so is a sum of infinities of both signs. "
      "An empty sum is 0.";
  let arguments = (ins Dfg_NumericTensor:$lhs, Dfg_NumericTensor:$rhs,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$transpose_lhs,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$transpose_rhs);
  let results = (outs Dfg_NumericTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

#endif // TFC_DIALECTS_DFG_CONTRACTIONOPS_TD
