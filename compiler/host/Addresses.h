//===- Addresses.h - Where values are in memory ---------------------------===//

#pragma once

#include "compiler/host/Context.h"
#include "compiler/host/SizeBuilder.h"
#include "dialects/dfg/Places.h"
#include "dialects/rt/Rt.h"
#include <map>

namespace tfc::host {

/// Addresses of the memory of values. What stays the same during the call is computed once, before
/// the first step.
class Addresses {
public:
  explicit Addresses(Context &context);

  /// Sizes need the symbols of the frame, and the arena needs sizes.
  void setSizes(SizeBuilder &builder) { sizes = &builder; }

  mlir::Value field(rt::Field which);
  /// Element `number` of a table of pointers.
  mlir::Value element(rt::Field table, unsigned number);
  mlir::Value variable(mlir::FlatSymbolRefAttr symbol) {
    return element(rt::Field::Variables, context.module.variableNumber(symbol));
  }

  /// The memory of a root.
  mlir::Value of(mlir::Value root);
  /// The same, null if it has not been used before.
  mlir::Value lookup(mlir::Value root) const { return known.lookup(root); }
  void set(mlir::Value root, mlir::Value address) { known[root] = address; }

  /// The place in the arena that an operation names.
  mlir::Value arena(rt::SlotAttr slot);
  /// Where a loop has the second buffer for a result.
  mlir::Value alternate(mlir::OpResult result);

  /// Where regions write result `number` of the operation around them.
  mlir::Value target(mlir::Operation *op, unsigned number) const {
    return targets.lookup({op, number});
  }
  void setTarget(mlir::Operation *op, unsigned number, mlir::Value address) {
    targets[{op, number}] = address;
  }
  void eraseTargets(mlir::Operation *op);

  /// Returns true if an address of a variable has been asked for: what has been built reads it, or
  /// writes it.
  bool usesVariables() const;

private:
  mlir::Value find(mlir::Value root);
  mlir::Value findPlaced(mlir::OpResult result);
  mlir::Value inArena(mlir::Value root);
  mlir::Value fail(mlir::Value root);
  mlir::Value unitOf(unsigned region);

  Context &context;
  SizeBuilder *sizes = nullptr;
  rt::ArenaAttr regions; // null if the entry has none
  std::vector<mlir::Value> regionOffsets;
  std::map<std::pair<rt::Field, int>, mlir::Value> fields; // -1: the field itself
  llvm::DenseMap<mlir::Value, mlir::Value> known;          // by root
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value> targets;
};

/// What an operation says about the memory of a value; null if it is in neither arena nor chunks.
/// What a loop carries is where its result is.
mlir::Attribute memoryOf(mlir::Value value, llvm::StringRef attribute = rt::kMemoryAttr);

} // namespace tfc::host
