//===- ControlOps.td - Branches and loops as regions ----------------------===//

#ifndef TFC_DIALECTS_DFG_CONTROLOPS_TD
#define TFC_DIALECTS_DFG_CONTROLOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def Dfg_IfOp : Dfg_Op<"if", [
    RecursiveMemoryEffects, RecursivelySpeculatable, NoRegionArguments, SingleBlock]> {
  let summary = "Runs one of two regions";
  let description = [{
    Runs the first region if `condition` holds, otherwise the second one; the
    results are the values that the region yields. Regions capture the values
    around them.

    ```mlir
    %y = dfg.if %condition : tensor<i1> -> tensor<4xf32> {
      %a = dfg.exp %x : tensor<4xf32>
      dfg.yield %a : tensor<4xf32>
    } else {
      dfg.yield %x : tensor<4xf32>
    }
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins Dfg_Predicate:$condition);
  let results = (outs Variadic<Dfg_Value>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  // Creates both regions with an empty block each; the caller adds the terminators.
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::Value":$condition)>];
  let extraClassDeclaration = [{
    ::mlir::Block &getThenBlock() { return getThenRegion().front(); }
    ::mlir::Block &getElseBlock() { return getElseRegion().front(); }
    ::tfc::dfg::YieldOp getThenYield();
    ::tfc::dfg::YieldOp getElseYield();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Dfg_WhileOp : Dfg_Op<"while", [
    RecursiveMemoryEffects, SingleBlock, Dfg_InferTypes, Dfg_Numbering,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
        "getLoopRegions", "getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>]> {
  let summary = "Repeats a region as long as a condition holds";
  let description = [{
    Carries values from one iteration to the next: the first iteration starts
    with `inits`, each following one with the values that the body yields, and
    the results are the values for which the condition is false. Both regions
    have the carried values as arguments and capture the values around the loop.
    A carried value keeps its type.

    `trips`, a single size, is the number of iterations if it is known when the
    call starts. `recompute` makes autodiff save less: `all` saves only the
    carried values and recomputes the rest of an iteration, `sqrt` saves them
    only at every k-th of T iterations, with k about the square root of T.

    ```mlir
    %last, %sum = dfg.while (%i, %x) : tensor<i32>, tensor<4xf32> {
    ^bb0(%j: tensor<i32>, %s: tensor<4xf32>):
      %go = dfg.less %j, %n : tensor<i32>, tensor<i32>
      dfg.condition %go : tensor<i1>
    } do {
    ^bb0(%j: tensor<i32>, %s: tensor<4xf32>):
      %next = dfg.add %j, %one : tensor<i32>, tensor<i32>
      %more = dfg.add %s, %x : tensor<4xf32>, tensor<4xf32>
      dfg.yield %next, %more : tensor<i32>, tensor<4xf32>
    }
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins Variadic<Dfg_Value>:$inits, OptionalAttr<Dfg_NumberDims>:$trips,
                       OptionalAttr<Dfg_RecomputeAttr>:$recompute);
  let results = (outs Variadic<Dfg_Value>:$results);
  let regions = (region SizedRegion<1>:$conditionRegion, SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  // Creates both regions with a block that has the carried values as arguments; the caller adds the
  // terminators.
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inits)>];
  let extraClassDeclaration = [{
    ::mlir::Block &getConditionBlock() { return getConditionRegion().front(); }
    ::mlir::Block &getBodyBlock() { return getBodyRegion().front(); }
    ::tfc::dfg::ConditionOp getCondition();
    ::tfc::dfg::YieldOp getYield();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Dfg_YieldOp : Dfg_Op<"yield", [
    Pure, Terminator, ParentOneOf<["IfOp", "WhileOp", "DataflowOp", "NodeOp"]>, Dfg_RegisterReaderRole]> {
  let summary = "Ends a region with its values";
  let description = [{
    ```mlir
    dfg.yield %y : tensor<4xf32>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins Variadic<Dfg_Value>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Dfg_ConditionOp : Dfg_Op<"condition", [Pure, Terminator, HasParent<"WhileOp">, Dfg_RegisterReaderRole]> {
  let summary = "Ends the condition of a loop";
  let description = [{
    ```mlir
    dfg.condition %go : tensor<i1>
    ```
  }];
  let arguments = (ins Dfg_Predicate:$condition);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

#endif // TFC_DIALECTS_DFG_CONTROLOPS_TD
