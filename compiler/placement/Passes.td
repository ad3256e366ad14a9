//===- Passes.td - Placing operations on devices --------------------------===//

#ifndef TFC_COMPILER_PLACEMENT_PASSES_TD
#define TFC_COMPILER_PLACEMENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceOperations : Pass<"tfc-place", "::mlir::ModuleOp"> {
  let summary = "Gives each operation a device";
  let description = [{
    Before: operations, variables and queues say where they shall be, by partial
    names of devices and by the state next to which they shall be. After: all
    are on the default device, and none says anything. A group of operations
    that asks for two devices, and one that asks for another device, are errors.
  }];
}

#endif
