//===- OperandTypes.h - Types of operands in the language's terms ---------===//

#pragma once

#include "mlir/IR/Operation.h"

namespace tfc::dfg {

/// Emits an error in the language's terms and fails unless the operands have types that the
/// definition of the operation allows.
llvm::LogicalResult verifyOperandTypes(mlir::Operation *op);

} // namespace tfc::dfg
