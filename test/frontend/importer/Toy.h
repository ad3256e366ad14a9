// A small format, whose reader uses all of what importers share, as TensorFlow's does: its nodes
// name their inputs and outputs, and attributes may be graphs.
#pragma once

#include "frontend/importer/Feeds.h"
#include "frontend/importer/LibraryCall.h"
#include "frontend/importer/Scope.h"
#include <set>

namespace tfc::importer::toy {

struct ToyNode : Node {
  std::vector<std::string> inputs; // an empty name is an absent input
  std::vector<std::string> outputs;

  ToyNode &with(llvm::StringRef name, int64_t number, AttrKind kind = AttrKind::Int);
  ToyNode &withInts(llvm::StringRef name, std::vector<int64_t> numbers);
};

struct ToyInput {
  std::string name;
  std::optional<llvm::SmallVector<int64_t>> sizes; // not given if the rank is unknown
  bool isBool = false;                             // instead of f32
};

struct ToyGraph {
  std::vector<ToyInput> inputs;
  std::vector<ToyNode> nodes;
  std::vector<std::string> outputs;

  /// Adds a node, which is named after its first output.
  ToyNode &add(std::vector<std::string> outputs, llvm::StringRef op,
               std::vector<std::string> inputs);
};

/// The first graph is the entry; attributes refer to the others.
struct ToyFile {
  int64_t version = 1;
  std::vector<ToyGraph> graphs;
};

class ToyReader {
public:
  ToyReader(GraphBuilder &builder, Diagnostics &diagnostics, text::LibraryCalls &library,
            const ToyFile &file)
      : builder(builder), diagnostics(diagnostics), library(library), file(file) {}

  /// Builds an entry from the inputs and outputs of the first graph.
  void read();
  /// Builds a graph at the current position. Returns its outputs, or std::nullopt after errors.
  std::optional<llvm::SmallVector<NodeValue>>
  buildGraph(unsigned graph, llvm::ArrayRef<NodeValue> inputs, const Scope *outer);

  GraphBuilder &builder;
  Diagnostics &diagnostics;
  text::LibraryCalls &library;
  const ToyFile &file;

private:
  mlir::Location locate(const Node &node);
  void check(const ToyGraph &graph);
  void checkNode(const ToyNode &node);
  void buildNode(const ToyNode &node, Scope &scope);
  NodeValue find(const ToyNode &user, llvm::StringRef name, const Scope &scope);
  EntryHeader makeHeader();

  std::set<std::string> failed; // outputs of nodes that could not be built
};

} // namespace tfc::importer::toy
