//===- Devices.h - Where operations shall be ------------------------------===//
//
// Authors say on which device an operation, a variable or a queue shall be, or next to which
// variables and queues; stages carry this to placement as discardable attributes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DeviceName.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc::dfg {

/// A `#dfg.device`, and an array of the symbols of variables and queues.
inline constexpr llvm::StringLiteral kDeviceAttr = "dfg.device", kColocateAttr = "dfg.colocate";

/// The decisions of placement. A module has an array of the devices that it uses, whole names
/// without repetition, the caller's first; without the attribute that is the only one. An operation
/// or a declaration without `dfg.device` is on the caller's device. A branch or loop has an array
/// with the device of each result, and of the values that become it; without, all are on the
/// caller's. After fusion, a kernel has a name with the kind of its devices alone, unless that is
/// the caller's kind.
inline constexpr llvm::StringLiteral kDevicesAttr = "dfg.devices", kHomesAttr = "dfg.homes";

/// On operations of entries on several devices, from partition to fusion: a positive i32, the
/// number of the last message for which the operation waits. Operations of different epochs share
/// no kernel.
inline constexpr llvm::StringLiteral kEpochAttr = "dfg.epoch";

/// On operations that make a list, up to placement: an i32 that no other of them has.
inline constexpr llvm::StringLiteral kListAttr = "dfg.list";

/// The device whose thread makes the calls.
DeviceName callersDevice();

/// Returns true if a device has memory of its own, which the host cannot address.
bool hasOwnMemory(const DeviceName &device);

/// The devices that a placed module uses, the caller's first.
llvm::SmallVector<DeviceAttr> devicesOf(mlir::ModuleOp module);

/// Returns true for operations and declarations that may say on which device they shall be: not
/// for constants and sizes, which are made where they are read, for operations on state, which are
/// where it is, and for operations with regions, whose parts may be on several.
bool isOnDevice(mlir::Operation *op);

/// The device that `op` shall have; open without the attribute.
DeviceName deviceOf(mlir::Operation *op);

/// The variables and queues next to which `op` shall be.
llvm::SmallVector<mlir::FlatSymbolRefAttr> colocatedWith(mlir::Operation *op);

/// The attributes that say this, none for an open name and for no symbols.
llvm::SmallVector<mlir::NamedAttribute> placementAttrs(mlir::MLIRContext *context,
                                                       const DeviceName &device,
                                                       llvm::ArrayRef<std::string> symbols);

/// The attributes by which `op` says where it shall be.
llvm::SmallVector<mlir::NamedAttribute> placementOf(mlir::Operation *op);

/// Lets `to` say the same as `from` about where it shall be, unless it already says something.
void copyPlacement(mlir::Operation *from, mlir::Operation *to);

/// Lets the operation say nothing about where it shall be.
void clearPlacement(mlir::Operation *op);

/// Lets operations that a builder inserts say the same as another one about where they shall be.
class PlacementListener : public mlir::OpBuilder::Listener {
public:
  explicit PlacementListener(mlir::Operation *from) : from(from) {}

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    copyPlacement(from, op);
  }

private:
  mlir::Operation *from;
};

} // namespace tfc::dfg
