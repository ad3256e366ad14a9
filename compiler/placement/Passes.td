//===- Passes.td - Placing operations on devices --------------------------===//

#ifndef TFC_COMPILER_PLACEMENT_PASSES_TD
#define TFC_COMPILER_PLACEMENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceOperations : Pass<"tfc-place", "::mlir::ModuleOp"> {
  let summary = "Gives each operation a device";
  let description = [{
    Before: operations, variables and queues say where they shall be, by partial
    names of devices and by the state next to which they shall be. After: each
    operation and declaration that is not on the caller's device has the whole
    name of its device, each branch and loop those of its results, and the module
    those of all devices that it uses. The operations of an entry on several
    devices are in the order in which they shall run.

    Operations that share state are on one device. Groups that say nothing are on
    `device`, if that is given; otherwise a model of the time that they take
    decides among the devices of the file `devices`, or else among those that the
    graph names. A group that asks for two devices, and one that asks for a
    device without kernels, are errors; with `soft` the latter is on the default
    device, with a warning. `cluster` names the tasks whose devices can be used, as
    in `ps=2,worker=6`, or a file with such a text; the module then has them as
    `dfg.cluster`.
  }];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"\"\"",
           "The device of operations that say nothing">,
    Option<"cluster", "cluster", "std::string", /*default=*/"\"\"",
           "Jobs and their tasks, or a file with them">,
    Option<"devices", "devices", "std::string", /*default=*/"\"\"",
           "A file that describes devices and links">,
    Option<"soft", "soft", "bool", /*default=*/"false",
           "Move operations for whose device there are no kernels">,
    Option<"printReport", "report", "bool", /*default=*/"false",
           "Print why each group is where it is to standard error">
  ];
  let statistics = [
    Statistic<"deviceCount", "devices", "Number of devices that the module uses">
  ];
}

def NumberLists : Pass<"tfc-number-lists", "::mlir::ModuleOp"> {
  let summary = "Gives each operation that makes a list a number of its own";
  let description = [{
    Before: operations, variables and queues say where they shall be. After: if one
    of them does, or if a file of devices `divides` the rest, operations
    that make lists have the attribute `dfg.list`, a different one on each, so that
    no stage merges two lists. Placement removes it. No errors.
  }];
  let options = [
    Option<"divides", "divides", "bool", /*default=*/"false",
           "Operations that say nothing can be on several devices">
  ];
}

#endif
