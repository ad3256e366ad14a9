//===- ListOps.td - Sequences of tensors ----------------------------------===//

#ifndef TFC_DIALECTS_DFG_LISTOPS_TD
#define TFC_DIALECTS_DFG_LISTOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_ListCreateOp : Dfg_PureOp<"list_create"> {
  let summary = "Creates a list of zeros";
  let description = [{
    `size` elements of zeros, of the shape `shape` and the dtype `dtype` (f32 by default). A
    negative size counts as 0.

    ```mlir
    %l = dfg.list_create %size {shape = #dfg.dims<4>} : tensor<i32>
    ```
  }];
  let arguments = (ins Dfg_Position:$size, Dfg_DimsAttr:$shape, OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_ListType:$list);
  let assemblyFormat = "$size attr-dict `:` type($size)";
}

def Dfg_ListSizeOp : Dfg_PureOp<"list_size"> {
  let summary = "Returns the number of elements";
  let description = [{
    ```mlir
    %n = dfg.list_size %l : !dfg.list<tensor<4xf32>>
    ```
  }];
  let arguments = (ins Dfg_ListType:$list);
  let results = (outs Dfg_I32Tensor:$size);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dfg_ListReadOp : Dfg_PureOp<"list_read", [Dfg_Differentiable, Dfg_Checked]> {
  let summary = "Reads an element";
  let description = [{
    A position out of range fails the call.

    ```mlir
    %x = dfg.list_read %l, %i : !dfg.list<tensor<4xf32>>, tensor<i32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_ListType:$list, Dfg_Position:$index);
  let results = (outs Dfg_Tensor:$value);
  let assemblyFormat = "$list `,` $index attr-dict `:` type($list) `,` type($index)";
}

class Dfg_ListWrite<string mnemonic, list<Trait> traits = []> :
    Dfg_PureOp<mnemonic, !listconcat([Dfg_Differentiable, Dfg_Checked], traits)> {
  let arguments = (ins Dfg_ListType:$list, Dfg_Position:$index, Dfg_Tensor:$value);
  let results = (outs Dfg_ListType:$result);
  let assemblyFormat = [{
    $list `,` $index `,` $value attr-dict `:` type($list) `,` type($index) `,` type($value)
  }];
}

def Dfg_ListWriteOp : Dfg_ListWrite<"list_write"> {
  let summary = "Sets an element";
  let description = [{
    The position may equal the size, which then grows by one; other positions
    out of range fail the call.

    ```mlir
    %m = dfg.list_write %l, %i, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
}

def Dfg_ListAddOp : Dfg_ListWrite<"list_add", [Dfg_Composite]> {
  let summary = "Adds to an element";
  let description = [{
    Gradients of `list_read` use this operation: it changes the list of
    gradients in place, so that T reads cost O(T).

    ```mlir
    %m = dfg.list_add %l, %i, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    ```
  }];
  let specialValues = "Integers wrap; NaN and infinities are those of `add`.";
}

def Dfg_ListSumOp : Dfg_PureOp<"list_sum", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Adds lists element by element";
  let description = [{
    The shorter list counts as padded with zeros.

    ```mlir
    %m = dfg.list_sum %a, %b : !dfg.list<tensor<4xf32>>, !dfg.list<tensor<4xf32>>
    ```
  }];
  let specialValues = "Integers wrap; NaN and infinities are those of `add`.";
  let arguments = (ins Dfg_ListType:$lhs, Dfg_ListType:$rhs);
  let results = (outs Dfg_ListType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Dfg_ListStackOp : Dfg_PureOp<"list_stack", [Dfg_Differentiable, Dfg_Checked]> {
  let summary = "Stacks all elements into a tensor";
  let description = [{
    The result has a new first axis of size `size`; a list of another size fails
    the call. With `prefix`, which gradients of lists set, the list may
    have more elements; the first ones are taken.

    ```mlir
    %x = dfg.list_stack %l {size = #dfg.dims<8>} : !dfg.list<tensor<4xf32>>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_ListType:$list, Dfg_DimsAttr:$size, UnitAttr:$prefix);
  let internalAttributes = ["prefix"];
  let results = (outs Dfg_Tensor:$x);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dfg_ListUnstackOp : Dfg_PureOp<"list_unstack", [Dfg_Differentiable, Dfg_Numbering]> {
  let summary = "Splits a tensor along its first axis into a list";
  let description = [{
    ```mlir
    %l = dfg.list_unstack %x : tensor<8x4xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x);
  let results = (outs Dfg_ListType:$list);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_LISTOPS_TD
