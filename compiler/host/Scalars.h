//===- Scalars.h - Scalars in registers -----------------------------------===//

#pragma once

#include "compiler/host/Addresses.h"
#include "dialects/dfg/SizeOps.h"

namespace tfc::host {

/// The type that a scalar has in a register: its own without a sign, i1 for bool.
mlir::Type registerType(mlir::Type tensor);

/// Scalars that the host function computes itself.
class Scalars {
public:
  Scalars(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  /// The value in a register: of constants and sizes at the start of the function, loaded where it
  /// is asked for if it is in memory.
  mlir::Value get(mlir::Value value);
  /// A position or count as i64.
  mlir::Value position(mlir::Value value);

  /// Notes the register of a value, and stores it if something reads the value from memory.
  void set(mlir::Value value, mlir::Value scalar);
  void store(mlir::Value scalar, mlir::Value to);

  /// Computes an elementwise operation.
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
