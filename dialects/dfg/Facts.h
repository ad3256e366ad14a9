//===- Facts.h - Comparisons of sizes -------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Location.h"

namespace mlir {
class Operation;
}

namespace tfc::dfg {

class EntryOp;

enum class Comparison { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// Returns the comparison as spelled in the graph language.
llvm::StringRef spelling(Comparison comparison);

/// A comparison of sizes that each call of an entry must satisfy, such as `n + 1 >= 2 * m`.
struct Fact {
  DimExpr lhs;
  Comparison comparison;
  DimExpr rhs;
  /// Where the author states it, as `siteOf` returns it; no part of comparisons and attributes.
  std::string site = {};

  /// Parses the output of `str`; std::nullopt on a syntax error or overflow.
  static std::optional<Fact> parse(llvm::StringRef text);
  /// The fact in the graph language, with both sizes in canonical form.
  std::string str() const;
  /// The same with its site: `n % 4 == 0 at model.graph:12`.
  std::string strWithSite() const;

  bool operator==(const Fact &other) const {
    return comparison == other.comparison && lhs == other.lhs && rhs == other.rhs;
  }

  /// Returns true if the fact holds for given sizes; std::nullopt if a side does not fit in 64
  /// bits.
  std::optional<bool>
  holds(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;

  /// Returns sizes that are all at least 0 if and only if the fact holds; std::nullopt for `!=`.
  std::optional<llvm::SmallVector<DimExpr>> asNonNegative() const;
};

/// The location of an entry, with the sites of its facts for messages.
mlir::Location withSites(mlir::Location location, llvm::ArrayRef<Fact> facts);

/// A fact of `entry` with its site, if the location of the entry has one for it.
Fact withSite(Fact fact, EntryOp entry);

/// A lower or upper bound of a named size.
struct SizeBound {
  std::string name;
  bool isUpper;
  int64_t limit;
};

/// Returns the bound that `size >= 0` implies for the only name in `size`; std::nullopt if `size`
/// is not linear.
std::optional<SizeBound> boundOfNonNegative(const DimExpr &size);

/// Returns `name` in terms of other names where `difference` is 0; std::nullopt if it is not linear
/// in the name, or not divisible by its factor.
std::optional<DimExpr> solveFor(llvm::StringRef name, const DimExpr &difference);

/// Limits an interval of the same size.
void tighten(DimExpr::Interval &interval, const SizeBound &bound);

/// Returns true if `size` is at least 0 in each call of the entry around `op`, by its bounds and
/// facts.
bool isNonNegativeAt(mlir::Operation *op, const DimExpr &size);

} // namespace tfc::dfg
