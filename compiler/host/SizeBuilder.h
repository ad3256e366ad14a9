//===- SizeBuilder.h - Sizes as values ------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace tfc::host {

/// Builds the values (i64) of sizes from the symbols of a call.
///
/// Values are cached, so the insertion point may move only to blocks that are dominated by the
/// earlier ones. Nothing traps: a division by zero returns 0. A size that mentions a name that is
/// bound later is built at each use.
class SizeBuilder {
public:
  /// `symbols` points to the values of `names` in the call.
  SizeBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value symbols,
              llvm::ArrayRef<std::string> names);

  /// Binds a name to a value; sizes that mention the name are built at the insertion point of `at`.
  void bind(llvm::StringRef name, mlir::Value value, mlir::OpBuilder &at);
  /// Returns true if the size mentions a name that has been bound by `bind`.
  bool isBoundLater(const dfg::DimExpr &size) const;

  mlir::Value constant(int64_t value);
  mlir::Value build(const dfg::DimExpr &size);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);

  /// Tracks overflows of the sums and products that are built after this call.
  void watchOverflow() { watching = true; }
  /// Returns an i1 that is true if an overflow has happened, or null if none is possible.
  mlir::Value overflowed() const { return overflow; }

private:
  mlir::Value buildSum(const dfg::DimExpr &size);
  mlir::Value buildProduct(mlir::Value product, const dfg::DimExpr::Monomial &factors);
  mlir::Value buildAtom(const dfg::DimExpr::Atom &atom);
  mlir::Value buildDivision(mlir::Value lhs, mlir::Value rhs, bool remainder);
  std::optional<int64_t> constantOf(mlir::Value value) const;
  template <typename Op, typename Watched> mlir::Value arithmetic(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &start;
  mlir::OpBuilder *b; // `start`, or the insertion point for sizes of bound names
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
