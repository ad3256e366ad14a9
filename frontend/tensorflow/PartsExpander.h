// Changes of a graph before it is built, in which several edges take the place of one.
#pragma once

#include "frontend/tensorflow/GraphDef.h"
#include "frontend/tensorflow/VariantSets.h"

namespace tfc::tensorflow {

/// Numbers of DataType.
inline constexpr int kInt32Dtype = 3, kBoolDtype = 10;

/// Returns an attribute with a type.
Attr typeAttr(int64_t dtype);

/// Gives edges parts: the first one usually is the edge itself, others are edges of added nodes.
/// The inputs of the nodes are known once all have their parts.
class PartsExpander {
public:
  PartsExpander(mlir::MLIRContext *context, Graph &graph)
      : context(context), graph(graph), sets(graph), count(graph.nodes.size()) {}

protected:
  using Inputs = std::initializer_list<Edge>;

  //===--- Nodes ----------------------------------------------------------===//

  /// Returns a copy of a node, without inputs.
  unsigned copy(unsigned of, unsigned part);
  /// Returns a node beside another one, which runs when that does.
  unsigned make(unsigned of, llvm::StringRef op, Inputs inputs, unsigned dtype = kInt32Dtype);
  /// Returns a constant for a node, which is live if that is, or always.
  unsigned constant(unsigned of, mlir::Type type, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> values, bool follows);
  void setInputs(unsigned node, Inputs inputs);
  void refuse(unsigned node, std::string why) { graph.refused.emplace(node, std::move(why)); }

  //===--- Parts ----------------------------------------------------------===//

  /// Returns a part of an edge, once all parts are known.
  Edge part(Edge edge, unsigned number) const;
  Edge replaced(Edge edge) const;
  void addPart(Edge edge, unsigned number, Edge part) { parts[{edge, number}] = part; }
  /// Connects the nodes; edges that have been replaced are read, and fetched, no more.
  void connectAll();

  mlir::MLIRContext *context;
  Graph &graph;
  VariantSets sets;
  const unsigned count; // of the nodes of the file
  std::map<Edge, Edge> replacements;
  std::vector<std::function<void()>> connections; // of nodes to parts that may come later

private:
  std::map<std::pair<Edge, unsigned>, Edge> parts;
};

} // namespace tfc::tensorflow
