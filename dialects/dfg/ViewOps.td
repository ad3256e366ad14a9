//===- ViewOps.td - Parts of tensors, and tensors made of parts -----------===//

#ifndef TFC_DIALECTS_DFG_VIEWOPS_TD
#define TFC_DIALECTS_DFG_VIEWOPS_TD

include "dialects/dfg/DfgBase.td"

/// One tensor in, one tensor out; attributes specify the operation.
class Dfg_ViewOp<string mnemonic, list<Trait> traits> :
    Dfg_PureOp<mnemonic, !listconcat([Dfg_Differentiable], traits)> {
  let specialValues = "Elements pass as they are.";
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_SliceOp : Dfg_ViewOp<"slice",
    [Dfg_ViewRole, Dfg_SelectionRole, Dfg_CheckedWithStatus, Dfg_SizeEvaluation]> {
  let summary = "Takes elements at regular positions";
  let description = [{
    Element `i` along an axis of the result is element `starts + i * steps` of
    `x`; the result has the shape `sizes`. A negative step reads backwards.
    `steps` default to 1. Positions that are outside of `x` for all sizes are an
    error; if that depends on the sizes of the call, the call fails.

    ```mlir
    %y = dfg.slice %x {starts = #dfg.dims<1, 7>, sizes = #dfg.dims<2, 4>, steps = array<i64: 1, -2>} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$starts, Dfg_DimsAttr:$sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let hasFolder = 1;
}

def Dfg_PlaceOp : Dfg_ViewOp<"place", [Dfg_ParallelRole]> {
  let summary = "Places elements at regular positions of a constant tensor";
  let description = [{
    The transpose of `slice`: element `i` of `x` along an axis becomes element
    `starts + i * steps` of the result, which has the shape `shape` and holds
    `value` elsewhere. Elements that would lie outside are dropped.

    ```mlir
    %y = dfg.place %x {starts = #dfg.dims<1>, shape = #dfg.dims<8>, steps = array<i64: 2>} : tensor<3xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$starts, Dfg_DimsAttr:$shape,
                       OptionalAttr<DenseI64ArrayAttr>:$steps,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value);
  let hasFolder = 1;
}

def Dfg_PadOp : Dfg_ViewOp<"pad", [Dfg_Composite, Dfg_Checked]> {
  let summary = "Pads a tensor with a value";
  let description = [{
    `low` elements are added before and `high` after each axis. Negative numbers
    are an error; if they depend on sizes, the call fails.

    ```mlir
    %y = dfg.pad %x {low = #dfg.dims<0, 1>, high = #dfg.dims<0, 1>} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$low, Dfg_DimsAttr:$high,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value);
  let hasFolder = 1;
}

def Dfg_ReverseOp : Dfg_ViewOp<"reverse", [Dfg_Composite]> {
  let summary = "Reverses the order along axes";
  let description = [{
    ```mlir
    %y = dfg.reverse %x {axis = array<i64: -1>} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, DenseI64ArrayAttr:$axis);
  let hasFolder = 1;
}

def Dfg_ExpandOp : Dfg_ViewOp<"expand", [Dfg_Composite, Dfg_SizeEvaluation]> {
  let summary = "Inserts an axis of size 1";
  let description = [{
    `axis` is its position in the result.

    ```mlir
    %y = dfg.expand %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, I64Attr:$axis);
}

def Dfg_SqueezeOp : Dfg_ViewOp<"squeeze", [Dfg_Composite, Dfg_SizeEvaluation]> {
  let summary = "Removes axes of size 1";
  let description = [{
    All axes of static size 1, or those in `axis`, for which another size is an
    error.

    ```mlir
    %y = dfg.squeeze %x {axis = array<i64: 1>} : tensor<4x1x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, OptionalAttr<DenseI64ArrayAttr>:$axis);
}

def Dfg_TileOp : Dfg_ViewOp<"tile", [Dfg_Composite, Dfg_SizeEvaluation]> {
  let summary = "Repeats a tensor along its axes";
  let description = [{
    `repeats` is the number of consecutive copies along each axis.

    ```mlir
    %y = dfg.tile %x {repeats = #dfg.dims<2, 1>} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$repeats);
  let hasFolder = 1;
}

def Dfg_ConcatOp : Dfg_PureOp<"concat", [Dfg_ParallelRole, Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Concatenates tensors along an axis";
  let description = [{
    The other sizes and the dtype must be the same.

    ```mlir
    %y = dfg.concat %a, %b {axis = 1 : i64} : tensor<4x8xf32>, tensor<4x2xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Variadic<Dfg_Tensor>:$xs, Dfg_Axis<"0">:$axis);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` type($xs)";
  let hasFolder = 1;
}

def Dfg_StackOp : Dfg_PureOp<"stack", [Dfg_Differentiable, Dfg_Composite, Dfg_SizeEvaluation]> {
  let summary = "Stacks tensors along a new axis";
  let description = [{
    All tensors have the same type. `axis` is the new axis' position in the
    result.

    ```mlir
    %y = dfg.stack %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Variadic<Dfg_Tensor>:$xs, Dfg_Axis<"0">:$axis);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` type($xs)";
}

def Dfg_SplitOp : Dfg_PureOp<"split", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Splits a tensor into parts along an axis";
  let description = [{
    Into `sections` equal parts, where the size must be divisible, or into
    parts of the given `sizes`, which must add up to the size of the axis.

    ```mlir
    %a, %b = dfg.split %x {sections = 2 : i64, axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, OptionalAttr<I64Attr>:$sections, Dfg_Axis<"0">:$axis,
                       OptionalAttr<Dfg_DimsAttr>:$sizes);
  let results = (outs Variadic<Dfg_Tensor>:$parts);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_VIEWOPS_TD
