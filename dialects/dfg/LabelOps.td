//===- LabelOps.td - Operations written with names of axes ----------------===//

#ifndef TFC_DIALECTS_DFG_LABELOPS_TD
#define TFC_DIALECTS_DFG_LABELOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_EinsumOp : Dfg_PureOp<"einsum", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Sums products over named axes";
  let description = [{
    `labels` names the axes of each operand and, after `->`, of the result:
    names are separated by spaces, operands by commas, and `..` stands for any
    number of axes. Axes with the same name have the same size; names that the
    result lacks are summed over. A name that occurs in only one operand and not
    in the result is an error, since a misspelled name would silently become a
    sum. A name that occurs twice in an operand denotes its diagonal, `"i i ->
    i"`, which is summed if the name occurs nowhere else: `"b i i -> b"` is a
    trace.

    ```mlir
    %y = dfg.einsum %a, %b {labels = "b i j, b j k -> b i k"} : tensor<2x3x4xf32>, tensor<2x4x5xf32>
    ```
  }];
  let specialValues =
      "Those of `matmul`: integers wrap, 0 times an infinity is NaN. A tensor whose axes are "
      "only permuted, or taken along a diagonal, passes as it is.";
  let arguments = (ins Variadic<Dfg_NumericTensor>:$xs, StrAttr:$labels);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$xs attr-dict `:` type($xs)";
}

def Dfg_RearrangeOp : Dfg_PureOp<"rearrange", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Splits, merges and permutes axes by names";
  let description = [{
    `pattern` names the axes before and after `->`; names in parentheses form
    one axis, whose last name varies fastest; `1` is an axis of size 1 and `..`
    stands for any number of axes. `sizes` has the sizes of names that split an
    axis; one name of each axis can be computed from the others.

    ```mlir
    %y = dfg.rearrange %x {pattern = "t (h d) -> h t d", sizes = {h = #dfg.dims<2>}} : tensor<3x8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, StrAttr:$pattern, OptionalAttr<DictionaryAttr>:$sizes);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_LABELOPS_TD
