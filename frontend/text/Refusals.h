/// Graphs that the language refuses although the dialect has them: the elaborator reports them in
/// the author's text, and the printer does not write them.
#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::text {

/// A word in brackets and the message to it.
struct Refusal {
  llvm::StringRef word;
  std::string text;
};

/// Says what is wrong with the constants that an operation takes, such as a divisor of zero; `name`
/// is what the author calls it.
std::optional<Refusal> findMeaninglessConstants(mlir::Operation *op, llvm::StringRef name);

/// Two uses of a variable or queue, one of which changes it.
struct UnorderedEffects {
  llvm::StringRef name;
  mlir::Operation *first, *second;
};

/// Visits each use, with the first use before it, that nothing in a block of the graph form orders,
/// until `visit` returns false.
void findUnorderedEffects(dfg::DataflowOp op,
                          llvm::function_ref<bool(const UnorderedEffects &)> visit);

/// The condition of a loop, where it is a constant.
std::optional<bool> knownCondition(dfg::WhileOp loop);

/// Returns true if the loop goes on for ever once it has begun.
bool neverEnds(dfg::WhileOp loop);

} // namespace tfc::text
