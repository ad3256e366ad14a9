//===- Dfg.h - The dfg dialect --------------------------------------------===//

#pragma once

#include "dialects/dfg/DataChecks.h"
#include "dialects/dfg/DeviceName.h"
#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/Enums.h"
#include "dialects/dfg/Facts.h"
#include "dialects/dfg/Roles.h"
#include "dialects/dfg/SizeTensor.h"
#include "dialects/dfg/Types.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc::dfg {

/// On the arguments and results of an entry: the name of the feed or fetch, a string.
inline constexpr llvm::StringLiteral kNameAttr = "dfg.name";

} // namespace tfc::dfg

#include "dialects/dfg/DfgDialect.h.inc"
#include "dialects/dfg/DfgInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dfg/DfgAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/dfg/DfgTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/dfg/DfgOps.h.inc"
