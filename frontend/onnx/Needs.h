// Facts about the sizes of a model with which its operations fit.
#pragma once

#include "dialects/dfg/Facts.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::onnx {

/// Returns the remainders of sizes with which the operations in `errors` fit, such as `n % 4 == 0`
/// for a reshape to rows of 4, and the sizes that are equal to others, such as `m == n` for a sum
/// of both. The facts are about `names`; those that are in `known` are left out.
std::vector<dfg::Fact> findFacts(std::vector<mlir::Diagnostic> &errors,
                                 llvm::ArrayRef<dfg::Fact> known,
                                 llvm::ArrayRef<std::string> names);

/// Adds facts to `known`, in which they replace the names that they solve.
void addFacts(std::vector<dfg::Fact> &known, llvm::ArrayRef<dfg::Fact> facts);

/// Returns the name that an equality such as `m == n + 1` solves; empty for other facts.
llvm::StringRef solvedName(const dfg::Fact &fact);

/// Replaces names in a size by what facts say about their values and their remainders.
dfg::DimExpr applyFacts(const dfg::DimExpr &size, llvm::ArrayRef<dfg::Fact> facts);

} // namespace tfc::onnx
