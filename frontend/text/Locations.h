/// Between source ranges and MLIR's locations, so that every stage's errors look alike.
#pragma once

#include "frontend/text/syntax/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace tfc::text {

/// A FileLineColRange; unknown where the range is invalid.
mlir::Location toLocation(mlir::MLIRContext *context, const SourceManager &sources,
                          SourceRange range);

/// The innermost file range that a location names: of a call site the callee, of a fused location
/// its first part. Invalid where it names no file that `sources` knows.
SourceRange toRange(mlir::Location location, const SourceManager &sources);

/// While it lives, errors and warnings that MLIR code reports go to `engine`. A note "help: ..."
/// becomes the help; a trailing " [slug]" of the text becomes the slug. Call sites become notes
/// "in this call", innermost first.
class MlirDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnosticHandler(mlir::MLIRContext *context, DiagnosticEngine &engine);
};

} // namespace tfc::text
