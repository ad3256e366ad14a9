// Declares the passes of placement, which Passes.td defines.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/placement/Passes.h.inc"

} // namespace tfc
