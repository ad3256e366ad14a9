//===- DeviceSets.h - Where operations and values are ---------------------===//

#pragma once

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/FreeValues.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tfc::partition {

/// The devices of an entry, by their numbers in the module. A value is on one device, its home; a
/// branch or loop runs on each device that has some of its operations or results, or everywhere: on
/// all devices of the entry, because they have to wait for each other in it.
class DeviceSets {
public:
  DeviceSets(dfg::EntryOp entry, const dfg::FreeValues &free, const dfg::RunTimeSizes &sizes,
             mlir::SymbolTable &symbols, llvm::ArrayRef<dfg::DeviceAttr> devices);

  unsigned homeOf(mlir::Value value) const;
  /// The device of an operation without regions.
  unsigned deviceOf(mlir::Operation *op) const;
  bool runsOn(mlir::Operation *op, unsigned device) const;
  /// Returns true for operations that each device computes where it reads their results.
  bool isCopied(mlir::Operation *op) const { return free.isCopied(op); }
  /// Returns true for operations of another device, and for those that may be on several: copied
  /// ones, branches, loops and terminators.
  bool mayRunElsewhere(mlir::Operation *op, unsigned device) const;
  /// The number of devices on which an operation runs.
  unsigned countOf(mlir::Operation *op) const;
  /// The devices on which operations without regions in `op`, or itself, have a property.
  llvm::SmallBitVector devicesWith(mlir::Operation *op,
                                   llvm::function_ref<bool(mlir::Operation *)> has) const;
  /// The devices on which `op`, or an operation in it, may end the call: those of checks, and all
  /// if there are guards of sizes, which run on each device that binds them.
  llvm::SmallBitVector devicesThatMayFail(mlir::Operation *op) const;
  /// Returns true for branches and loops with operations on queues if all partitions have commits
  /// in them: they, or those around them, have checks on several devices, or another device reads
  /// variables after the operation.
  bool runsEverywhere(mlir::Operation *op) const { return everywhere.contains(op); }

  /// The devices that the entry uses; the caller's always is one of them.
  const llvm::SmallBitVector &getUsed() const { return used; }

private:
  unsigned numberOf(mlir::Attribute device) const;
  void visit(mlir::Operation *op);
  void visitRegions(mlir::Operation *op);
  void findEverywhere(mlir::Operation &op);
  unsigned attributeOf(mlir::Operation *op, unsigned result) const;

  const dfg::FreeValues &free;
  const dfg::RunTimeSizes &sizes;
  mlir::SymbolTable &symbols;
  llvm::ArrayRef<dfg::DeviceAttr> devices;
  llvm::SmallBitVector used;
  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> sets; // of operations with regions
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> homes;
  llvm::SmallDenseSet<mlir::Operation *> everywhere;
};

/// Visits the entries of a module that has several devices.
void forEachPlacedEntry(
    mlir::ModuleOp module,
    llvm::function_ref<void(dfg::EntryOp, llvm::ArrayRef<dfg::DeviceAttr> devices,
                            const dfg::FreeValues &, const DeviceSets &)>
        visit);

} // namespace tfc::partition
