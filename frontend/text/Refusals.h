/// Graphs that the language refuses although the dialect has them: the elaborator reports them in
/// the author's text, and the printer does not write them.
#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::text {

/// The word in brackets and the message of an error.
struct Refusal {
  llvm::StringRef word;
  std::string text;
};

/// Finds an error in the constant operands of an operation, such as a divisor of zero; `name` is
/// the author's name of the operation.
std::optional<Refusal> findMeaninglessConstants(mlir::Operation *op, llvm::StringRef name);

/// Two uses of a variable or queue, one of which changes it.
struct UnorderedEffects {
  llvm::StringRef name;
  mlir::Operation *first, *second;
};

/// Visits each pair of a use and the first earlier use that are unordered in a block of the graph
/// form, until `visit` returns false.
void findUnorderedEffects(dfg::DataflowOp op,
                          llvm::function_ref<bool(const UnorderedEffects &)> visit);

/// The condition of a loop, if it is a constant.
std::optional<bool> knownCondition(dfg::WhileOp loop);

/// Returns true if the loop never ends once it has begun.
bool neverEnds(dfg::WhileOp loop);

} // namespace tfc::text
