// Declares the passes of simplify, which Passes.td defines.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/simplify/Passes.h.inc"

} // namespace tfc
