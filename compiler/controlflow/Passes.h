#ifndef TFC_COMPILER_CONTROLFLOW_PASSES_H
#define TFC_COMPILER_CONTROLFLOW_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tfc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/controlflow/Passes.h.inc"

} // namespace tfc

#endif // TFC_COMPILER_CONTROLFLOW_PASSES_H
