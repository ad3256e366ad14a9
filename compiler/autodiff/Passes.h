#ifndef TFC_COMPILER_AUTODIFF_PASSES_H
#define TFC_COMPILER_AUTODIFF_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/autodiff/Passes.h.inc"

} // namespace tfc

#endif // TFC_COMPILER_AUTODIFF_PASSES_H
