//===- Edit.h - Changes that make a program smaller -----------------------===//
//
// Each returns true if it changed anything. The changed program may be invalid:
// the caller verifies it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Program.h"

namespace tfc::random {

/// Operations of all entries but the initializer, those in regions included.
std::vector<mlir::Operation *> operationsOf(mlir::ModuleOp module);

/// Removes the operation in one of several ways: operands, feeds, or values that a region yields
/// replace its results.
bool removeOperation(mlir::Operation *op, unsigned way);
inline constexpr unsigned kWaysToRemove = 4;

/// Removes operations, feeds and sizes without uses.
void removeUnused(mlir::ModuleOp module);
/// Removes entries that are never called, and variables that no entry reads or assigns.
bool removeUncalled(Program &program);

size_t countFetches(mlir::ModuleOp module, llvm::StringRef entry);
bool keepFetch(mlir::ModuleOp module, llvm::StringRef entry, size_t number);
bool dropFetch(mlir::ModuleOp module, llvm::StringRef entry, size_t number);

/// Operations and variables that say on which device they shall be.
std::vector<mlir::Operation *> placedOperationsOf(mlir::ModuleOp module);
/// Lets some of them, from `begin` up to but not including `end`, say nothing.
bool dropDevices(mlir::ModuleOp module, size_t begin, size_t end);
/// Replaces all devices but cpu:0 by one, by its short name.
bool joinDevices(mlir::ModuleOp module);

/// Drops results of branches and loops, by the canonicalization patterns of the operations.
bool canonicalize(mlir::ModuleOp module);

/// The static sizes in types, largest first.
std::vector<int64_t> sizesOf(mlir::ModuleOp module);
/// Builds the module again with every size `from` replaced by `to`.
bool replaceSize(mlir::OwningOpRef<mlir::ModuleOp> &module, int64_t from, int64_t to);

} // namespace tfc::random
