//===- Rt.h - The rt dialect ----------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc::rt {

/// Verifies that the function that contains `op` can return a status.
llvm::LogicalResult verifyEndsCall(mlir::Operation *op);

/// An operation that may end the call: its function then returns the status.
template <typename Op> struct EndsCall : mlir::OpTrait::TraitBase<Op, EndsCall> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyEndsCall(op); }
};

/// Attributes of planned entries and their operations; documented in RtBase.td.
inline constexpr llvm::StringLiteral kArenaAttr = "rt.arena", kTapesAttr = "rt.tapes",
                                     kMemoryAttr = "rt.memory", kAlternateAttr = "rt.alternate",
                                     kScratchAttr = "rt.scratch",
                                     kPartitioningAttr = "rt.partitioning",
                                     kOnGpuAttr = "rt.on_gpu",
                                     kVariableDevicesAttr = "rt.variable_devices",
                                     kCopiedConstantsAttr = "rt.copied_constants";

/// Marks a function as one that describes or runs an entry.
void setEntryFunction(mlir::LLVM::LLVMFuncOp function);
bool isEntryFunction(mlir::LLVM::LLVMFuncOp function);

} // namespace tfc::rt

#include "dialects/rt/RtDialect.h.inc"
#include "dialects/rt/RtEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/rt/Rt.h.inc"
