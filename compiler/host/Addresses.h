//===- Addresses.h - Addresses of values ----------------------------------===//

#pragma once

#include "compiler/host/Context.h"
#include "compiler/host/SizeBuilder.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/rt/Rt.h"
#include <map>

namespace tfc::host {

/// Computes the addresses of values. Addresses that are invariant during the call are computed
/// once, before the first step.
class Addresses {
public:
  explicit Addresses(Context &context);

  /// Set after construction: sizes need the symbols of the frame, and the arena needs sizes.
  void setSizes(SizeBuilder &builder) { sizes = &builder; }

  mlir::Value field(rt::Field which);
  /// Returns element `number` of a table of pointers.
  mlir::Value element(rt::Field table, unsigned number);
  mlir::Value variable(mlir::FlatSymbolRefAttr symbol) {
    return element(rt::Field::Variables, context.module.variableNumber(symbol));
  }

  /// Returns the address of a root.
  mlir::Value of(mlir::Value root);
  /// Returns the address of a root, or null if it has not been used before.
  mlir::Value lookup(mlir::Value root) const { return known.lookup(root); }
  void set(mlir::Value root, mlir::Value address) { known[root] = address; }

  /// Returns the address of a slot of the arena.
  mlir::Value arena(rt::SlotAttr slot);
  /// Returns the address of the second buffer of a loop's result.
  mlir::Value alternate(mlir::OpResult result);

  /// Returns the address to which regions write result `number` of the operation that contains
  /// them.
  mlir::Value target(mlir::Operation *op, unsigned number) const {
    return targets.lookup({op, number});
  }
  void setTarget(mlir::Operation *op, unsigned number, mlir::Value address) {
    targets[{op, number}] = address;
  }
  void eraseTargets(mlir::Operation *op);

  /// Returns true if the address of a variable has been requested, that is, the code built so far
  /// reads or writes a variable.
  bool usesVariables() const;

private:
  mlir::Value find(mlir::Value root);
  mlir::Value findConstant(dfg::ConstantOp op);
  mlir::Value findPlaced(mlir::OpResult result);
  mlir::Value inArena(mlir::Value root);
  mlir::Value fail(mlir::Value root);
  mlir::Value unitOf(unsigned region);

  Context &context;
  SizeBuilder *sizes = nullptr;
  rt::ArenaAttr regions; // null if the entry has no arena
  std::vector<mlir::Value> regionOffsets;
  std::map<std::pair<rt::Field, int>, mlir::Value> fields; // index -1 is the field itself
  llvm::DenseMap<mlir::Value, mlir::Value> known;          // by root
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value> targets;
};

/// Returns the attribute with the memory of a value, or null if it is neither in the arena nor in a
/// chunk. The memory of a carried value is that of the loop's result.
mlir::Attribute memoryOf(mlir::Value value, llvm::StringRef attribute = rt::kMemoryAttr);

} // namespace tfc::host
