//===- SizeOps.td - Data-dependent sizes ----------------------------------===//

#ifndef TFC_DIALECTS_DFG_SIZEOPS_TD
#define TFC_DIALECTS_DFG_SIZEOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_BindSizeOp : Dfg_Op<"bind_size", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dfg_CheckedWithStatus,
    Dfg_StepRole, Dfg_RegisterReaderRole]> {
  let summary = "Binds the name of a size to a run-time number";
  let description = [{
    Later operations in its block, and in regions there, may have `size` in
    their types: a name that nothing else in the entry binds. Memory is planned
    for `bound`, a size over names bound before; a `count` that is negative or
    larger fails the call. Every operation that mentions the name depends on
    this one, even without a def-use chain between them. A copy that binds the
    name again in another region is `checked`: its count cannot fail.

    ```mlir
    dfg.bind_size %count {size = #dfg.dims<k>, bound = #dfg.dims<8>} : tensor<i64>
    %zeros = dfg.broadcast %zero {shape = #dfg.dims<k, 4>} : tensor<f32>
    ```
  }];
  let arguments = (ins Dfg_Position:$count, Dfg_DimsAttr:$size, Dfg_DimsAttr:$bound,
                       UnitAttr:$checked);
  let internalAttributes = ["checked"];
  let assemblyFormat = "$count attr-dict `:` type($count)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name that it binds.
    std::string getName();
    ::tfc::dfg::DimExpr getBoundExpr();
  }];
}

def Dfg_TruePositionsOp : Dfg_PureOp<"true_positions", [Dfg_Composite]> {
  let summary = "Returns the positions of true elements";
  let description = [{
    i64[size], ascending. If `size` is less than the number of true elements,
    only the first ones are returned; if it is larger, the rest is 0.

    ```mlir
    %p = dfg.true_positions %mask {size = #dfg.dims<3>} : tensor<8xi1>
    ```
  }];
  let arguments = (ins Dfg_BoolTensor:$mask, Dfg_DimsAttr:$size);
  let results = (outs Dfg_I64Tensor:$positions);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

#endif // TFC_DIALECTS_DFG_SIZEOPS_TD
