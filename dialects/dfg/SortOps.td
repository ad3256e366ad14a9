//===- SortOps.td - Elements in order -------------------------------------===//

#ifndef TFC_DIALECTS_DFG_SORTOPS_TD
#define TFC_DIALECTS_DFG_SORTOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_SortOp : Dfg_PureOp<"sort", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Sorts along an axis";
  let description = [{
    Ascending, NaN last, or `descending`, NaN first. The gradient goes to the
    original positions of the elements.

    ```mlir
    %y = dfg.sort %x {axis = 1 : i64, descending = true} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "The sort is stable, and 0 equals -0.";
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_Axis<"-1">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$descending);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_ArgTopKOp : Dfg_PureOp<"arg_top_k", [Dfg_Checked, Dfg_Numbering]> {
  let summary = "Returns the positions of the largest elements along an axis";
  let description = [{
    The positions, as i32, of the `k` largest elements, the largest first, or
    with `largest = false` of the smallest. Equal elements keep their order, and
    NaN counts as larger than any number. If `k` is the size of the axis, this
    is the permutation that sorts. A `k` above the size fails the call.

    ```mlir
    %i = dfg.arg_top_k %x {k = #dfg.dims<3>} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "0 equals -0.";
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_DimsAttr:$k, Dfg_Axis<"-1">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$largest);
  let results = (outs Dfg_I32Tensor:$places);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_TopKOp : Dfg_PureOp<"top_k",
    [Dfg_Differentiable, Dfg_Composite, Dfg_Checked, Dfg_Numbering]> {
  let summary = "Returns the largest elements along an axis, and their positions";
  let description = [{
    `arg_top_k`, with the elements: the `k` largest ones, the largest first, or
    with `largest = false` the smallest.

    ```mlir
    %values, %places = dfg.top_k %x {k = #dfg.dims<3>} : tensor<4x8xf32>
    ```
  }];
  let specialValues =
      "NaN counts as larger than any number; of 0 and -0 the first one stays first.";
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_DimsAttr:$k, Dfg_Axis<"-1">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$largest);
  let results = (outs Dfg_NumericTensor:$values, Dfg_I32Tensor:$places);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_SORTOPS_TD
