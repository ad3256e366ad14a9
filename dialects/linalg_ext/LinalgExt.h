// Declares the dialect linalg_ext: structured operations that linalg.generic cannot express.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/linalg_ext/LinalgExtDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/linalg_ext/LinalgExt.h.inc"
