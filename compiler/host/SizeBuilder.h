//===- SizeBuilder.h - Sizes as values ------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace tfc::host {

/// Builds the values (i64) of sizes over the symbols of one call.
///
/// Values are remembered and used again: the insertion point may only move to blocks that the
/// earlier ones dominate. Nothing traps: a division by zero is 0. Sizes with a name that has been
/// bound later are built where they are asked for.
class SizeBuilder {
public:
  /// `symbols` points to the values of `names` in the call.
  SizeBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value symbols,
              llvm::ArrayRef<std::string> names);

  /// Binds a name to a value; sizes with the name are built at the insertion point that `at` has
  /// then.
  void bind(llvm::StringRef name, mlir::Value value, mlir::OpBuilder &at);
  /// Returns true if a name in the size has been bound.
  bool isBoundLater(const dfg::DimExpr &size) const;

  mlir::Value constant(int64_t value);
  mlir::Value build(const dfg::DimExpr &size);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);

  /// From here on, overflows of sums and products are watched.
  void watchOverflow() { watching = true; }
  /// Whether one has happened (i1); null if none can.
  mlir::Value overflowed() const { return overflow; }

private:
  mlir::Value buildSum(const dfg::DimExpr &size);
  mlir::Value buildAtom(const dfg::DimExpr::Atom &atom);
  mlir::Value buildDivision(mlir::Value lhs, mlir::Value rhs, bool remainder);
  std::optional<int64_t> constantOf(mlir::Value value) const;
  template <typename Op, typename Watched> mlir::Value arithmetic(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &start;
  mlir::OpBuilder *b; // `start`, or where sizes of bound names go
  mlir::OpBuilder *current = nullptr;
  mlir::Location loc;
  mlir::Value symbols;
  llvm::StringMap<unsigned> numbers;
  std::map<int64_t, mlir::Value> constants;
  llvm::StringMap<mlir::Value> values; // by canonical text
  llvm::StringMap<mlir::Value> bound;  // by name
  bool watching = false;
  mlir::Value overflow;
};

} // namespace tfc::host
