/// Conversions between source ranges and MLIR's locations, so that errors of all stages have the
/// same form.
#pragma once

#include "frontend/text/syntax/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace tfc::text {

/// A FileLineColRange; an unknown location if the range is invalid.
mlir::Location toLocation(mlir::MLIRContext *context, const SourceManager &sources,
                          SourceRange range);

/// The innermost file range in a location: for a call site that of the callee, for a fused location
/// that of its first part. Invalid if `sources` does not have the file.
SourceRange toRange(mlir::Location location, const SourceManager &sources);

/// During its lifetime, errors and warnings of MLIR code are added to `engine`. A note "help: ..."
/// becomes the help; a trailing " [slug]" of the text becomes the slug. Call sites become notes "in
/// this call", innermost first.
class MlirDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnosticHandler(mlir::MLIRContext *context, DiagnosticEngine &engine);
};

} // namespace tfc::text
