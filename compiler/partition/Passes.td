//===- Passes.td - A function for each device -----------------------------===//

#ifndef TFC_COMPILER_PARTITION_PASSES_TD
#define TFC_COMPILER_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def CopyToReaders : Pass<"tfc-copy-to-readers", "::mlir::ModuleOp"> {
  let summary = "Gives each device its own copy of operations that need no message";
  let description = [{
    Before: as for `tfc-partition`. After: scalars and views that each device
    computes for itself are read by operations of one device, on which they are.
  }];
}

def NumberEpochs : Pass<"tfc-number-epochs", "::mlir::ModuleOp"> {
  let summary = "Numbers the messages that operations wait for";
  let description = [{
    Before: as for `tfc-partition`. After: an operation of an entry on several
    devices has as `dfg.epoch` the number of the last message, or branch or loop
    with messages, that it waits for on its device; none if it waits for none. A
    kernel of operations of one epoch waits for nothing that one of them does not
    wait for.
  }];
}

def PartitionEntries : Pass<"tfc-partition", "::mlir::ModuleOp"> {
  let summary = "Divides entries on several devices into a partition for each";
  let description = [{
    Before: `dfg.devices` of the module lists its devices, `dfg.device` and
    `dfg.homes` say where operations and values are, and the order of operations
    is that of the schedule. After: each entry is on one device, and so are its
    `partitions`, which exchange values by `dfg.send` and `dfg.receive`; nothing
    has a device any more. An entry that is on the first device alone stays as
    it is. Constants, sizes, views and scalars that depend on nothing else are
    computed wherever they are read.

    In each partition, messages and checks are in the order of the entry. A
    send follows the operation that computes the value; a receive precedes the
    first one that reads it. So each wait is for something earlier in the one
    order of the entry, and partitions cannot wait for each other in a circle.
  }];
  let statistics = [
    Statistic<"partitionCount", "partitions", "Number of partitions, of entries on several devices">,
    Statistic<"messageCount", "messages", "Number of values that cross from one device to another">
  ];
}

def CheckMessages : Pass<"tfc-check-messages", "::mlir::ModuleOp"> {
  let summary = "Verifies that partitions cannot wait for each other in a circle";
  let description = [{
    Before: entries have partitions, in which operations on messages run in the
    order in which they are listed. After: nothing has changed. Errors: both
    ends of a slot are not in the same branches and loops; an operation on
    messages waits for itself.
  }];
}

#endif // TFC_COMPILER_PARTITION_PASSES_TD
