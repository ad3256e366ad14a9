// What the structure of a graph says before anything is built.
#pragma once

#include "frontend/tensorflow/Handles.h"
#include "mlir/IR/Value.h"

namespace tfc::tensorflow {

/// What an entry needs of the graph, and what ties these nodes together.
class GraphFacts {
public:
  struct Frame {
    std::string name;
    unsigned parent;
  };

  /// `fed` has an entry for each edge that the caller gives.
  GraphFacts(const Graph &graph, const Handles &handles, const std::map<Edge, mlir::Value> &fed)
      : graph(graph), handles(handles), fed(fed) {}

  /// Marks what these outputs and nodes depend on.
  void markNeeded(llvm::ArrayRef<Edge> fetches, llvm::ArrayRef<unsigned> targets);
  /// Finds the rest, which relies on nodes that have the inputs of their operations.
  void analyse();

  std::vector<char> isNeeded;    // by the entry
  std::vector<char> mayBeDead;   // or is in a loop
  std::vector<char> needsToken;  // may be dead, is in a loop, or runs after an effect
  std::vector<unsigned> frameOf; // 0 is the graph itself
  std::vector<Frame> frames;
  std::map<Edge, ListKey> flows;
  /// The nodes that put something into a TensorArray or a stack, by its node.
  std::map<unsigned, std::vector<unsigned>> writers;
  /// The needed nodes that read an output of a node, by its index.
  std::vector<llvm::SmallVector<unsigned>> readers;

private:
  void markTokens();
  void findReaders();
  void findFrames();
  void findFlows();
  std::vector<char> reachedFrom(llvm::ArrayRef<unsigned> sources) const;

  const Graph &graph;
  const Handles &handles;
  const std::map<Edge, mlir::Value> &fed;
};

} // namespace tfc::tensorflow
