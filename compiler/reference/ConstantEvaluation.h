//===- ConstantEvaluation.h - Executing operations on constants -----------===//

#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tfc::reference {

/// Lets readers have operations on constants executed by the oracle, see
/// `dfg::ConstantEvaluationInterface`.
void registerConstantEvaluation(mlir::DialectRegistry &registry);

} // namespace tfc::reference
