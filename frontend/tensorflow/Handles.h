// Resolves the edges of handles and references to the nodes that create them, once per graph.
#pragma once

#include "frontend/tensorflow/GraphDef.h"

namespace tfc::tensorflow {

/// Identifies the list that a flow edge carries: the TensorArray's node and, for gradients, their
/// source.
struct ListKey {
  unsigned array = 0;
  std::string source;
  bool operator==(const ListKey &other) const = default;
  bool operator<(const ListKey &other) const {
    return std::tie(array, source) < std::tie(other.array, other.source);
  }
};

/// Returns true if the node only forwards a handle, which is resolved where it is used.
bool passesHandle(const Node &node);
/// Returns true if an edge carries a handle or a reference instead of a value.
bool isHandle(const Graph &graph, Edge edge);

class Handles {
public:
  explicit Handles(const Graph &graph);

  /// Returns the node that created the resource to which an edge refers, if there is one.
  std::optional<unsigned> resource(Edge edge) const { return resources[edge.node]; }
  /// Returns the variable to which a reference edge refers.
  std::optional<unsigned> reference(Edge edge) const { return references[edge.node]; }
  /// Returns the variable of an edge that carries a handle of it, or a reference.
  std::optional<unsigned> variable(const Graph &graph, Edge edge) const;
  /// Returns the TensorArray to which a handle refers.
  std::optional<ListKey> array(Edge edge) const { return arrays[edge.node]; }
  /// Returns the values pushed to the stack to which a handle refers.
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

} // namespace tfc::tensorflow
