//===- SizeOps.td - Sizes that the data decide ------------------------------===//

#ifndef TFC_DIALECTS_DFG_SIZEOPS_TD
#define TFC_DIALECTS_DFG_SIZEOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_BindSizeOp : Dfg_Op<"bind_size", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dfg_CheckedWithStatus,
    Dfg_RegisterReaderRole]> {
  let summary = "Gives a run-time number the name of a size";
  let description = [{
    What stands behind it in its block, and in regions there, may have `size`
    in its types: a name that nothing else in the entry binds. Memory is
    planned for `bound`, a size over names bound before; a `count` that is
    negative or larger fails the call. Whatever mentions the name waits for
    this operation, also where no value leads from one to the other.

    ```mlir
    dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i64>
    %zeros = dfg.broadcast %zero {shape = #dfg.dims<k, 4>} : tensor<f32>
    ```
  }];
  let arguments = (ins Dfg_Position:$count, Dfg_DimsAttr:$size, Dfg_DimsAttr:$bound);
  let assemblyFormat = "$count attr-dict `:` type($count)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name that it binds.
    std::string getName();
    ::tfc::dfg::DimExpr getBoundExpr();
  }];
}

def Dfg_TruePositionsOp : Dfg_PureOp<"true_positions", [Dfg_Composite]> {
  let summary = "Gives the positions of the elements that are true";
  let description = [{
    i64[size], ascending: of as many as there are, if `size` is their number.
    Of a smaller one the first, and 0 behind the last where it is larger.

    ```mlir
    %p = dfg.true_positions %mask {size = #dfg.dims<3>} : tensor<8xi1>
    ```
  }];
  let arguments = (ins Dfg_BoolTensor:$mask, Dfg_DimsAttr:$size);
  let results = (outs Dfg_IndexTensor:$positions);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

#endif // TFC_DIALECTS_DFG_SIZEOPS_TD
