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

def OrderByQueues : Pass<"tfc-order-by-queues", "::mlir::ModuleOp"> {
  let summary = "Moves checks before operations on queues, and reads of variables after them";
  let description = [{
    Before: as for `tfc-partition`. After: the blocks of entries are ordered as the
    host function of a module with one device orders them, if there are several.
    Operations that can fail come before the operations on queues that they do not
    depend on: a call that fails should not have used queues before. Operations
    that read variables come after those that do not depend on them: other calls
    may run meanwhile.
  }];
}

def SinkReads : Pass<"tfc-sink-reads", "::mlir::ModuleOp"> {
  let summary = "Reads variables where operations of other devices need them";
  let description = [{
    Before: as for `tfc-partition`, in the order of `tfc-order-by-queues`. After: in
    entries with queues, a variable that an operation of another device reads is read
    once between two operations on queues, so that it is sent after the first one,
    during which other calls may change it.
  }];
}

def HoistReads : Pass<"tfc-hoist-reads", "::mlir::ModuleOp"> {
  let summary = "Reads each variable once, at the start of the entry";
  let description = [{
    Undoes `tfc-sink-reads` when messages have their places: reads are no steps, and
    later stages expect them outside of branches and loops.
  }];
}

def NumberEpochs : Pass<"tfc-number-epochs", "::mlir::ModuleOp"> {
  let summary = "Numbers the messages that operations wait for";
  let description = [{
    Before: as for `tfc-partition`. After: an operation of an entry on several
    devices has as `dfg.epoch` the number of the last message, or branch or loop
    with messages, that it waits for on its device; none if it waits for none. A
    kernel of operations of one epoch waits for nothing that one of them does not
    wait for. Elementwise operations on variables alone wait with the first of
    their readers, so that they are in its kernel.
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
    Branches and loops are in each partition that has a part of them; those with
    operations on queues are in all, if checks in them are on several devices,
    because partitions agree on these by `dfg.commit` before they use queues.
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
    ends of a slot, or commits, are not in the same branches and loops; an operation
    on messages waits for itself.
  }];
}

#endif // TFC_COMPILER_PARTITION_PASSES_TD
