//===- Kernel.h - Kernels in linalg form and their code -------------------===//

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/kernel/KernelDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.h.inc"

namespace tfc::kernel {

/// The name of the target of kernels that do not name one.
inline constexpr llvm::StringLiteral kDefaultTarget = "cpu";

/// Describes the targets of the kernels in a module, by name.
void setTargets(mlir::ModuleOp module, mlir::DictionaryAttr targets);
mlir::DictionaryAttr getTargets(mlir::ModuleOp module);

/// Represents all analyses of a kernel that depend only on its body and its target. A pass that
/// changes neither preserves them.
struct BodyAnalyses {};

/// Returns how the host launches `function`, or null if that is not the code of a kernel.
AbiAttr abiOf(mlir::Operation *function);

/// Returns the target of the code of a kernel; null if the module does not describe it.
TargetAttr targetOf(mlir::Operation *code);

/// Marks `function` as the code of a kernel.
void setAbi(mlir::Operation *function, AbiAttr abi);

/// The arithmetic of a kernel, the bytes that it reads of each tensor and those of each result that
/// it writes, over its sizes; of a `kernel.func` or its code. Null if it has not been measured.
mlir::AffineMapAttr workOf(mlir::Operation *kernel);
void setWork(mlir::Operation *kernel, mlir::AffineMapAttr work);

/// The way in which the product of a kernel is computed, `kernel.schedule`.
struct NamedSchedule {
  llvm::StringRef way;  // empty if the kernel names none
  llvm::StringRef hash; // of what the kernel computes
  int64_t count = 0;    // of the ways that there are
};

NamedSchedule scheduleOf(mlir::Operation *kernel);
void setSchedule(mlir::Operation *kernel, const NamedSchedule &schedule);

/// Returns the grids of all kernels of a module, in order.
llvm::SmallVector<GridAttr> gridsOf(mlir::ModuleOp module);

/// Leaves a function of a float to the C library, although code generation has a polynomial for it.
void setFromLibrary(mlir::Operation *op);
bool isFromLibrary(mlir::Operation *op);

/// Returns the attribute with the sizes of a dynamic tensor, for an argument or a result of a
/// `kernel.func`.
mlir::NamedAttribute shapeAttr(mlir::AffineMap shape);

} // namespace tfc::kernel
