//===- Errors.h - What errors say besides their text ----------------------===//
//
// Readers of graphs explain errors of operations to authors: they show the place of an attribute,
// or how sizes could be equal. What they need for that travels with the diagnostic, so that nobody
// reads the text.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::dfg {

struct ErrorDetails {
  /// Two sizes that have to be equal and cannot be proven to be.
  std::optional<std::pair<DimExpr, DimExpr>> unproven = {};
  /// Whether operands of these ranks and element types are wrong for all sizes.
  bool isForAllSizes = false;
  /// The name of the attribute whose number is wrong.
  std::string attribute = {};
  /// The part of a text that is wrong, such as a name in a pattern of axes.
  std::string part = {};

  /// The details of an error; empty ones where it has none.
  static ErrorDetails of(mlir::Diagnostic &diagnostic);
  void attachTo(mlir::Diagnostic &diagnostic) const;
};

/// Fails with an error that has details, if there is a location.
template <typename... Args>
llvm::LogicalResult emitDetailedError(std::optional<mlir::Location> location,
                                      const ErrorDetails &details, Args &&...args) {
  if (!location)
    return llvm::failure();
  mlir::InFlightDiagnostic error = mlir::emitError(*location);
  (error << ... << std::forward<Args>(args));
  details.attachTo(*error.getUnderlyingDiagnostic());
  return error;
}

/// Fails with an error about two sizes that have to be equal, "cannot prove that LHS equals RHS, as
/// ..."; `args` say what needs it.
template <typename... Args>
llvm::LogicalResult emitUnproven(std::optional<mlir::Location> location, const DimExpr &lhs,
                                 const DimExpr &rhs, Args &&...args) {
  return emitDetailedError(location, {.unproven = {{lhs, rhs}}}, "cannot prove that ", lhs.str(),
                           " equals ", rhs.str(), ", as ", std::forward<Args>(args)...);
}

} // namespace tfc::dfg
