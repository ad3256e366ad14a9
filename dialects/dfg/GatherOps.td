//===- GatherOps.td - Elements at computed positions ----------------------===//

#ifndef TFC_DIALECTS_DFG_GATHEROPS_TD
#define TFC_DIALECTS_DFG_GATHEROPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_GatherOp : Dfg_PureOp<"gather", [Dfg_ParallelRole,
    DeclareOpInterfaceMethods<Dfg_RowGatherOpInterface>, Dfg_Differentiable, Dfg_Checked,
    Dfg_SizeEvaluation]> {
  let summary = "Takes rows by their indices";
  let description = [{
    Replaces axis `axis` of `x` by the axes of `indices`: element `[i, j]` of
    the result is `x[indices[i], j]` for axis 0. An index out of range fails the
    call; with `outside = "skip"` it returns zeros.

    ```mlir
    %y = dfg.gather %x, %i {axis = 0 : i64} : tensor<100x8xf32>, tensor<5xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_IndexTensor:$indices, Dfg_Axis<"0">:$axis,
                       Dfg_OutsideOption:$outside);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` type($x) `,` type($indices)";
}

def Dfg_GatherNdOp : Dfg_PureOp<"gather_nd", [Dfg_Differentiable, Dfg_Composite, Dfg_Checked]> {
  let summary = "Takes slices by index vectors";
  let description = [{
    The last axis of `indices` holds positions in the first axes of `x`:
    element `[i, j]` of the result is `x[indices[i, 0], indices[i, 1], j]` for
    index vectors of length 2. An index out of range fails the call.

    ```mlir
    %y = dfg.gather_nd %x, %i : tensor<4x8x3xf32>, tensor<5x2xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_IndexTensor:$indices);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` type($x) `,` type($indices)";
}

def Dfg_TakeAlongAxisOp : Dfg_PureOp<"take_along_axis",
    [Dfg_Differentiable, Dfg_Composite, Dfg_Checked]> {
  let summary = "Takes elements along an axis, by an index per element";
  let description = [{
    `indices` has the sizes of `x` except along `axis`: element `[i, k]` of the
    result is `x[i, indices[i, k]]` for axis 1. An index out of range fails the
    call.

    ```mlir
    %y = dfg.take_along_axis %x, %i {axis = 1 : i64} : tensor<4x8xf32>, tensor<4x2xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_IndexTensor:$indices, Dfg_Axis<"-1">:$axis);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` type($x) `,` type($indices)";
}

def Dfg_CheckIndicesOp : Dfg_PureOp<"check_indices", [Dfg_Composite, Dfg_Checked]> {
  let summary = "Returns indices that are in range";
  let description = [{
    Returns `indices`; an index outside of the range of axis `axis` of `shape` fails
    the call. The message names the type with this shape and the element type
    `dtype`, as in "got index 7 of axis 0 of f32[5, 2]", or, without `dtype`, the
    range, as in "got part 7, but expects 0 to 4"; `what` is the word for an index.
    Functions that compute positions from indices report them in this way.

    ```mlir
    %j = dfg.check_indices %i {shape = #dfg.dims<5, 2>, dtype = f32, axis = 1 : i64} : tensor<3xi32>
    %k = dfg.check_indices %i {shape = #dfg.dims<5>, what = "part"} : tensor<3xi32>
    ```
  }];
  let specialValues = "Indices pass as they are.";
  let arguments = (ins Dfg_IndexTensor:$indices, Dfg_DimsAttr:$shape, OptionalAttr<Dfg_Dtype>:$dtype,
                       Dfg_Axis<"0">:$axis, DefaultValuedOptionalStrAttr<StrAttr, "index">:$what);
  let results = (outs Dfg_IndexTensor:$checked);
  let assemblyFormat = "$indices attr-dict `:` type($indices)";
  let extraClassDeclaration = [{
    /// The size that all indices must be below.
    ::tfc::dfg::DimExpr getSize();
  }];
}

/// Changes rows of `x` along axis 0.
class Dfg_ScatterOp<string mnemonic, string dtypes> :
    Dfg_PureOp<mnemonic, [Dfg_Differentiable, Dfg_Checked, Dfg_UpdateRole]> {
  let arguments = (ins Dfg_TensorNamed<dtypes>.type:$x, Dfg_IndexTensor:$indices, Dfg_TensorNamed<dtypes>.type:$updates,
                       Dfg_OutsideOption:$outside);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = [{
    $x `,` $indices `,` $updates attr-dict `:` type($x) `,` type($indices) `,` type($updates)
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferScatter(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                          adaptor.getX().getType(), adaptor.getIndices().getType(),
                          adaptor.getUpdates().getType(), results);
    }
  }];
}

def Dfg_ScatterAddOp : Dfg_ScatterOp<"scatter_add", "Numeric"> {
  let summary = "Adds rows at indices";
  let description = [{
    `x` with `updates[i]` added to row `indices[i]`; for repeated indices all
    updates are added. An index out of range fails the call; with `outside =
    "skip"` its update is ignored.

    ```mlir
    %y = dfg.scatter_add %x, %i, %u : tensor<100x8xf32>, tensor<5xi32>, tensor<5x8xf32>
    ```
  }];
  let specialValues =
      "Integers wrap; NaN and infinities of both signs result in NaN, in their row only.";
}

def Dfg_ScatterUpdateOp : Dfg_ScatterOp<"scatter_update", "Any"> {
  let summary = "Replaces rows at indices";
  let description = [{
    `x` with row `indices[i]` replaced by `updates[i]`; for repeated indices the
    last update wins. An index out of range fails the call; with `outside =
    "skip"` its update is ignored.

    ```mlir
    %y = dfg.scatter_update %x, %i, %u : tensor<100x8xf32>, tensor<5xi32>, tensor<5x8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
}

def Dfg_ArgsortOp : Dfg_PureOp<"argsort"> {
  let summary = "Returns the permutation that sorts along an axis";
  let description = [{
    The positions of the elements in ascending order, as i64. The sort is
    stable, 0 equals -0, and NaN comes last.

    ```mlir
    %i = dfg.argsort %x {axis = 0 : i64} : tensor<8xf32>
    ```
  }];
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_Axis<"-1">:$axis);
  let results = (outs Dfg_I64Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_CoalesceOp : Dfg_PureOp<"coalesce", [Dfg_Composite]> {
  let summary = "Sums the rows of equal indices";
  let description = [{
    For indices and rows of a sparse gradient: the distinct indices in ascending
    order, each with the sum of its rows. The results have as many rows as the
    operands: the remaining ones have the index -1 and rows of zeros, to be
    skipped (`outside = "skip"`).

    ```mlir
    %i, %r = dfg.coalesce %indices, %rows : tensor<5xi64>, tensor<5x8xf32>
    ```
  }];
  let specialValues = "They add up as in `sum`: integers wrap, NaN stays NaN.";
  let arguments = (ins Dfg_IndexTensor:$indices, Dfg_NumericTensor:$rows);
  let results = (outs Dfg_IndexTensor:$unique_indices, Dfg_NumericTensor:$sums);
  let assemblyFormat = "$indices `,` $rows attr-dict `:` type($indices) `,` type($rows)";
}

#endif // TFC_DIALECTS_DFG_GATHEROPS_TD
