// Sets of edges that carry the same value, such as a list.
#pragma once

#include "frontend/tensorflow/GraphDef.h"
#include <map>

namespace tfc::tensorflow {

/// Each edge is first in a set of its own.
class EdgeSets {
public:
  Edge find(Edge edge) {
    Edge root = edge;
    for (auto at = parents.find(root); at != parents.end() && at->second != root;
         at = parents.find(root))
      root = at->second;
    // Path compression.
    for (auto at = parents.find(edge); at != parents.end() && at->second != root;) {
      Edge next = std::exchange(at->second, root);
      at = parents.find(next);
    }
    return root;
  }
  void unite(Edge a, Edge b) { parents[find(a)] = find(b); }

  std::map<Edge, Edge> parents;
};

} // namespace tfc::tensorflow
