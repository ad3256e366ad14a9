// Properties of a graph that are computed before anything is built: frames, flows, deadness.
#pragma once

#include "frontend/tensorflow/EdgeSets.h"
#include "frontend/tensorflow/Handles.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringSet.h"

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
  /// Finds the variables that needed nodes assign.
  void findAssigned();
  /// Returns true for a variable that a needed node assigns; false if there is none.
  bool isAssigned(std::optional<unsigned> variable) const {
    return variable && assigned.contains(variableName(graph.nodes[*variable]));
  }
  /// Computes the other structure. Nodes must have passed the checks of their inputs.
  void analyse();

  /// Returns the variable to which an input of a node refers, if that is read when the node runs.
  std::optional<unsigned> reference(unsigned node, Edge input) const {
    auto found = lateReads.find({node, input});
    return found == lateReads.end() ? handles.reference(input) : std::optional(found->second);
  }

  /// Returns true if no needed node has control flow, or a list or stack of it: then an order of
  /// the nodes that has each after those that it depends on replaces tokens.
  bool isStraight() const;
  /// No node needs a token.
  void dropTokens() { needsToken.assign(needsToken.size(), false); }

  /// Returns true for a placeholder that is fed: nodes that run after it do not wait.
  bool isFedPlaceholder(unsigned node) const {
    return graph.nodes[node].op == "Placeholder" && fed.count({node, 0});
  }

  std::vector<char> isNeeded;    // needed by the entry
  std::vector<char> isPureRead;  // reads a variable that no needed node assigns
  std::vector<char> mayBeDead;   // or in a loop
  std::vector<char> needsToken;  // may be dead, is in a loop, or runs after an effect
  std::vector<unsigned> frameOf; // 0 is the graph itself
  std::vector<Frame> frames;
  std::map<Edge, ListKey> flows;
  /// The TensorArrays to which nodes write, by the numbers of these.
  std::map<unsigned, unsigned> writtenArrays;
  /// The nodes that create the lists of a set of flows, by the number of the first one.
  std::map<unsigned, llvm::SmallVector<unsigned>> listMakers;
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
  bool addVarying(unsigned index, EdgeSets &sets, std::map<Edge, ListKey> &sources) const;
  std::vector<char> reachedFrom(llvm::ArrayRef<unsigned> sources, const Users &users) const;

  const Graph &graph;
  const Handles &handles;
  const std::map<Edge, mlir::Value> &fed;
  /// The variables of inputs that share the memory of a variable and are used after it has changed.
  std::map<std::pair<unsigned, Edge>, unsigned> lateReads;
  llvm::StringSet<> assigned; // variables, by name
};

} // namespace tfc::tensorflow
