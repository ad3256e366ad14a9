// What the evaluators of sizes share: see Sizes.cpp.
#pragma once

#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::tensorflow {

using Results = std::optional<llvm::SmallVector<SizeTensor>>;
using Evaluator = Results (*)(NodeBuilder &node);

/// All inputs, or nothing.
std::optional<llvm::SmallVector<const SizeTensor *>> knownInputs(NodeBuilder &node);
/// The one result of a node; integers wrap, as they would at run time.
Results one(SizeTensor sizes);
/// One result of one axis.
Results vectorOf(mlir::Type elementType, llvm::ArrayRef<dfg::DimExpr> values);
/// One result that is a number.
Results scalarOf(mlir::Type elementType, dfg::DimExpr value);
/// The number of elements, or kMaxSizes + 1 of more.
int64_t countOf(llvm::ArrayRef<int64_t> shape);
/// The operand if it is one number.
std::optional<int64_t> numberAt(NodeBuilder &node, unsigned i);
/// The elements of an operand, if all are known.
std::optional<llvm::SmallVector<int64_t>> numbersAt(NodeBuilder &node, unsigned i);

/// The evaluators of what moves sizes: reshapes, slices, concatenations.
const llvm::StringMap<Evaluator> &movingEvaluators();

} // namespace tfc::tensorflow
