// Which edges carry TensorLists and optional values, and what these hold.
#pragma once

#include "frontend/tensorflow/EdgeSets.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <set>

namespace tfc::tensorflow {

/// A ragged tensor in a variant: how many levels of rows it has, and TensorFlow's numbers of the
/// types of its values and splits.
struct RaggedType {
  unsigned levels = 0;
  int64_t values = 0, splits = 0;
  bool operator==(const RaggedType &) const = default;
};

/// Describes the lists, optional values or ragged tensors that the edges of a set carry.
struct VariantSet {
  llvm::SmallVector<unsigned> makers;    // nodes that create a list
  llvm::SmallVector<unsigned> pushes;    // nodes that push an element
  llvm::SmallVector<unsigned> asElement; // nodes that push its lists to lists
  llvm::SmallVector<unsigned> fillers;   // nodes that create an optional value which is there
  bool isList = false, isOptional = false;
  bool grows = false;     // an operation changes the length
  bool shrinks = false;   // an element is popped
  bool isElement = false; // the lists or values are elements of lists
  bool isAsked = false;   // a node asks whether the value is there
  bool isVector = false;  // vectors of ragged tensors
  bool isChanged = false; // an operation returns the list with other elements
  bool isNew = false;     // a node makes the list, but not of the elements of a vector
  std::optional<RaggedType> ragged;
  bool hasTwoTypes = false; // ragged tensors of different types
};

/// The sets of a graph: edges are in one if a node passes on what it reads.
class VariantSets {
public:
  explicit VariantSets(const Graph &graph);

  /// Returns what an edge carries if it is a list or an optional value, else null.
  const VariantSet *find(Edge edge) const;
  /// Returns the set of the list that an edge carries, which may be optional; null if it is none.
  const VariantSet *listAt(Edge edge) const;
  /// Returns how deeply lists are nested that change their length, or are elements of lists; 0 for
  /// other edges.
  unsigned depthOf(Edge edge) const;
  /// Returns the type of the ragged tensors that an edge carries, or that are in what it carries,
  /// if these are in variants. The rows of a vector, or of a list that is one, are a further level.
  std::optional<RaggedType> raggedAt(Edge edge) const;
  /// Returns true if ragged tensors of different types take the place of one.
  bool hasTwoTypes(Edge edge) const;
  /// Returns true if the elements of a list, or of a vector, are ragged tensors.
  bool holdsRagged(Edge edge) const;
  /// Returns true if all nodes that make such a list take its elements from vectors, and no node
  /// changes it.
  bool isUnchanged(Edge edge) const;
  /// Returns true for a vector of ragged tensors.
  bool isVector(Edge edge) const {
    const VariantSet *set = anyAt(edge);
    return set && set->isVector;
  }
  /// Returns TensorFlow's number of the type of the tensors in these lists, or in optional values.
  std::optional<int64_t> tensorTypeOf(const Graph &graph, Edge edge) const;

private:
  void unite(Edge a, Edge b);
  void addContent(Edge container, Edge content);
  void addNode(const Graph &graph, unsigned index);
  void addZeros(const Graph &graph);
  const VariantSet *anyAt(Edge edge) const;
  VariantSet &at(Edge edge) { return sets[edges.find(edge)]; }
  /// Returns what an edge carries, and what is in it, from the outside to the inside: an edge and
  /// its set each.
  llvm::SmallVector<std::pair<Edge, const VariantSet *>> chainAt(Edge edge) const;
  /// Returns an edge of the set that the elements of a list, or an optional value, are of.
  std::optional<Edge> contentOf(Edge edge) const;
  /// Returns the edge that stands for the set of `listAt`.
  std::optional<Edge> listRootAt(Edge edge) const;

  llvm::SmallVector<unsigned> zeros; // nodes that return zeros like a variant
  std::set<unsigned> otherZeros;     // those of them that return another list
  mutable EdgeSets edges;            // finding compresses paths
  std::map<Edge, VariantSet> sets;
  std::map<Edge, Edge> contents;
};

} // namespace tfc::tensorflow
