// The dialects of the commands that read graphs.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tfc {

/// Returns the dialects of all stages; the oracle evaluates constants for readers.
mlir::DialectRegistry makeSessionRegistry();

} // namespace tfc
