// TensorLists whose length changes, and optional values.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// The attribute of nodes that read a whole list which has an input that counts the elements.
inline constexpr llvm::StringLiteral kGrows = "_grows";

/// The attribute of a scatter to a list that keeps its length.
inline constexpr llvm::StringLiteral kFixed = "_fixed";

/// Replaces operations on vectors of lists by operations on each of them, and those that scatter to
/// a new list by ones that make it and scatter to it.
void expandListVectors(mlir::MLIRContext *context, Graph &graph);

/// Replaces lists that are pushed to and popped from, such as those in which gradients of loops
/// find the values of the loop, by lists and the number of their elements: a list keeps what has
/// been popped, and the next push overwrites it. A list of lists becomes one list of all elements
/// and lists of the numbers of elements that there were before each. Optional values become values.
/// Nodes that cannot be replaced are noted in `graph.refused`.
void expandGrowingLists(mlir::MLIRContext *context, Graph &graph);

} // namespace tfc::tensorflow
