//===- DataflowOps.td - The graph form: Switch, Merge, frames -------------===//

#ifndef TFC_DIALECTS_DFG_DATAFLOWOPS_TD
#define TFC_DIALECTS_DFG_DATAFLOWOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/RegionKindInterface.td"

// The operations of Yu et al., "Dynamic control flow in large-scale machine learning" (EuroSys 2018).
// A value is live or dead; an operation with a dead input is skipped and its results are dead.

def Dfg_DataflowOp : Dfg_Op<"dataflow", [
    RecursiveMemoryEffects, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<RegionKindInterface>]> {
  let summary = "Contains a graph in no particular order";
  let description = [{
    A region in the graph form: values may be used before they are defined, and
    cycles through `dfg.next_iteration` are loops. Values from outside are
    constants of every frame. The controlflow stage replaces the operation by
    branches and loops. A result that is dead when the graph has run fails the
    call, with its name from `names`.

    ```mlir
    %y = dfg.dataflow -> tensor<4xf32> {
      %on_true, %on_false = dfg.switch %x, %p : tensor<4xf32>, tensor<i1>
      %a = dfg.exp %on_true : tensor<4xf32>
      %value, %index = dfg.merge %a, %on_false : tensor<4xf32>, tensor<4xf32>
      dfg.yield %value : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins OptionalAttr<StrArrayAttr>:$names);
  let results = (outs Variadic<Dfg_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dfg_NodeOp : Dfg_Op<"node", [RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "Runs operations after others";
  let description = [{
    Runs its region if every token in `after` is live, and returns a token of
    its own; with a dead token it is skipped and all its results are dead. Two
    operations treat control edges differently: a `dfg.merge` in the region
    ignores dead tokens, and a node with `always` (TensorFlow's ControlTrigger)
    runs after dead tokens as well.

    ```mlir
    %y, %done = dfg.node after(%token) -> tensor<4xf32> {
      %new = dfg.assign @w, %x : tensor<4xf32>
      dfg.yield %new : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Dfg_TokenType>:$after, UnitAttr:$always);
  let results = (outs Variadic<Dfg_Value>:$results, Dfg_TokenType:$done);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dfg_SwitchOp : Dfg_PureOp<"switch", [Dfg_RoutingRole]> {
  let summary = "Forwards a value to one of two outputs";
  let description = [{
    Forwards `data` to `on_true` if `predicate` holds and to `on_false`
    otherwise. The other output is dead: every operation that consumes it is
    skipped, up to the `dfg.merge` that rejoins the branches.

    ```mlir
    %on_true, %on_false = dfg.switch %x, %p : tensor<4xf32>, tensor<i1>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Value:$data, Dfg_Predicate:$predicate);
  let results = (outs Dfg_Value:$on_true, Dfg_Value:$on_false);
  let assemblyFormat = "$data `,` $predicate attr-dict `:` type($data) `,` type($predicate)";
}

def Dfg_MergeOp : Dfg_PureOp<"merge", [Dfg_RoutingRole]> {
  let summary = "Forwards its live input";
  let description = [{
    Forwards the live input, and its position as i32; the results are dead only
    if all inputs are. If several inputs are live, the first one is forwarded.

    ```mlir
    %value, %index = dfg.merge %a, %b : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Variadic<Dfg_Value>:$inputs);
  let results = (outs Dfg_Value:$value, Dfg_I32Tensor:$index);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

class Dfg_FrameOp<string mnemonic, list<Trait> traits = []> :
    Dfg_Op<mnemonic, !listconcat([Pure, AllTypesMatch<["x", "y"]>, Dfg_RoutingRole], traits)> {
  let specialValues = "Elements pass as they are.";
  let results = (outs Dfg_Value:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_EnterOp : Dfg_FrameOp<"enter"> {
  let summary = "Passes a value into a frame";
  let description = [{
    Makes `x` available in the first iteration of the frame, or, with
    `constant`, in all of them.

    ```mlir
    %y = dfg.enter %x {frame = "loop"} : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_Value:$x, StrAttr:$frame,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$constant);
}

def Dfg_ExitOp : Dfg_FrameOp<"exit"> {
  let summary = "Passes a value out of its frame";
  let description = [{
    Returns the value that is live when the frame ends; dead values of earlier
    iterations are not outputs.

    ```mlir
    %y = dfg.exit %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_Value:$x);
}

def Dfg_NextIterationOp : Dfg_FrameOp<"next_iteration"> {
  let summary = "Moves a value to the next iteration of its frame";
  let description = [{
    ```mlir
    %y = dfg.next_iteration %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_Value:$x);
}

def Dfg_LoopCondOp : Dfg_FrameOp<"loop_cond"> {
  let summary = "Marks the value that determines whether a frame continues";
  let description = [{
    ```mlir
    %y = dfg.loop_cond %x : tensor<i1>
    ```
  }];
  let arguments = (ins Dfg_Predicate:$x);
}

#endif // TFC_DIALECTS_DFG_DATAFLOWOPS_TD
