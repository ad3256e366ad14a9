//===- Labels.h - Patterns of axis names ----------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace tfc::dfg {

/// The names that one axis holds: several if in parentheses, none for `1`, and the name ".." for
/// the ellipsis, which represents any number of axes.
using AxisLabels = llvm::SmallVector<std::string>;

/// The axes of one operand or result.
using LabelTerm = llvm::SmallVector<AxisLabels>;

/// An error in a pattern, and the part of the pattern that is wrong.
struct LabelError {
  std::string text;
  std::string part = {};
};

/// `a (b c), .. -> d`: terms between commas before the arrow, one after it.
struct LabelPattern {
  llvm::SmallVector<LabelTerm> inputs;
  LabelTerm output;

  /// Parses a pattern and returns the error, if there is one. With `takesDiagonals`, an operand may
  /// repeat a name.
  std::optional<LabelError> parse(llvm::StringRef text, bool takesDiagonals = false);
};

inline bool isEllipsis(const AxisLabels &axis) { return axis.size() == 1 && axis[0] == ".."; }

/// Replaces the ellipsis of a term by names for its axes in a tensor of rank `rank`; returns false
/// if the ranks do not match.
bool expandEllipsis(LabelTerm &term, size_t rank);

/// Names of axes, one each.
using LabelNames = llvm::SmallVector<std::string>;

/// The axes of operands and result of an einsum, with the ellipses expanded, and the size of each
/// name.
struct Einsum {
  llvm::SmallVector<LabelNames> inputs;
  LabelNames output;
  llvm::StringMap<DimExpr> sizes;
};

/// Reads the labels of the einsum-like operation `op` on operands of these types, or reports an
/// error.
llvm::LogicalResult readEinsum(std::optional<mlir::Location> location, llvm::StringRef op,
                               llvm::StringRef labels, mlir::TypeRange types, bool takesDiagonals,
                               Einsum &einsum);

/// The text of a term.
std::string toText(const LabelTerm &term);

} // namespace tfc::dfg
