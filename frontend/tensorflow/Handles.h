// Where the edges of handles and references lead: found once for a graph, for all of its nodes.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Which list a flow edge carries: the TensorArray's node, and for gradients their source.
struct ListKey {
  unsigned array = 0;
  std::string source;
  bool operator==(const ListKey &other) const = default;
  bool operator<(const ListKey &other) const {
    return std::tie(array, source) < std::tie(other.array, other.source);
  }
};

class Handles {
public:
  explicit Handles(const Graph &graph);

  /// The node that created the resource to which an edge refers; nothing if there is none.
  std::optional<unsigned> resource(Edge edge) const { return resources[edge.node]; }
  /// The variable to which a reference leads.
  std::optional<unsigned> reference(Edge edge) const { return references[edge.node]; }
  /// The TensorArray of a handle.
  std::optional<ListKey> array(Edge edge) const { return arrays[edge.node]; }
  /// The values pushed to the stack of a handle.
  std::optional<Edge> pushed(Edge stack) const { return pushedTo(resource(stack)); }

private:
  std::optional<Edge> pushedTo(std::optional<unsigned> stack) const;
  void findResources(const Graph &graph);
  bool findPushes(const Graph &graph);
  void findReferences(const Graph &graph);
  void findArrays(const Graph &graph);

  std::vector<std::optional<unsigned>> resources, references;
  std::vector<std::optional<ListKey>> arrays;
  std::map<unsigned, Edge> pushes; // by the node of the stack
};

/// Operations that pass their first input on, also from frame to frame.
bool isPassing(llvm::StringRef op);
/// Merge and RefMerge, the only operations that read what comes from the end of a loop.
bool isMerge(llvm::StringRef op);

} // namespace tfc::tensorflow
