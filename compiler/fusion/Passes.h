// Declares the passes of fusion, which Passes.td defines.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/fusion/Passes.h.inc"

} // namespace tfc
