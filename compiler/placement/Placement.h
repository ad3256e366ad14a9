//===- Placement.h - The devices of operations ----------------------------===//

#pragma once

#include "dialects/dfg/Devices.h"

namespace tfc::placement {

/// The devices of the operations and declarations of a module, which later stages read from
/// attributes.
class Placement {
public:
  /// `devices` are whole names, the caller's first.
  explicit Placement(llvm::ArrayRef<dfg::DeviceName> devices) : devices(devices) {}

  llvm::ArrayRef<dfg::DeviceName> getDevices() const { return devices; }

  void place(mlir::Operation *op, unsigned device) { numbers[op] = device; }

  /// The number of the device of an operation without regions; std::nullopt for one that each
  /// device runs for itself.
  std::optional<unsigned> deviceOf(mlir::Operation *op) const;

  /// Replaces the attributes of the module by those that say what is decided here.
  void write(mlir::ModuleOp module) const;

private:
  llvm::SmallVector<dfg::DeviceName> devices;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace tfc::placement
