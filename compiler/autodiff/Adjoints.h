//===- Adjoints.h - Gradients accumulated so far --------------------------===//

#pragma once

#include "compiler/autodiff/Paths.h"
#include "dialects/dfg/Devices.h"

namespace tfc {

/// State shared by the gradients of an entry: its tapes, and the operations built for gradients.
struct GradientContext : mlir::OpBuilder::Listener {
  GradientContext(mlir::ModuleOp module, uint64_t maxCreated)
      : symbols(module), maxCreated(maxCreated) {}

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    ops.insert(op);
    built.push_back(op);
    ++created;
    if (differentiated)
      dfg::copyPlacement(differentiated, op);
  }
  /// Erases the operation if it is unused, and then operations that only it used.
  void eraseIfUnused(mlir::Operation *op);

  mlir::SymbolTable symbols;
  /// The operation whose gradients are being built, which are where it is.
  mlir::Operation *differentiated = nullptr;
  OperationSet ops;
  /// Operations in the order in which they were built; those not in `ops` have been erased.
  std::vector<mlir::Operation *> built;
  /// The number of operations built in all entries, and its limit.
  uint64_t created = 0, maxCreated;
  /// For each completed gradient of the entry, its location and the number of its operations.
  llvm::SmallVector<std::pair<mlir::Location, uint64_t>> finished;
  /// The gathers that make up the sparse gradients of an operation.
  llvm::DenseSet<std::pair<mlir::Operation *, mlir::Operation *>> sparseReaders;
};

/// Zeros in the shape of a tensor, or a list of zeros of the same length.
mlir::Value zerosLike(mlir::OpBuilder &b, mlir::Value value);

/// Sums of the gradients of values.
class Adjoints {
public:
  Adjoints(mlir::OpBuilder &b, GradientContext &context) : b(b), context(context) {}

  /// The gradient accumulated so far, or null.
  mlir::Value lookup(mlir::Value value) const { return sums.lookup(keyOf(value)); }
  /// The gradient accumulated so far, or zeros.
  mlir::Value get(mlir::Value value);
  void set(mlir::Value value, mlir::Value gradient) { sums[keyOf(value)] = gradient; }
  /// Adds a gradient, which may have a shape that `value` was broadcast to.
  void add(mlir::Value value, mlir::Value gradient);
  /// Erases gradients whose updates `add` has made in place, unless they are used: to be called
  /// when nothing but the sums holds gradients.
  void eraseReplaced();
  /// Makes `copy` share the gradient of `value`.
  void alias(mlir::Value copy, mlir::Value value) { aliases[copy] = value; }

  /// Transfers the gradient of `value`, which is about to be erased, to `to`; returns the value of
  /// which `value` was a copy.
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
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace tfc
