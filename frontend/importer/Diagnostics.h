// The errors of a graph while it is read.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::importer {

/// Counts the errors reported during its lifetime, including those of operations, and suppresses
/// repetitions: a node that several entries need is built once for each of them.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {}

  /// Emits an error.
  mlir::InFlightDiagnostic error(mlir::Location location) { return mlir::emitError(location); }
  /// Returns the number of errors so far, including repetitions.
  unsigned getErrorCount() const { return count; }

private:
  /// Succeeds for a repetition, so that no other handler sees it.
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);

  unsigned count = 0;
  llvm::DenseMap<mlir::Attribute, llvm::StringSet<>> reported; // by the location
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tfc::importer
