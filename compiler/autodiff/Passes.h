// Declares the passes of autodiff, which Passes.td defines.
#pragma once

#include "dialects/dfg/ExpansionLimit.h"
#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/autodiff/Passes.h.inc"

} // namespace tfc
