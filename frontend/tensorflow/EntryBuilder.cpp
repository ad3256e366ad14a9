// The order in which nodes are built, and the dependences between them.

#include "frontend/tensorflow/EntryBuilder.h"

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "frontend/tensorflow/Checks.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/LoopBounds.h"
#include "frontend/tensorflow/NodeBuilder.h"
#include "frontend/tensorflow/Values.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// Nodes in order
//===----------------------------------------------------------------------===//

void EntryBuilder::forEachBefore(unsigned index, llvm::function_ref<void(unsigned)> visit) const {
  const Node &node = entry.graph.nodes[index];
  for (Edge input : node.inputs) {
    // Skip loop back edges; the node at their other end sets the operand.
    if (hasFlag(node.op, OpRule::Merges) &&
        hasFlag(entry.graph.nodes[input.node].op, OpRule::LoopsBack))
      continue;
    if (!entry.isFed(input))
      visit(input.node);
  }
  for (unsigned control : node.controls)
    if (!entry.structure.isFedPlaceholder(control))
      visit(control);
}

bool EntryBuilder::isReady(unsigned index) const {
  bool isReady = true;
  forEachBefore(index, [&](unsigned producer) {
    isReady &= entry.states[producer].status == NodeState::Built;
  });
  return isReady;
}

/// Returns the sizes of the inputs if all of them are known and equal. Those of a loop variable
/// that no iteration changes are the initial ones.
static KnownSizes commonSizes(NodeBuilder &node) {
  KnownSizes common;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (node.isDeadInput(i) || (node.isLoopEdge(i) && isInvariant(node.entry, node.index)))
      continue;
    KnownSizes sizes = node.isLoopEdge(i) ? nullptr : node.knownSizes(i);
    if (!sizes || (common && (common->shape != sizes->shape || common->values != sizes->values)))
      return nullptr;
    common = sizes;
  }
  return common;
}

/// Sizes stay known into a loop and out of it, through a Switch, and a Merge of equal sizes.
void EntryBuilder::keepSizes(unsigned index) {
  const Node &node = entry.graph.nodes[index];
  bool isMerge = hasFlag(node.op, OpRule::Merges);
  if (!isMerge && !hasFlag(node.op, OpRule::Enters) && !hasFlag(node.op, OpRule::Exits) &&
      !hasFlag(node.op, OpRule::Switches))
    return;
  NodeBuilder builder(entry, index);
  NodeState &state = entry.states[index];
  KnownSizes sizes = isMerge ? commonSizes(builder) : builder.knownSizes(0);
  if (sizes)
    state.sizes.assign(isMerge ? 1 : state.values.size(), sizes);
}

/// Returns the variables and queues of the entry next to which a node shall be. The nodes that
/// declare them may come later.
static std::vector<std::string> colocationOf(const Graph &graph, const Node &node,
                                             const EntryContext &entry) {
  std::vector<std::string> symbols;
  for (unsigned neighbour : node.neighbours)
    if (entry.structure.isNeeded[neighbour] && hasFlag(graph.nodes[neighbour].op, OpRule::Declares))
      symbols.push_back(variableName(graph.nodes[neighbour]));
  return symbols;
}

/// Returns true if no call runs a node, because it is in a branch that none takes.
static bool isDead(const EntryContext &entry, unsigned index) {
  const Node &node = entry.graph.nodes[index];
  if (!hasFlag(node.op, OpRule::Merges))
    return llvm::any_of(node.inputs, [&](Edge input) { return entry.isDead(input); }) ||
           llvm::any_of(node.controls, [&](unsigned at) { return entry.states[at].isDead; });
  // The values that enter a loop determine whether it runs.
  auto isLoop = [&](Edge input) {
    return hasFlag(entry.graph.nodes[input.node].op, OpRule::LoopsBack);
  };
  auto isDeadInput = [&](Edge input) { return entry.isDead(input); };
  return llvm::any_of(node.inputs, isDeadInput) &&
         llvm::all_of(node.inputs, [&](Edge input) { return isLoop(input) || isDeadInput(input); });
}

/// Returns the condition of a switch, if sizes and constants determine it.
static std::optional<bool> conditionOf(EntryContext &entry, unsigned index) {
  NodeBuilder node(entry, index);
  // A variable that has to be read is not known.
  if (!node.knownSizes(1) && entry.handles.reference(*node.edge(1)))
    return std::nullopt;
  NodeValue predicate = node.in(1);
  auto known = predicate ? node.knownReals(1) : std::nullopt;
  return known && known->size() == 1 ? std::optional(known->front() != 0) : std::nullopt;
}

/// Finds the side of a switch that no call takes.
static void findDeadSide(EntryContext &entry, unsigned index) {
  const Node &node = entry.graph.nodes[index];
  if (!hasFlag(node.op, OpRule::Switches) || !node.inputs.at(1))
    return;
  auto [condition, isNew] = entry.conditions.try_emplace(*node.inputs.at(1));
  if (isNew)
    condition->second = conditionOf(entry, index);
  if (condition->second)
    entry.deadEdges.insert({index, *condition->second ? 0u : 1u});
}

Outcome EntryBuilder::buildNode(unsigned index) {
  NodeState &state = entry.states[index];
  const Node &node = entry.graph.nodes[index];
  if (isDead(entry, index)) {
    state.isDead = true;
    state.status = NodeState::Built;
    return Outcome::Done;
  }
  findDeadSide(entry, index);
  if (passesHandle(node)) {
    state.status = NodeState::Built;
    return Outcome::Done;
  }
  entry.builder.setPlacement(dfg::placementAttrs(entry.builder.getContext(), node.device,
                                                 colocationOf(entry.graph, node, entry)));
  llvm::scope_exit leave([&] { entry.builder.setPlacement({}); });
  NodeBuilder builder(entry, index);
  const OpRule *rule = entry.ruleOf(index);
  Outcome outcome = rule ? builder.build(*rule)
                         : builder.fail("expected a feed for this placeholder [missing-feed]");
  if (outcome == Outcome::Done)
    keepSizes(index);
  if (outcome != Outcome::Later)
    state.status = outcome == Outcome::Done ? NodeState::Built : NodeState::Failed;
  return outcome;
}

namespace {

/// Builds each node after the nodes that it depends on, in the file's order where possible. A rule
/// that finds a further dependence returns `Outcome::Later` and is tried again after that node.
class Worklist {
public:
  Worklist(EntryBuilder &builder, EntryContext &entry)
      : builder(builder), entry(entry), waits(entry.graph.nodes.size(), 0),
        users(entry.graph.nodes.size()) {}

  void run();

private:
  void start();
  void build(unsigned index);
  void failUsers(unsigned index);
  /// Lets the nodes be built that wait for what node `index` provides.
  void wakeUsers(unsigned index);
  void wake(SmallVectorImpl<unsigned> &waiting, unsigned after);
  bool deferControls();
  void connectControls();
  bool endSizeWait();

  using Queue = std::set<unsigned>;

  EntryBuilder &builder;
  EntryContext &entry;
  std::vector<unsigned> waits; // number of nodes that a node still waits for
  std::vector<SmallVector<unsigned>> users;
  Queue ready, next; // ready nodes after the last one, and before it
  std::vector<std::pair<unsigned, dfg::NodeOp>> deferred;
};

} // namespace

void Worklist::start() {
  for (unsigned i = 0; i < waits.size(); ++i) {
    if (!entry.structure.isNeeded[i])
      continue;
    builder.forEachBefore(i, [&](unsigned producer) {
      ++waits[i];
      users[producer].push_back(i);
    });
    if (waits[i] == 0)
      ready.insert(i);
  }
  for (auto [writer, array] : entry.structure.writtenArrays) {
    NodeBuilder node(entry, writer);
    std::optional<Edge> value = node.edge(FlowBuilder(node).writtenInput());
    if (value && entry.isFed(*value))
      entry.arrays[array].writers.insert(writer);
  }
}

/// Nodes that depend on a failed node fail, too.
void Worklist::failUsers(unsigned index) {
  std::vector<unsigned> failed{index};
  while (!failed.empty()) {
    unsigned node = failed.back();
    failed.pop_back();
    for (unsigned user : users[node])
      if (std::exchange(entry.states[user].status, NodeState::Failed) != NodeState::Failed)
        failed.push_back(user);
  }
}

void Worklist::wake(SmallVectorImpl<unsigned> &waiting, unsigned after) {
  for (unsigned node : waiting)
    (node > after ? ready : next).insert(node);
  waiting.clear();
}

void Worklist::wakeUsers(unsigned index) {
  for (unsigned user : users[index])
    if (--waits[user] == 0)
      (user > index ? ready : next).insert(user);
  if (auto found = entry.waiting.find(index); found != entry.waiting.end())
    wake(found->second, index);
  if (entry.states[index].isDead)
    return;
  auto wakeReaders = [&](unsigned array) {
    ArrayElements &elements = entry.arrays[array];
    NodeBuilder node(entry, index);
    if (!elements.waiting.empty() && FlowBuilder(node).elementType(array))
      wake(elements.waiting, index);
  };
  const std::map<unsigned, unsigned> &written = entry.structure.writtenArrays;
  if (auto own = written.find(index); own != written.end())
    wakeReaders(own->second);
  for (unsigned reader : entry.structure.readers[index]) {
    auto found = written.find(reader);
    if (found == written.end())
      continue;
    NodeBuilder writer(entry, reader);
    std::optional<Edge> value = writer.edge(FlowBuilder(writer).writtenInput());
    if (!value || value->node != index)
      continue;
    entry.arrays[found->second].writers.insert(reader);
    wakeReaders(found->second);
  }
}

void Worklist::build(unsigned index) {
  if (entry.states[index].status != NodeState::Pending)
    return;
  Outcome outcome = builder.buildNode(index);
  if (outcome == Outcome::Done)
    wakeUsers(index);
  else if (outcome == Outcome::Failed)
    failUsers(index);
}

/// In loops that TensorFlow has lowered, each node runs after a NoOp that runs after the values of
/// the loop. One of them may be a list whose elements are known once a node has been built: then
/// the NoOps come first, and what they run after is connected later, since a graph has no order.
bool Worklist::deferControls() {
  auto waits = [](const auto &array) { return !array.second.waiting.empty(); };
  if (!entry.dataflow || entry.hasErrors() || llvm::none_of(entry.arrays, waits))
    return false;
  bool isFound = false;
  for (unsigned i = 0; i < users.size(); ++i) {
    NodeState &state = entry.states[i];
    if (!entry.structure.isNeeded[i] || state.status != NodeState::Pending ||
        entry.graph.nodes[i].op != "NoOp" || !entry.graph.nodes[i].inputs.empty())
      continue;
    isFound = true;
    if (entry.structure.needsToken[i]) {
      deferred.emplace_back(i, Values(entry).addNode(i, {}, {}, {}));
      state.token = deferred.back().second.getDone();
    }
    state.hasToken = true;
    state.status = NodeState::Built;
    wakeUsers(i);
  }
  std::swap(ready, next);
  ready.insert(next.begin(), next.end());
  next.clear();
  return isFound;
}

void Worklist::connectControls() {
  if (entry.hasErrors())
    return;
  for (auto [index, node] : deferred)
    node.getAfterMutable().append(NodeBuilder(entry, index).tokens());
}

/// Lets a node be built without the sizes that it waits for, because no other node can be built.
bool Worklist::endSizeWait() {
  for (auto &[index, waits] : entry.sizeWaits)
    if (std::exchange(waits, false) && entry.states[index].status == NodeState::Pending) {
      ready.insert(index);
      return true;
    }
  return false;
}

void Worklist::run() {
  start();
  do {
    while (!ready.empty()) {
      unsigned index = *ready.begin();
      ready.erase(ready.begin());
      build(index);
      if (ready.empty())
        std::swap(ready, next);
    }
  } while (deferControls() || endSizeWait());
  connectControls();
}

void EntryBuilder::buildNodes() {
  Worklist(*this, entry).run();
  if (!entry.hasErrors())
    reportStuck();
  for (unsigned i = 0; i < entry.graph.nodes.size() && !entry.hasErrors(); ++i)
    if (entry.states[i].status == NodeState::Failed)
      entry.error(i) << "its inputs do not match the operation [graph-edge]";
}

/// Reports the remaining nodes, which wait for themselves, or for a list or stack that nothing is
/// written to.
void EntryBuilder::reportStuck() {
  bool found = false;
  for (unsigned i = 0; i < entry.graph.nodes.size(); ++i) {
    if (!entry.structure.isNeeded[i] || entry.states[i].status != NodeState::Pending || !isReady(i))
      continue;
    found = true;
    entry.error(i) << "the graph does not specify the shape of its elements [dynamic-shape]";
  }
  for (unsigned i = 0; i < entry.graph.nodes.size() && !found; ++i)
    if (entry.structure.isNeeded[i] && entry.states[i].status == NodeState::Pending)
      entry.error(i)
          << "expected a cycle to pass through a NextIteration, but this node depends on itself "
             "[graph-cycle]";
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

void EntryBuilder::orderOps() {
  llvm::stable_sort(entry.created, [](auto &a, auto &b) { return a.first < b.first; });
  Block &body = entry.dataflow.getBody().front();
  for (auto [node, op] : entry.created)
    op->moveBefore(&body, body.end());
}

/// Moves operations that have been hoisted, although they mention sizes that depend on data, back
/// into the graph, which binds these.
void EntryBuilder::sinkSizes() {
  dfg::RunTimeSizes sizes(entry.dataflow);
  if (sizes.empty())
    return;
  Block &body = entry.dataflow.getBody().front();
  Operation *first = body.empty() ? nullptr : &body.front();
  auto isInside = [&](Value value) { return value.getParentBlock() == &body; };
  for (Operation &op : make_early_inc_range(
           make_range(entry.dataflow->getBlock()->begin(), entry.dataflow->getIterator())))
    if (sizes.bindsAnyOf(&op) || llvm::any_of(op.getOperands(), isInside))
      op.moveBefore(first);
}

void EntryBuilder::finish() {
  std::vector<EntryValue> results;
  std::vector<std::string> names;
  SmallVector<Value> values;
  for (auto [edge, fetch] : zip(ports.fetches, entry.spec.fetches)) {
    if (entry.complex.isComplex(edge) && !entry.isFed(edge))
      entry.error(edge.node) << "cannot fetch complex numbers: fetch the results of Real and Imag "
                                "nodes [graph-entry]";
    if (entry.isDead(edge)) {
      entry.error(edge.node) << "cannot fetch what no call computes: sizes and constants determine "
                                "that its branch is not taken [graph-entry]";
      continue;
    }
    Value value = Values(entry).valueOf(edge);
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    if (value && !type)
      entry.error(edge.node) << "cannot fetch a TensorArray [graph-entry]";
    if (!type)
      continue;
    values.push_back(value);
    names.push_back(fetch.tensor);
    Location location = entry.graph.locate(entry.builder.getContext(), edge.node);
    results.push_back({fetch.name.empty() ? portName(fetch.tensor) : fetch.name, type, location});
  }
  if (entry.hasErrors())
    return;
  Location location = entry.graph.locate(entry.builder.getContext());
  if (!entry.dataflow)
    return entry.builder.finishEntry(results, values, location);
  orderOps();
  sinkSizes();
  entry.builder.hoistBefore(nullptr);
  dfg::DataflowOp whole = entry.builder.finishDataflow(entry.dataflow, values, names);
  entry.builder.finishEntry(results, whole.getResults(), location);
}

void EntryBuilder::beginEntry() {
  GraphBuilder &builder = entry.builder;
  Location location = entry.graph.locate(builder.getContext());
  dfg::EntryOp op = builder.beginEntry(ports.header, location);
  for (auto [edge, argument] : zip(ports.feeds, op.getBody().getArguments()))
    entry.fed[edge] = argument;
  entry.sizesOfFeeds.insert_range(ports.header.symbols);
  for (auto [edge, elements] : entry.fedReals)
    entry.knownValues[entry.fed[edge]] = elements;
  for (auto &[edge, sizes] : entry.fedSizes)
    if (DenseElementsAttr numbers = importer::constantOf(*sizes))
      entry.knownValues[entry.fed[edge]] = numbers;
  // Sizes that depend on data are bound for what comes later, so they need an order.
  if (entry.structure.isStraight())
    return entry.structure.dropTokens();
  entry.dataflow = builder.beginDataflow(location);
  builder.toEnd(entry.dataflow.getBody().front());
  builder.hoistBefore(entry.dataflow);
}

/// Precedes all that has been built.
void EntryBuilder::assignInitialValues() {
  GraphBuilder &builder = entry.builder;
  Location location = entry.graph.locate(builder.getContext());
  auto position = builder.position();
  builder.hoistBefore(nullptr);
  builder.toStart(builder.currentEntry().getBody().front());
  for (const auto &[name, initial] : entry.graph.variables)
    if (initial.value && !initial.isConstant && entry.symbols.variables.count(name))
      builder.getResources().assign(name, builder.constant(initial.value, location), location);
  builder.restore(position);
}

LogicalResult EntryBuilder::build(bool isInitializer) {
  ports.find();
  if (isInitializer)
    ports.header = EntryHeader::initializer();
  if (entry.hasErrors())
    return failure();
  entry.structure.markNeeded(ports.fetches, ports.targets);
  GraphChecker(entry).check(ports.fetches);
  if (entry.hasErrors())
    return failure();
  entry.structure.analyse();
  beginEntry();
  buildNodes();
  if (isInitializer && !entry.hasErrors())
    assignInitialValues();
  if (!entry.hasErrors())
    finish();
  if (!entry.hasErrors())
    return success();
  entry.builder.dropEntry();
  return failure();
}

} // namespace tfc::tensorflow
