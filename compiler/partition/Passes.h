// Declares the passes of partition, which Passes.td defines.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/partition/Passes.h.inc"

} // namespace tfc
