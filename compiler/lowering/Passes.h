#ifndef TFC_COMPILER_LOWERING_PASSES_H
#define TFC_COMPILER_LOWERING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/lowering/Passes.h.inc"

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_PASSES_H
