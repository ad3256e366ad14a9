// Inside the import of GraphDefs: an entry is built node by node, once the inputs of a node are
// there.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "frontend/GraphBuilder.h"
#include "frontend/tensorflow/GraphDef.h"
#include "frontend/tensorflow/Handles.h"
#include "frontend/tensorflow/Import.h"
#include "frontend/tensorflow/Sizes.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include <set>

namespace tfc::tensorflow {

class EntryBuilder;
class NodeBuilder;

/// What became of a node. Later: it needs something that another node will tell.
enum class Outcome { Done, Failed, Later };

/// How an operation of TensorFlow is built.
struct OpRule {
  enum Flags : unsigned {
    Effect = 1,     // must run, in order with others
    Structural = 2, // one of the six of control flow: never wrapped
    Handle = 4      // gives the handle of a resource, which is no value
  };
  llvm::StringLiteral op;
  Signature signature;
  Outcome (*build)(NodeBuilder &node, const OpRule &rule);
  llvm::StringLiteral argument = "";
  unsigned flags = 0;
};

/// The rule of an operation, or null; those in graph source have none of their own.
const OpRule *findRule(llvm::StringRef op);

// The families.
llvm::ArrayRef<OpRule> controlRules();
llvm::ArrayRef<OpRule> elementwiseRules();
llvm::ArrayRef<OpRule> indexRules();
llvm::ArrayRef<OpRule> listRules();
llvm::ArrayRef<OpRule> matrixRules();
llvm::ArrayRef<OpRule> neuralRules();
llvm::ArrayRef<OpRule> queueRules();
llvm::ArrayRef<OpRule> randomRules();
llvm::ArrayRef<OpRule> reductionRules();
llvm::ArrayRef<OpRule> shapeRules();
llvm::ArrayRef<OpRule> sliceRules();
llvm::ArrayRef<OpRule> stateRules();
llvm::ArrayRef<OpRule> windowRules();

/// Names that the whole module knows.
struct ModuleSymbols {
  enum class Kind { Entry, Variable, Queue, Tape };

  /// Whether `name` is free, or known as one of `kind` already.
  bool claim(llvm::StringRef name, Kind kind) {
    return kinds.try_emplace(name, kind).first->second == kind;
  }

  llvm::StringMap<Kind> kinds;
  std::map<std::string, mlir::RankedTensorType> variables;
  std::set<std::string> queues, tapes;
};

/// What is known of the graph's structure before anything is built.
struct GraphFacts {
  struct Frame {
    std::string name;
    unsigned parent;
  };
  std::vector<char> isNeeded;    // by the entry
  std::vector<char> mayBeDead;   // or is in a loop
  std::vector<char> needsToken;  // may be dead, is in a loop, or comes behind an effect
  std::vector<unsigned> frameOf; // 0 is the graph itself
  std::vector<Frame> frames;
  std::map<Edge, ListKey> flows;
  /// The nodes that put something into a TensorArray or a stack, by its node.
  std::map<unsigned, std::vector<unsigned>> writers;
  /// The needed nodes that read an output of a node, by its index.
  std::vector<llvm::SmallVector<unsigned>> readers;
};

std::string variableName(const Node &node);

/// Builds one entry.
class EntryBuilder {
public:
  EntryBuilder(GraphBuilder &builder, const Graph &graph, ModuleSymbols &symbols,
               const Handles &handles, text::LibraryCalls &functions, const EntrySpec &spec)
      : builder(builder), graph(graph), handles(handles), symbols(symbols), functions(functions),
        spec(spec), states(graph.nodes.size()) {}

  mlir::LogicalResult build();

  // What follows is for NodeBuilder and the rules.

  struct State {
    enum { Pending, Built, Failed } status = Pending;
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<std::optional<SizeTensor>> sizes;
    bool isFolded = false; // only `sizes` are there, until someone asks for a value
    llvm::SmallVector<mlir::Value> witnesses; // live if the node ran; empty: `values`
    mlir::Value token;
    bool hasToken = false;       // `token` is known, also where it is null
    bool isHandleFailed = false; // making a value of the handle has failed
  };

  // EntryBuilder.cpp
  bool findFeeds(EntryHeader &header);
  mlir::RankedTensorType feedType(const FeedSpec &feed, Edge edge, EntryHeader &header);
  std::optional<Edge> findTensor(llvm::StringRef name, llvm::StringRef role);
  bool findFetches();
  bool reportUnsupported();
  bool isOutput(Edge edge) const;
  void buildNodes();
  Outcome buildNode(unsigned index);
  bool isReady(unsigned index) const;
  /// Calls `visit` for each node that must be built before, as often as it is named.
  void forEachBefore(unsigned index, llvm::function_ref<void(unsigned)> visit) const;
  /// The rule of an operation, in graph source too; null if there is none.
  const OpRule *ruleOf(llvm::StringRef op);
  void keepSizes(unsigned index);
  void reportStuck();
  mlir::LogicalResult finish();
  void orderOps();

  // Signatures.cpp
  /// Reports the needed nodes whose inputs, outputs or attributes are not those of the operation.
  bool checkSignatures();
  void checkSignature(unsigned index);
  void checkArity(unsigned index, const Signature &signature);
  bool checkAttr(unsigned index, llvm::StringRef name, AttrKind kind, bool isRequired);
  void checkCall(unsigned index);
  void checkEdges(unsigned index);
  /// How many outputs a node has; nothing where it does not say.
  std::optional<int64_t> outputCount(unsigned index) const;

  // Facts.cpp
  void computeFacts();
  void markNeeded();
  void markTokens();
  void findReaders();
  std::vector<char> reachedFrom(llvm::ArrayRef<unsigned> sources) const;
  void findFrames();
  void findFlows();

  /// The value of an output; null after an error has been reported.
  mlir::Value valueOf(Edge edge);
  mlir::Value handleValue(Edge edge);
  void buildHandle(unsigned index);
  /// The nodes whose handles must have values before that of a node can.
  llvm::SmallVector<unsigned> handlesBefore(unsigned index) const;
  /// The token that is live once the node has run; null where it always does.
  mlir::Value tokenOf(unsigned node);
  mlir::Value computeToken(unsigned node);
  llvm::SmallVector<unsigned> foldedBefore(unsigned node) const;
  /// The same for one output: those of a Switch live and die apart.
  mlir::Value tokenOf(Edge edge);
  void addOps(unsigned node, llvm::ArrayRef<mlir::Operation *> ops);
  dfg::NodeOp addNode(unsigned node, llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange after,
                      mlir::ValueRange values);
  mlir::InFlightDiagnostic error(unsigned node) {
    hasErrors = true;
    return mlir::emitError(graph.locate(builder.getContext(), node));
  }

  GraphBuilder &builder;
  const Graph &graph;
  const Handles &handles;
  ModuleSymbols &symbols;
  /// Operations of TensorFlow in graph source.
  text::LibraryCalls &functions;
  const EntrySpec &spec;
  GraphFacts facts;
  dfg::DataflowOp dataflow;
  std::vector<State> states;
  std::map<Edge, mlir::Value> fed;
  std::map<Edge, SizeTensor> fedSizes;
  std::map<Edge, mlir::Value> edgeTokens;
  std::vector<Edge> fetches;
  std::vector<unsigned> targets;
  std::vector<std::pair<unsigned, mlir::Operation *>> created;
  std::map<unsigned, mlir::RankedTensorType> elementTypes; // of TensorArrays, where known
  /// What the ends of loops give to inputs of merges that are not built yet.
  std::map<std::pair<unsigned, unsigned>, mlir::Value> loopValues;
  /// Gradients of single elements: the place and the value that a list of zeros got.
  std::map<Edge, std::pair<mlir::Value, mlir::Value>> singleWrites;
  bool hasErrors = false;
};

/// The view of one node that rules work with.
class NodeBuilder {
public:
  NodeBuilder(EntryBuilder &entry, unsigned index)
      : entry(entry), node(entry.graph.nodes[index]), index(index) {}

  EntryBuilder &entry;
  const Node &node;
  const unsigned index;

  //===--- Inputs -----------------------------------------------------------===//

  unsigned numInputs() const { return node.inputs.size(); }
  /// The tensor of an input; null where there is none, which has been reported.
  mlir::Value in(unsigned i);
  /// The same for a tensor or a list.
  mlir::Value anyIn(unsigned i);
  /// The edge of an input, if there is one.
  std::optional<Edge> edge(unsigned i) const { return node.inputs.at(i); }
  llvm::SmallVector<mlir::Value> allInputs(unsigned from = 0, unsigned dropped = 0);
  /// The type of an input, without reading a variable; null as `in`.
  mlir::RankedTensorType typeOf(unsigned i);
  /// The elements of an input if they are known when the graph is compiled.
  const SizeTensor *sizes(unsigned i);
  /// The same, reported as an error where they are not known.
  std::optional<dfg::Shape> dims(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i);
  std::optional<int64_t> integer(unsigned i);
  /// Makes the node run behind input `i` although that is no operand.
  void followInput(unsigned i);
  /// The node that made the resource behind an input.
  std::optional<unsigned> handle(unsigned i);
  mlir::Value readVariable(const Node &variable);

  //===--- Attributes -------------------------------------------------------===//

  mlir::Type dtype(llvm::StringRef attr);
  bool flag(llvm::StringRef attr) const { return node.number(attr) != 0; }

  //===--- Operations -------------------------------------------------------===//

  /// Creates `dfg.<op>`; null if an operand is null or the operation refused them.
  mlir::Operation *make(llvm::StringRef op, mlir::ValueRange operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// The first result of `make`.
  mlir::Value op(llvm::StringRef op, mlir::ValueRange operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// As `op`, for what depends on nothing in the graph.
  mlir::Value outside(llvm::StringRef op, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Calls a function of the graph source; nothing after an error.
  std::optional<llvm::SmallVector<mlir::Value>>
  call(llvm::StringRef function, llvm::ArrayRef<text::LibraryCalls::Argument> arguments);
  /// Evaluates a formula such as "mul(b, sub(1, square(a)))" over the values a, b, c, ...
  mlir::Value formula(llvm::StringRef text, llvm::ArrayRef<mlir::Value> values);
  mlir::Value scalar(double value, mlir::Type elementType);
  mlir::Value scalar(std::integral auto value, mlir::Type elementType) {
    return builder().scalar(int64_t(value), elementType, location());
  }
  mlir::Value size(const dfg::DimExpr &value, mlir::Type elementType);
  mlir::Value materialise(const SizeTensor &sizes);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<dfg::DimExpr> shape);
  /// A scalar constant in every element.
  mlir::Value filled(double value, llvm::ArrayRef<dfg::DimExpr> shape, mlir::Type elementType);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<dfg::DimExpr> shape);
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<dfg::DimExpr> starts,
                    llvm::ArrayRef<dfg::DimExpr> sizes, llvm::ArrayRef<int64_t> steps = {});
  mlir::Value iota(const dfg::DimExpr &size, mlir::Type elementType);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);

  mlir::NamedAttribute dimsAttr(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> value);
  mlir::NamedAttribute intsAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> value);
  mlir::NamedAttribute intAttr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute boolAttr(llvm::StringRef name, bool value);
  mlir::NamedAttribute realAttr(llvm::StringRef name, double value);
  mlir::NamedAttribute typeAttr(llvm::StringRef name, mlir::Type value);
  mlir::NamedAttribute textAttr(llvm::StringRef name, llvm::StringRef value);

  GraphBuilder &builder() { return entry.builder; }
  mlir::MLIRContext *context() { return entry.builder.getContext(); }
  mlir::Location location() { return entry.graph.locate(context(), index); }
  /// Runs `create` and counts what it creates as the node's.
  template <typename F> auto record(F create);

  //===--- Results ----------------------------------------------------------===//

  /// Done with these outputs, unless one is null.
  Outcome done(mlir::ValueRange values);
  Outcome done(std::initializer_list<mlir::Value> values) {
    return done(mlir::ValueRange(llvm::ArrayRef(values)));
  }
  Outcome done() { return Outcome::Done; }
  Outcome fail(const llvm::Twine &message);
  /// A Range whose bounds are constants of floats.
  Outcome floatRange();
  bool hasErrors() const { return entry.hasErrors; }
  mlir::Value bringIn(mlir::Value value, unsigned from);
  mlir::InFlightDiagnostic error() { return entry.error(index); }

  //===--- Control ----------------------------------------------------------===//

  /// The tokens behind which the node runs.
  llvm::SmallVector<mlir::Value> tokens();
  /// `value`, dead where a control input is.
  mlir::Value gate(mlir::Value value);
  /// Input `i`, as a list where this node's output 0 carries one.
  mlir::Value data(unsigned i);
  mlir::Value flow(unsigned i, const ListKey &key);
  /// The list that output 0 carries, if it is a flow.
  std::optional<ListKey> flowOf(Edge edge) const;
  /// The list that input `i` carries, and the TensorArray of that handle.
  std::optional<ListKey> flowAt(unsigned i) const;
  std::optional<ListKey> arrayAt(unsigned i) const;
  /// The type of a TensorArray's elements, if it is known already.
  mlir::RankedTensorType elementType(unsigned array);
  /// The sum of two lists, of which the second is input `i`; one element is added in place.
  mlir::Value addLists(mlir::Value lhs, mlir::Value rhs, unsigned i);
  /// A list of zeros as long as the TensorArray.
  mlir::Value zeroList(const ListKey &key);
  Outcome finish(const OpRule &rule, Outcome outcome);
  /// Whether input `i` comes from the end of a loop; its value if that has been built already.
  bool isLoopEdge(unsigned i) const;
  mlir::Value loopValue(unsigned i) const;
  /// Makes the result of a NextIteration an operand of the merges that it leads to.
  Outcome closeLoop();
  void setWitnesses(mlir::ValueRange values) {
    entry.states[index].witnesses.assign(values.begin(), values.end());
  }

private:
  void follow(Edge edge) { followed.insert(edge); }

  bool mustWait = false;   // for the type of a TensorArray's elements
  std::set<Edge> followed; // what must be live, besides control inputs and operands
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> results;
};

template <typename F> auto NodeBuilder::record(F create) {
  mlir::Block *block = entry.builder.currentBlock();
  mlir::Operation *last = block->empty() ? nullptr : &block->back();
  auto result = create();
  for (mlir::Operation *op = last             ? last->getNextNode()
                             : block->empty() ? nullptr
                                              : &block->front();
       op; op = op->getNextNode())
    ops.push_back(op);
  return result;
}

} // namespace tfc::tensorflow
