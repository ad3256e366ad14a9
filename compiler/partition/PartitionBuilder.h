//===- PartitionBuilder.h - The part of an entry on one device ------------===//

#pragma once

#include "compiler/partition/Commits.h"
#include "compiler/partition/Messages.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeOps.h"

namespace tfc::partition {

/// The facts about an entry that all of its partitions share.
struct Division {
  const dfg::FreeValues &free;
  const DeviceSets &sets;
  const dfg::RunTimeSizes &sizes;
  const Commits &commits;
  /// The numbers of the partitions, by device.
  llvm::SmallVector<unsigned> partitions;
};

/// Copies the operations of an entry that run on one device, in their order. Each value of another
/// device is received before the first operation that reads it, in the block in which it is
/// computed.
class PartitionBuilder {
public:
  PartitionBuilder(const Division &division, unsigned device, Messages &messages)
      : division(division), device(device), messages(messages) {}

  /// Fills `to`, whose arguments are those of `from` or none, with the operations of this device.
  void build(mlir::Block &from, mlir::Block &to);

  const mlir::IRMapping &getValues() const { return values; }

private:
  /// Something that has to exist before an operation: a value, or the binding or a guard of a size.
  struct Need {
    mlir::Value value;
    mlir::Operation *step = nullptr;

    mlir::Operation *getOperation() const { return step ? step : value.getDefiningOp(); }
  };

  /// Copies the part of a block that is on this device, with those operands of its terminator.
  void copyBlock(mlir::Block &from, mlir::ArrayRef<unsigned> results);
  void copy(mlir::Operation *op);
  void copyBranch(dfg::IfOp op);
  void copyLoop(dfg::WhileOp op);
  void copyTerminator(mlir::Operation *op, mlir::ArrayRef<unsigned> results);
  void copyRegion(mlir::Operation *op, mlir::Region &from, mlir::Region &to,
                  mlir::ArrayRef<unsigned> results);

  mlir::Value get(mlir::Value value);
  llvm::SmallVector<mlir::Value> get(mlir::ValueRange values);
  void bindSizesOf(mlir::Operation *op);
  bool isCopied(mlir::Operation *op) const;
  void provide(Need need);
  llvm::SmallVector<Need> missingFor(Need need);
  void addMissing(mlir::Operation *op, llvm::SmallVectorImpl<Need> &missing);
  void addMissingNames(mlir::ArrayRef<std::string> names, mlir::Block *block,
                       dfg::BindSizeOp except, llvm::SmallVectorImpl<Need> &missing);
  bool isProvided(Need need) const;
  void receive(mlir::Value value);
  mlir::OpBuilder builderIn(mlir::Block *from);

  const Division &division;
  unsigned device;
  Messages &messages;
  mlir::IRMapping values;
  llvm::SmallDenseSet<mlir::Operation *> bound; // bindings and guards of sizes that are copied
  llvm::DenseMap<mlir::Block *, mlir::Block *> blocks;
  /// The branch or loop of the partition that is being filled, by the block of the entry in which
  /// it is.
  llvm::DenseMap<mlir::Block *, mlir::Operation *> open;
};

} // namespace tfc::partition
