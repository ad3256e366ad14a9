//===- DeviceSets.h - Where operations and values are ---------------------===//

#pragma once

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/FreeValues.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tfc::partition {

/// The devices of an entry, by their numbers in the module. A value is on one device, its home; a
/// branch or loop runs on each device that has some of its operations or results.
class DeviceSets {
public:
  DeviceSets(dfg::EntryOp entry, const dfg::FreeValues &free, mlir::SymbolTable &symbols,
             llvm::ArrayRef<dfg::DeviceAttr> devices);

  unsigned homeOf(mlir::Value value) const;
  /// The device of an operation without regions.
  unsigned deviceOf(mlir::Operation *op) const;
  bool runsOn(mlir::Operation *op, unsigned device) const;
  /// The number of devices on which an operation runs.
  unsigned countOf(mlir::Operation *op) const;

  /// The devices that the entry uses; the caller's always is one of them.
  const llvm::SmallBitVector &getUsed() const { return used; }

private:
  unsigned numberOf(mlir::Attribute device) const;
  void visit(mlir::Operation *op);
  void visitRegions(mlir::Operation *op);
  unsigned attributeOf(mlir::Operation *op, unsigned result) const;

  const dfg::FreeValues &free;
  mlir::SymbolTable &symbols;
  llvm::ArrayRef<dfg::DeviceAttr> devices;
  llvm::SmallBitVector used;
  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> sets; // of operations with regions
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> homes;
};

} // namespace tfc::partition
