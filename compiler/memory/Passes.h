#ifndef TFC_COMPILER_MEMORY_PASSES_H
#define TFC_COMPILER_MEMORY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/memory/Passes.h.inc"

} // namespace tfc

#endif // TFC_COMPILER_MEMORY_PASSES_H
