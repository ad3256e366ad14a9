// Properties of a graph that are computed before anything is built: frames, flows, deadness.
#pragma once

#include "frontend/tensorflow/Handles.h"
#include "mlir/IR/Value.h"

namespace tfc::tensorflow {

/// The nodes that an entry needs, and their dependences on each other.
class GraphStructure {
public:
  struct Frame {
    std::string name;
    unsigned parent;
  };

  /// `fed` has an entry for each edge that is a feed.
  GraphStructure(const Graph &graph, const Handles &handles, const std::map<Edge, mlir::Value> &fed)
      : graph(graph), handles(handles), fed(fed) {}

  /// Marks the nodes on which these outputs and nodes depend.
  void markNeeded(llvm::ArrayRef<Edge> fetches, llvm::ArrayRef<unsigned> targets);
  /// Computes the other structure. Nodes must have passed the checks of their inputs.
  void analyse();

  /// Returns the variable to which an input of a node refers, if that is read when the node runs.
  std::optional<unsigned> reference(unsigned node, Edge input) const {
    auto found = lateReads.find({node, input});
    return found == lateReads.end() ? handles.reference(input) : std::optional(found->second);
  }

  /// Returns true if no needed node has effects or control flow: then any order of nodes will do
  /// that has each after its inputs.
  bool isStraight() const;

  std::vector<char> isNeeded;    // needed by the entry
  std::vector<char> mayBeDead;   // or in a loop
  std::vector<char> needsToken;  // may be dead, is in a loop, or runs after an effect
  std::vector<unsigned> frameOf; // 0 is the graph itself
  std::vector<Frame> frames;
  std::map<Edge, ListKey> flows;
  /// The TensorArrays to which nodes write, by the numbers of these.
  std::map<unsigned, unsigned> writtenArrays;
  /// The first push to a stack, by the number of its node.
  std::map<unsigned, unsigned> pushes;
  /// By node: the needed nodes that read one of its outputs.
  std::vector<llvm::SmallVector<unsigned>> readers;

private:
  using Users = std::vector<llvm::SmallVector<unsigned>>;

  Users findUsers() const;
  void findLateReads(const Users &users);
  void markTokens(const Users &users);
  void findReaders();
  void findFrames();
  void findFlows();
  std::vector<char> reachedFrom(llvm::ArrayRef<unsigned> sources, const Users &users) const;

  const Graph &graph;
  const Handles &handles;
  const std::map<Edge, mlir::Value> &fed;
  /// The variables of inputs that share the memory of a variable and are used after it has changed.
  std::map<std::pair<unsigned, Edge>, unsigned> lateReads;
};

} // namespace tfc::tensorflow
