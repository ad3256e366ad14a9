//===- Errors.h - Details of errors besides their text --------------------===//
//
// Readers of graphs explain errors of operations to authors: they show the location of an
// attribute, or how sizes could be equal. The details that they need are attached to the
// diagnostic, so that no reader has to parse the text.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::dfg {

struct ErrorDetails {
  /// Two sizes that must be equal but cannot be proven to be.
  std::optional<std::pair<DimExpr, DimExpr>> unproven = {};
  /// True if operands of these ranks and element types are wrong for all sizes.
  bool isForAllSizes = false;
  /// The name of the attribute whose number is wrong.
  std::string attribute = {};
  /// The wrong part of a text, such as a name in a pattern of axes.
  std::string part = {};

  /// Returns the details of an error, which are empty if it has none.
  static ErrorDetails of(mlir::Diagnostic &diagnostic);
  void attachTo(mlir::Diagnostic &diagnostic) const;
};

/// The name that an error at `location` has for the operation `op`: the operator or function that
/// the author wrote there, or `op`, in quotes.
std::string quotedName(mlir::Location location, llvm::StringRef op);

/// The same for a location that may be absent, where no error is emitted.
inline std::string quotedName(std::optional<mlir::Location> location, llvm::StringRef op) {
  return location ? quotedName(*location, op) : std::string();
}

/// Emits the error "'op' " and `args`, if there is a location, and fails.
template <typename... Args>
llvm::LogicalResult emitErrorAbout(std::optional<mlir::Location> location, llvm::StringRef op,
                                   Args &&...args) {
  if (!location)
    return llvm::failure();
  mlir::InFlightDiagnostic error = mlir::emitError(*location);
  error << quotedName(*location, op) << " ";
  (error << ... << std::forward<Args>(args));
  return error;
}

/// Emits an error with details, if there is a location, and fails.
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

/// Emits an error about two sizes that must be equal, "cannot prove that LHS equals RHS, as ...",
/// and fails; `args` say what requires it.
template <typename... Args>
llvm::LogicalResult emitUnproven(std::optional<mlir::Location> location, const DimExpr &lhs,
                                 const DimExpr &rhs, Args &&...args) {
  return emitDetailedError(location, {.unproven = {{lhs, rhs}}}, "cannot prove that ", lhs.str(),
                           " equals ", rhs.str(), ", as ", std::forward<Args>(args)...);
}

} // namespace tfc::dfg
