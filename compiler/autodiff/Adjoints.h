//===- Adjoints.h - Gradients as far as they are known ---------------------===//

#pragma once

#include "compiler/autodiff/Paths.h"
#include "dialects/dfg/Dfg.h"

namespace tfc {

/// What the gradients of an entry share: its tapes, and which operations were built for gradients.
struct GradientContext : mlir::OpBuilder::Listener {
  GradientContext(mlir::ModuleOp module, uint64_t maxCreated)
      : symbols(module), maxCreated(maxCreated) {}

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    ops.insert(op);
    built.push_back(op);
    ++created;
  }
  /// Erases the operation, and then what only it used, if nobody uses it.
  void eraseIfUnused(mlir::Operation *op);

  mlir::SymbolTable symbols;
  OperationSet ops;
  /// In the order in which they were built; those that are not among `ops` have been erased.
  std::vector<mlir::Operation *> built;
  /// How many operations were built in all entries, and how many may be.
  uint64_t created = 0, maxCreated;
  /// For each gradient of the entry that is built, its place and how many operations it took.
  llvm::SmallVector<std::pair<mlir::Location, uint64_t>> finished;
  /// The gathers that make up the sparse gradients of an operation.
  llvm::DenseSet<std::pair<mlir::Operation *, mlir::Operation *>> sparseReaders;
};

/// Zeros of the shape of a tensor, or as many elements of zeros as a list has.
mlir::Value zerosLike(mlir::OpBuilder &b, mlir::Value value);

/// Sums of the gradients of values.
class Adjoints {
public:
  Adjoints(mlir::OpBuilder &b, GradientContext &context) : b(b), context(context) {}

  /// The gradient, null if there is none so far.
  mlir::Value lookup(mlir::Value value) const { return sums.lookup(keyOf(value)); }
  /// The gradient, zeros if there is none so far.
  mlir::Value get(mlir::Value value);
  void set(mlir::Value value, mlir::Value gradient) { sums[keyOf(value)] = gradient; }
  /// Adds a gradient, which may have the shape of what `value` was broadcast to.
  void add(mlir::Value value, mlir::Value gradient);
  /// Lets `copy` have the gradient of `value`.
  void alias(mlir::Value copy, mlir::Value value) { aliases[copy] = value; }

  /// Lets `to` have the gradient of `value`, which ceases to be; gives what `value` was a copy of.
  mlir::Value move(mlir::Value value, mlir::Value to);
  void forget(mlir::Value value) {
    sums.erase(value);
    aliases.erase(value);
  }

private:
  mlir::Value keyOf(mlir::Value value) const {
    mlir::Value original = aliases.lookup(value);
    return original ? original : value;
  }

  mlir::OpBuilder &b;
  GradientContext &context;
  llvm::DenseMap<mlir::Value, mlir::Value> sums, aliases;
};

} // namespace tfc
