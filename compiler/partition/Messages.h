//===- Messages.h - The messages between the partitions of an entry -------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/IRMapping.h"

namespace tfc::partition {

/// The messages of an entry: one for each value and partition that reads it.
class Messages {
public:
  /// Adds a message that carries `value`, of the entry that is divided, and returns its slot.
  unsigned add(mlir::Value value, unsigned sender, unsigned receiver);

  size_t size() const { return messages.size(); }
  mlir::ArrayAttr getSlots(mlir::MLIRContext *context) const;

  /// Adds the sends of a partition, each after the operation that computes the value, and waits for
  /// what others read in its memory at the end of `body`. `values` maps values of the entry to
  /// those of the partition.
  void addSends(unsigned sender, mlir::Block &body, const mlir::IRMapping &values) const;

private:
  struct Message {
    mlir::Value value;
    unsigned sender, receiver;
  };
  llvm::SmallVector<Message> messages;
};

} // namespace tfc::partition
