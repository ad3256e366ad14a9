// The errors of a graph while it is read.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace tfc::importer {

/// Counts the errors reported during its lifetime, including those of operations, and suppresses
/// repetitions: a node that several entries need is built once for each of them.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context)
      : engine(context->getDiagEngine()),
        handler(context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {}

  /// Emits an error.
  mlir::InFlightDiagnostic error(mlir::Location location) { return mlir::emitError(location); }
  /// Returns the number of errors so far, including repetitions.
  unsigned getErrorCount() const { return count; }

  /// Holds back what is reported from now on, until `release` reports it, or drops it.
  void hold();
  void release(bool isDropped);

private:
  /// Succeeds for a repetition, so that no other handler sees it.
  llvm::LogicalResult handle(mlir::Diagnostic &diagnostic);

  unsigned count = 0;
  unsigned countBefore = 0; // what is held
  std::optional<std::vector<mlir::Diagnostic>> held;
  llvm::DenseMap<mlir::Attribute, llvm::StringSet<>> reported; // by the location
  mlir::DiagnosticEngine &engine;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tfc::importer
