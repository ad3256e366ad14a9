#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace tfc::cpu {

/// The kernels in linalg form of a module, in order.
llvm::SmallVector<mlir::func::FuncOp> findKernels(mlir::ModuleOp module);

/// Brings a kernel into the form that schedules expect: every structured operation is a
/// linalg.generic, and every result is made by one that makes no other result.
mlir::LogicalResult prepareKernel(mlir::func::FuncOp kernel);

} // namespace tfc::cpu
