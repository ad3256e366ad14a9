//===- WindowOps.td - Windows that slide over axes ------------------------===//

#ifndef TFC_DIALECTS_DFG_WINDOWOPS_TD
#define TFC_DIALECTS_DFG_WINDOWOPS_TD

include "dialects/dfg/DfgBase.td"

// Both are views: each reader computes the elements that it reads from the stored operand.

def Dfg_WindowsOp : Dfg_PureOp<"windows",
    [Dfg_ViewRole, Dfg_ParallelRole, Dfg_Differentiable, Dfg_CheckedWithStatus]> {
  let summary = "Lays out the windows that slide over axes";
  let description = [{
    The axes after the first, as many as `size` has numbers, become two groups:
    the index of the window, and the element in it. For `x: [n, h, w, ..]` the
    result is `[n, rows, columns, size[0], size[1], ..]`, with the element `x[n,
    row * stride[0] + i * dilation[0], column * stride[1] + j * dilation[1],
    ..]` at `[n, row, column, i, j, ..]`. `stride` and `dilation` default to 1,
    and are one number for all axes or one for each. There are as many windows
    as fit inside `x`, or `count`; a call in which they do not fit fails. With
    `low`, which requires `count`, the first window starts that many elements
    before `x`, and elements outside are `value`.

    ```mlir
    %y = dfg.windows %x {size = #dfg.dims<3, 3>, stride = array<i64: 2>} : tensor<4x9x9x2xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$size,
                       OptionalAttr<DenseI64ArrayAttr>:$stride,
                       OptionalAttr<DenseI64ArrayAttr>:$dilation,
                       OptionalAttr<Dfg_DimsAttr>:$count, OptionalAttr<Dfg_DimsAttr>:$low,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_PlaceWindowsOp : Dfg_PureOp<"place_windows",
    [Dfg_ViewRole, Dfg_ParallelRole, Dfg_Differentiable]> {
  let summary = "Places the elements of windows at their original positions";
  let description = [{
    The transpose of `windows`, before elements at the same position are added
    up: for `x: [n, rows, columns, i, j, ..]`, the windows of a tensor of the
    sizes `shape`, the result is `[n, shape[0], shape[1], i, j, ..]`, with `x[n,
    row, column, i, j, ..]` at `[n, row * stride[0] + i * dilation[0] - low[0],
    column * stride[1] + j * dilation[1] - low[1], i, j, ..]`, and `value` at
    positions without an element. Elements outside are dropped. `low` defaults
    to 0.

    ```mlir
    %y = dfg.place_windows %x {shape = #dfg.dims<9>, stride = array<i64: 2>} : tensor<4x4x3x2xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x, Dfg_DimsAttr:$shape,
                       OptionalAttr<DenseI64ArrayAttr>:$stride,
                       OptionalAttr<DenseI64ArrayAttr>:$dilation, OptionalAttr<Dfg_DimsAttr>:$low,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$value);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_WINDOWOPS_TD
