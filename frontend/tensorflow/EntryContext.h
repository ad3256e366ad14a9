// State shared by the collaborators that build an entry.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/importer/ConstantEvaluator.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/EntrySpec.h"
#include "frontend/importer/Reals.h"
#include "frontend/importer/Symbols.h"
#include "frontend/tensorflow/Complex.h"
#include "frontend/tensorflow/Rules.h"
#include "frontend/tensorflow/Structure.h"
#include "frontend/tensorflow/VaryingMerges.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include "llvm/ADT/StringSet.h"
#include <set>

namespace tfc::tensorflow {

/// The sizes of a node's output, if they are known.
using KnownSizes = std::shared_ptr<const dfg::SizeTensor>;

/// The state of a node during the import.
struct NodeState {
  enum { Pending, Built, Failed } status = Pending;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<KnownSizes, 1> sizes;
  bool isFolded = false;                    // only `sizes` are known, until a value is requested
  llvm::SmallVector<mlir::Value> witnesses; // live if the node ran; if empty, `values` are
  mlir::Value token;
  bool hasToken = false;       // `token` has been computed, although it may be null
  bool isHandleFailed = false; // no value could be built for the handle
  bool isDead = false;         // no call runs the node
  bool isConstant = false;     // `values` depend on constants alone
};

/// The elements of a TensorArray that does not specify their type.
struct ArrayElements {
  mlir::RankedTensorType type;
  std::set<unsigned> writers;          // whose values have been built, but not examined
  llvm::SmallVector<unsigned> waiting; // nodes to build again once the type is known
};

/// The number of the segment of each row, and how many segments there are.
struct Segments {
  NodeValue ids;
  dfg::DimExpr count;
  std::optional<unsigned> boundBy = std::nullopt; // the node whose bound limits the count
};

struct EntryContext {
  EntryContext(GraphBuilder &builder, const Graph &graph, const Handles &handles,
               const ComplexEdges &complex, ModuleSymbols &symbols, text::LibraryCalls &functions,
               Diagnostics &diagnostics, const EntrySpec &spec)
      : builder(builder), graph(graph), handles(handles), complex(complex), symbols(symbols),
        functions(functions), diagnostics(diagnostics), spec(spec), constants(builder.getContext()),
        structure(graph, handles, fed), states(graph.nodes.size()),
        errorsBefore(diagnostics.getErrorCount()) {}

  mlir::InFlightDiagnostic error(unsigned node) {
    return diagnostics.error(graph.locate(builder.getContext(), node));
  }
  /// Returns true after an error in this entry.
  bool hasErrors() const { return diagnostics.getErrorCount() != errorsBefore; }
  bool isFed(Edge edge) const { return fed.count(edge) != 0; }
  /// Returns the sizes of an edge that has been built, or null if they are not known.
  KnownSizes sizesAt(Edge edge) const {
    if (auto found = fedSizes.find(edge); found != fedSizes.end())
      return found->second;
    const auto &known = states[edge.node].sizes;
    return isFed(edge) || edge.output >= known.size() ? nullptr : known[edge.output];
  }
  /// Returns true if no call computes the value of an edge, because it is on the other side of a
  /// branch whose condition is known.
  bool isDead(Edge edge) const {
    return !isFed(edge) && (states[edge.node].isDead || deadEdges.count(edge));
  }
  /// Returns the rule of a node, including operations in graph source; null if there is none.
  const OpRule *ruleOf(unsigned node) const {
    if (const OpRule *access = varying ? varying->ruleOf(node) : nullptr)
      return access;
    llvm::StringRef op = graph.nodes[node].op;
    const OpRule *rule = complex.isUsedBy(node) ? findComplexRule(op) : nullptr;
    rule = rule ? rule : findRule(op);
    return rule || !functions.declares(functionOf(op)) ? rule : &functionRule();
  }

  /// An operation that binds a size, or in which one does, and its node.
  struct Binder {
    unsigned node;
    mlir::Operation *op;
  };
  /// Returns what binds a size; null for sizes that callers pass.
  const Binder *binderOf(llvm::StringRef name);

  GraphBuilder &builder;
  const Graph &graph;
  const Handles &handles;
  const ComplexEdges &complex;
  ModuleSymbols &symbols;
  /// Operations of TensorFlow that are functions in graph source.
  text::LibraryCalls &functions;
  Diagnostics &diagnostics;
  const EntrySpec &spec;
  const VaryingShapes *varying = nullptr;
  importer::ConstantEvaluator constants;

  /// The largest values of named sizes of feeds, and of sizes that calls find, by the names of
  /// their nodes.
  llvm::StringMap<int64_t> bounds;
  std::map<Edge, mlir::Value> fed;
  std::map<Edge, KnownSizes> fedSizes;
  llvm::StringSet<> sizesOfFeeds; // the names of sizes that callers pass
  std::map<Edge, mlir::ElementsAttr> fedReals;
  importer::KnownValues knownValues; // the feeds of `fedReals`, and of numbers in `fedSizes`
  GraphStructure structure;
  dfg::DataflowOp dataflow;
  std::vector<NodeState> states;
  std::map<Edge, mlir::Value> edgeTokens;
  std::map<Edge, std::optional<bool>> conditions; // of switches, if they are known
  std::set<Edge> deadEdges;                       // of switches whose condition is known
  std::vector<std::pair<unsigned, mlir::Operation *>> created; // with the numbers of their nodes
  std::map<unsigned, ArrayElements> arrays;                    // by the node of the TensorArray
  std::map<unsigned, llvm::SmallVector<unsigned>> waiting;     // nodes to build again after a node
  /// Nodes that wait for sizes which they can do without, and whether they still do.
  std::map<unsigned, bool> sizeWaits;
  /// The positions of the elements of partitions, by the values that number these, and how many
  /// there are.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, llvm::SmallVector<mlir::Value>> partitions;
  /// Segments whose number calls find, by the values that number their rows.
  llvm::DenseMap<mlir::Value, Segments> segments;
  /// Values that loop back edges pass to inputs of merges that have not been built yet.
  std::map<std::pair<unsigned, unsigned>, mlir::Value> loopValues;
  /// Gradients of single elements: the position and the value that were added to a list of zeros.
  std::map<Edge, std::pair<mlir::Value, mlir::Value>> singleWrites;
  /// Facts that this attempt to build the entry has found about sizes that vary.
  std::vector<ShapeChange> shapeChanges;
  /// Such facts about lists.
  std::vector<ListChange> listChanges;
  /// The sizes of loop variables in an iteration, by their Merge and axis.
  std::map<std::pair<unsigned, unsigned>, dfg::DimExpr> varyingSizes;

private:
  unsigned errorsBefore;
  llvm::StringMap<Binder> binders; // of sizes that the first `scanned` of `created` bind
  size_t scanned = 0;
};

} // namespace tfc::tensorflow
