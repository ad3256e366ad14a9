// Complex numbers, which tensors of the dialect lack: a value of them is a tensor [2, ..] of its
// planes, the real and the imaginary parts.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

struct OpRule;

/// Returns the rule of an operation on complex numbers whose rule on real ones is another one, or
/// null if there is none.
const OpRule *findComplexRule(llvm::StringRef op);

/// The nodes and edges of a graph that carry complex numbers.
class ComplexEdges {
public:
  explicit ComplexEdges(const Graph &graph);

  bool isComplex(Edge edge) const;
  /// Returns true if the node has complex inputs or names a complex type.
  bool isUsedBy(unsigned node) const { return isUsed[node]; }

private:
  bool readsComplex(unsigned node) const;
  bool returnsComplex(unsigned node) const;

  const Graph &graph;
  std::vector<char> isUsed, isReturned; // by node
};

} // namespace tfc::tensorflow
