//===- Partitions.h - Entries on several devices --------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Returns the partitions of an entry, itself first.
llvm::SmallVector<EntryOp> partitionsOf(EntryOp entry, mlir::SymbolTable &symbols);

/// Returns true if an entry, or a partition, is on a device that has memory of its own.
bool isRemote(EntryOp entry);

/// Emits an error and fails unless an entry on several devices and its partitions name each other,
/// and each slot has one sender and one receiver, where the entry says.
llvm::LogicalResult verifyPartitions(EntryOp entry, mlir::SymbolTableCollection &symbols);

} // namespace tfc::dfg
