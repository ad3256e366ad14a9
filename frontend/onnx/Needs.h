// Facts about the sizes of a model with which its operations fit.
#pragma once

#include "dialects/dfg/Facts.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::onnx {

/// Returns the remainders of sizes with which the operations in `errors` fit, such as `n % 4 == 0`
/// for a reshape to rows of 4; facts that are in `known` are left out.
std::vector<dfg::Fact> findRemainders(std::vector<mlir::Diagnostic> &errors,
                                      llvm::ArrayRef<dfg::Fact> known);

/// Replaces names in the sizes by what facts about their remainders say.
dfg::Shape applyRemainders(dfg::Shape sizes, llvm::ArrayRef<dfg::Fact> facts);

} // namespace tfc::onnx
