// Declares the passes that all targets share, which Passes.td defines.
#pragma once

#include "dialects/kernel/Kernel.h"
#include "mlir/Pass/Pass.h"

namespace tfc::kernels {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/kernels/Passes.h.inc"

} // namespace tfc::kernels
