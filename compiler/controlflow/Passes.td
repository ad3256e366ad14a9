//===- Passes.td - From Switch and Merge to branches and loops ------------===//

#ifndef TFC_COMPILER_CONTROLFLOW_PASSES_TD
#define TFC_COMPILER_CONTROLFLOW_PASSES_TD

include "mlir/Pass/PassBase.td"

def StructureControlFlow : Pass<"tfc-structure-control-flow", "::mlir::ModuleOp"> {
  let summary = "Replaces the graph form by branches and loops";
  let description = [{
    Before: entries may hold `dfg.dataflow`, whose values are live or dead.
    After: none is left. Frames are `dfg.while`, and conditional nodes are in a
    `dfg.if`; each effect happens as often and in the order that the graph
    specifies; a result that can be dead has a `dfg.check`. Frames that are not
    `while` loops and cycles that are not loops are errors that name their
    nodes.
  }];
}

#endif // TFC_COMPILER_CONTROLFLOW_PASSES_TD
