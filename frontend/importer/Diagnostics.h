// The errors of a graph while it is read.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::importer {

/// Counts the errors that are reported while it exists, those of operations included, and hides
/// repetitions: a node that several entries need is built for each of them.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {}

  /// Starts an error.
  mlir::InFlightDiagnostic error(mlir::Location location) { return mlir::emitError(location); }
  /// The number of errors so far, with repetitions.
  unsigned getErrorCount() const { return count; }

private:
  /// Succeeds for a repetition, which no other handler sees then.
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);

  unsigned count = 0;
  llvm::DenseMap<mlir::Attribute, llvm::StringSet<>> reported; // by the location
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tfc::importer
