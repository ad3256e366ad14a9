//===- Edit.h - Changes that make a program smaller -----------------------===//
//
// Each says whether it changed anything. What is left may be wrong: the caller
// verifies it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Program.h"

namespace tfc::random {

/// Operations of all entries but the initializer, those in regions included.
std::vector<mlir::Operation *> operationsOf(mlir::ModuleOp module);

/// Removes the operation in one of several ways: its results become operands, feeds, what a region
/// yields.
bool removeOperation(mlir::Operation *op, unsigned way);
inline constexpr unsigned kWaysToRemove = 4;

/// Removes operations, feeds and sizes that nothing needs.
void removeUnused(mlir::ModuleOp module);
/// Removes entries that no call is for, and variables that nothing reads or assigns.
bool removeUncalled(Program &program);

size_t countFetches(mlir::ModuleOp module, llvm::StringRef entry);
bool keepFetch(mlir::ModuleOp module, llvm::StringRef entry, size_t number);
bool dropFetch(mlir::ModuleOp module, llvm::StringRef entry, size_t number);

/// Lets the operations' own patterns drop results of branches and loops.
bool canonicalize(mlir::ModuleOp module);

/// The static sizes in types, largest first.
std::vector<int64_t> sizesOf(mlir::ModuleOp module);
/// Builds the module again with `to` wherever a size is `from`.
bool replaceSize(mlir::OwningOpRef<mlir::ModuleOp> &module, int64_t from, int64_t to);

} // namespace tfc::random
