//===- ListOps.td - Sequences of tensors -----------------------------------===//

#ifndef TFC_DIALECTS_DFG_LISTOPS_TD
#define TFC_DIALECTS_DFG_LISTOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_ListCreateOp : Dfg_PureOp<"list_create"> {
  let summary = "Makes a list of zeros";
  let description = [{
    `size` elements of zeros, of the shape `shape` and the dtype `dtype` (f32 unless given). A
    negative size is 0.

    ```mlir
    %l = dfg.list_create %size {shape = #dfg.dims<4>} : tensor<i32>
    ```
  }];
  let arguments = (ins Dfg_Position:$size, Dfg_DimsAttr:$shape, OptionalAttr<Dfg_Dtype>:$dtype);
  let results = (outs Dfg_ListType:$list);
  let assemblyFormat = "$size attr-dict `:` type($size)";
}

def Dfg_ListSizeOp : Dfg_PureOp<"list_size"> {
  let summary = "Gives the number of elements";
  let description = [{
    ```mlir
    %n = dfg.list_size %l : !dfg.list<tensor<4xf32>>
    ```
  }];
  let arguments = (ins Dfg_ListType:$list);
  let results = (outs Dfg_Tensor:$size);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dfg_ListReadOp : Dfg_PureOp<"list_read", [Dfg_Differentiable, Dfg_Checked]> {
  let summary = "Reads an element";
  let description = [{
    A position below 0 or not below the size fails the call.

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
    The position may be the size, which then grows by one; others outside the
    list fail the call.

    ```mlir
    %m = dfg.list_write %l, %i, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
}

def Dfg_ListAddOp : Dfg_ListWrite<"list_add", [Dfg_Composite]> {
  let summary = "Adds to an element";
  let description = [{
    What gradients of `list_read` are made of: the list of gradients is changed
    in place, so that T reads cost O(T).

    ```mlir
    %m = dfg.list_add %l, %i, %x : !dfg.list<tensor<4xf32>>, tensor<i32>, tensor<4xf32>
    ```
  }];
  let specialValues = "Integers wrap; NaN and infinities are those of `add`.";
}

def Dfg_ListSumOp : Dfg_PureOp<"list_sum", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Adds lists element by element";
  let description = [{
    The shorter one counts as filled up with zeros.

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
  let summary = "Makes one tensor of all elements";
  let description = [{
    The result has a new first axis, of the one size `size`; a list of another
    size fails the call.

    ```mlir
    %x = dfg.list_stack %l {size = #dfg.dims<8>} : !dfg.list<tensor<4xf32>>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_ListType:$list, Dfg_DimsAttr:$size);
  let results = (outs Dfg_Tensor:$x);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dfg_ListUnstackOp : Dfg_PureOp<"list_unstack", [Dfg_Differentiable, Dfg_Numbering]> {
  let summary = "Makes a list of the slices of a tensor along its first axis";
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
