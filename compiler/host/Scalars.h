//===- Scalars.h - Scalars in registers -----------------------------------===//

#pragma once

#include "compiler/host/Addresses.h"
#include "dialects/dfg/SizeOps.h"

namespace tfc::host {

/// Returns the type of a scalar in a register: its own type without a sign, or i1 for bool.
mlir::Type registerType(mlir::Type tensor);

/// Computes the scalars that the host function keeps in registers.
class Scalars {
public:
  Scalars(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  /// Returns the value in a register. Constants and sizes are built at the start of the function;
  /// scalars in memory are loaded at the insertion point.
  mlir::Value get(mlir::Value value);
  /// Returns a position or count as i64.
  mlir::Value position(mlir::Value value);

  /// Sets the register of a value, and stores it if the value is also read from memory.
  void set(mlir::Value value, mlir::Value scalar);
  void store(mlir::Value scalar, mlir::Value to);

  /// Builds an elementwise operation.
  void compute(mlir::Operation *op);
  /// Binds a data-dependent size.
  void bind(dfg::BindSizeOp op);

private:
  mlir::Value find(mlir::Value value);
  mlir::Value size(dfg::SizeOp op, mlir::Type type);
  mlir::Value load(mlir::Value value, mlir::Type type);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace tfc::host
