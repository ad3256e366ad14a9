// Building an entry: feeds and fetches, the order in which nodes are built, what ties them
// together.

#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// Feeds and fetches
//===----------------------------------------------------------------------===//

std::optional<Edge> EntryBuilder::findTensor(StringRef name, StringRef role) {
  auto parts = splitTensorName(name);
  auto found = parts ? graph.byName.find(parts->first) : graph.byName.end();
  if (found != graph.byName.end())
    return Edge{found->second, parts->second};
  hasErrors = true;
  emitError(graph.locate(builder.getContext()))
      << "entry '" << spec.name << "': the graph has no node for the " << role << " '" << name
      << "' [graph-entry]";
  return std::nullopt;
}

/// The name of an unknown size: its own, or "n" for the first axis, which is a batch, or the feed's
/// name and the axis.
static std::string symbolName(const PartialShape &shape, size_t axis, StringRef feed) {
  std::string name = axis < shape.names.size() ? shape.names[axis] : "";
  if (name.empty())
    name = axis == 0 ? "n" : (feed + "_" + Twine(axis)).str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  return isAlpha(name.front()) ? name : "d_" + name;
}

static void addSymbols(EntryHeader &header, const dfg::DimExpr &size) {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  for (const std::string &name : names)
    if (!is_contained(header.symbols, name))
      header.symbols.push_back(name);
}

RankedTensorType EntryBuilder::feedType(const FeedSpec &feed, Edge edge, EntryHeader &header) {
  const Node &node = graph.nodes[edge.node];
  int64_t dtype = node.number("dtype", node.number("T", node.number("DstT")));
  Type element = elementTypeOf(builder.getContext(), dtype);
  if (!element) {
    error(edge.node) << "cannot feed a tensor of " << dtypeName(dtype) << " [dtype]";
    return {};
  }
  dfg::Shape shape;
  const PartialShape &known = node.attr("shape").shape;
  bool hasShape = node.has("shape") && known.hasRank;
  if (feed.sizes) {
    for (const std::string &text : *feed.sizes) {
      std::optional<dfg::DimExpr> size = dfg::DimExpr::parse(text);
      if (!size) {
        error(edge.node) << "'" << text << "' is not a size [graph-entry]";
        return {};
      }
      shape.push_back(*size);
    }
    if (hasShape && known.sizes.size() != shape.size()) {
      error(edge.node) << "expected a feed of " << known.sizes.size() << " axes, but got "
                       << shape.size() << " [graph-entry]";
      return {};
    }
  } else if (!hasShape) {
    error(edge.node) << "the graph does not say how many axes the feed has: expected its sizes in "
                        "brackets, as in "
                     << node.name << "[n, 64] [graph-entry]";
    return {};
  }
  for (size_t axis = 0; hasShape && axis < known.sizes.size(); ++axis) {
    int64_t size = known.sizes[axis];
    if (axis >= shape.size())
      shape.push_back(size >= 0 ? dfg::DimExpr(size)
                                : dfg::DimExpr::symbol(symbolName(known, axis, node.name)));
    if (size >= 0 && shape[axis] != dfg::DimExpr(size)) {
      error(edge.node) << "expected a feed with size " << size << " along axis " << axis
                       << ", but got " << shape[axis].str() << " [graph-entry]";
      return {};
    }
  }
  for (const dfg::DimExpr &size : shape)
    addSymbols(header, size);
  return dfg::tensorOf(shape, element);
}

bool EntryBuilder::findFeeds(EntryHeader &header) {
  for (const FeedSpec &feed : spec.feeds) {
    std::optional<Edge> edge = findTensor(feed.tensor, "feed");
    if (!edge)
      continue;
    if (!fed.try_emplace(*edge).second) {
      error(edge->node) << "expected one feed of this name, but got two [graph-entry]";
      continue;
    }
    RankedTensorType type = feedType(feed, *edge, header);
    if (!type)
      continue;
    header.feeds.push_back(
        {portName(feed.tensor), type, graph.locate(builder.getContext(), edge->node)});
    if (feed.numbers && isa<IntegerType>(type.getElementType()) && type.hasStaticShape() &&
        type.getNumElements() == int64_t(feed.numbers->size()))
      fedSizes[*edge] = {type.getElementType(),
                         llvm::to_vector(type.getShape()),
                         {feed.numbers->begin(), feed.numbers->end()}};
  }
  return !hasErrors;
}

bool EntryBuilder::findFetches() {
  for (const std::string &name : spec.fetches)
    if (std::optional<Edge> edge = findTensor(name, "fetch"))
      fetches.push_back(*edge);
  for (const std::string &name : spec.targets)
    if (std::optional<Edge> edge = findTensor(name, "target"))
      targets.push_back(edge->node);
  return !hasErrors;
}

//===----------------------------------------------------------------------===//
// Nodes in order
//===----------------------------------------------------------------------===//

/// All at once, for whoever decides whether a graph can be compiled.
bool EntryBuilder::reportUnsupported() {
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!facts.isNeeded[index] || ruleOf(node.op) || node.op == "Placeholder")
      continue;
    error(index) << "the operation '" << node.op << "' is not supported [unsupported-node]";
  }
  return hasErrors;
}

void EntryBuilder::forEachBefore(unsigned index, llvm::function_ref<void(unsigned)> visit) const {
  const Node &node = graph.nodes[index];
  for (Edge input : node.inputs) {
    StringRef op = graph.nodes[input.node].op;
    // The edge that closes a loop; the node at its other end sets the operand.
    if (isMerge(node.op) && (op == "NextIteration" || op == "RefNextIteration"))
      continue;
    if (!fed.count(input))
      visit(input.node);
  }
  for (unsigned control : node.controls)
    visit(control);
}

bool EntryBuilder::isReady(unsigned index) const {
  bool isReady = true;
  forEachBefore(index,
                [&](unsigned producer) { isReady &= states[producer].status == State::Built; });
  return isReady;
}

/// Whether the node only leads a handle on, which is followed where it is used.
static bool passesHandle(const Node &node) {
  bool isReference = StringRef(node.op).starts_with("Ref");
  return isReference ||
         (node.number("T") == kResourceDtype && !StringRef(node.op).starts_with("Stack"));
}

/// The inputs' common value, if they have one.
static const SizeTensor *commonSizes(NodeBuilder node) {
  const SizeTensor *common = nullptr;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    const SizeTensor *sizes = node.isLoopEdge(i) ? nullptr : node.sizes(i);
    if (!sizes || (common && (common->shape != sizes->shape || common->values != sizes->values)))
      return nullptr;
    common = sizes;
  }
  return common;
}

/// What enters a frame as a constant, or is switched, is as known as before; so is what merges
/// alike.
void EntryBuilder::keepSizes(unsigned index) {
  const Node &node = graph.nodes[index];
  if (node.op == "Merge") {
    if (const SizeTensor *sizes = commonSizes(NodeBuilder(*this, index)))
      states[index].sizes.assign(1, *sizes);
    return;
  }
  bool isConstant = node.op == "Enter" && node.number("is_constant");
  if (!isConstant && node.op != "Switch")
    return;
  if (const SizeTensor *sizes = NodeBuilder(*this, index).sizes(0))
    states[index].sizes.assign(states[index].values.size(), *sizes);
}

Outcome EntryBuilder::buildNode(unsigned index) {
  State &state = states[index];
  if (passesHandle(graph.nodes[index])) {
    state.status = State::Built;
    return Outcome::Done;
  }
  NodeBuilder probe(*this, index), node(*this, index);
  if (std::optional<SmallVector<SizeTensor>> sizes = evaluate(probe)) {
    state.status = State::Built;
    state.isFolded = true;
    state.sizes.assign(sizes->begin(), sizes->end());
    return Outcome::Done;
  }
  const OpRule *rule = ruleOf(node.node.op);
  Outcome outcome = rule ? rule->build(node, *rule)
                         : node.fail("expected a feed for this placeholder [missing-feed]");
  if (rule)
    outcome = node.finish(*rule, outcome);
  if (outcome == Outcome::Done)
    keepSizes(index);
  if (outcome != Outcome::Later)
    state.status = outcome == Outcome::Done ? State::Built : State::Failed;
  return outcome;
}

namespace {

/// Builds nodes once all that they need is there, in the order of the file as far as that goes.
class Worklist {
public:
  explicit Worklist(EntryBuilder &entry)
      : entry(entry), waits(entry.graph.nodes.size(), 0), users(entry.graph.nodes.size()) {}

  void run();

private:
  void start();
  void build(unsigned index);
  void finish(unsigned index, Outcome outcome);

  using Queue = std::set<unsigned>;

  EntryBuilder &entry;
  std::vector<unsigned> waits; // for how many others, by node
  std::vector<SmallVector<unsigned>> users;
  Queue ready, next; // those after the last one, and those before it
  std::vector<unsigned> postponed;
};

} // namespace

void Worklist::start() {
  for (unsigned i = 0; i < waits.size(); ++i) {
    if (!entry.facts.isNeeded[i])
      continue;
    entry.forEachBefore(i, [&](unsigned producer) {
      ++waits[i];
      users[producer].push_back(i);
    });
    if (waits[i] == 0)
      ready.insert(i);
  }
}

void Worklist::finish(unsigned index, Outcome outcome) {
  if (outcome == Outcome::Failed) {
    // What needs a failed node fails with it.
    std::vector<unsigned> failed{index};
    while (!failed.empty()) {
      unsigned node = failed.back();
      failed.pop_back();
      for (unsigned user : users[node])
        if (std::exchange(entry.states[user].status, EntryBuilder::State::Failed) !=
            EntryBuilder::State::Failed)
          failed.push_back(user);
    }
    return;
  }
  for (unsigned user : users[index])
    if (--waits[user] == 0)
      (user > index ? ready : next).insert(user);
}

void Worklist::build(unsigned index) {
  if (entry.states[index].status != EntryBuilder::State::Pending)
    return;
  Outcome outcome = entry.buildNode(index);
  if (outcome == Outcome::Later)
    postponed.push_back(index);
  else
    finish(index, outcome);
}

void Worklist::run() {
  start();
  while (!ready.empty()) {
    size_t before = postponed.size();
    bool hasProgress = false;
    while (!ready.empty()) {
      unsigned index = *ready.begin();
      ready.erase(ready.begin());
      build(index);
      hasProgress |= postponed.size() == before;
      before = postponed.size();
      if (ready.empty())
        std::swap(ready, next);
    }
    // Others may have told what these wait for.
    if (hasProgress)
      ready.insert(postponed.begin(), postponed.end());
    postponed.clear();
  }
}

void EntryBuilder::buildNodes() {
  Worklist(*this).run();
  if (!hasErrors)
    reportStuck();
  for (unsigned i = 0; i < graph.nodes.size() && !hasErrors; ++i)
    if (states[i].status == State::Failed)
      error(i) << "its inputs are not what the operation takes [graph-edge]";
}

/// What is left waits for itself, or for a list or stack that nothing is put into.
void EntryBuilder::reportStuck() {
  bool found = false;
  for (unsigned i = 0; i < graph.nodes.size(); ++i) {
    if (!facts.isNeeded[i] || states[i].status != State::Pending || !isReady(i))
      continue;
    found = true;
    error(i) << "the graph does not say the shape of its elements [dynamic-shape]";
  }
  for (unsigned i = 0; i < graph.nodes.size() && !found; ++i)
    if (facts.isNeeded[i] && states[i].status == State::Pending)
      error(i) << "expected a cycle to pass a NextIteration, but this node waits for itself "
                  "[graph-cycle]";
}

//===----------------------------------------------------------------------===//
// Values and tokens
//===----------------------------------------------------------------------===//

void EntryBuilder::addOps(unsigned node, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    created.emplace_back(node, op);
}

dfg::NodeOp EntryBuilder::addNode(unsigned index, ArrayRef<Operation *> ops, ValueRange after,
                                  ValueRange values) {
  bool isTrigger = graph.nodes[index].op == "ControlTrigger";
  dfg::NodeOp node =
      builder.createNode(ops, after, isTrigger, values, graph.locate(builder.getContext(), index));
  addOps(index, node.getOperation());
  return node;
}

SmallVector<unsigned> EntryBuilder::handlesBefore(unsigned index) const {
  SmallVector<unsigned> missing;
  const OpRule *rule = findRule(graph.nodes[index].op);
  if (rule && (rule->flags & OpRule::Handle))
    return missing;
  for (Edge input : graph.nodes[index].inputs) {
    const State &state = states[input.node];
    if (!fed.count(input) && state.status == State::Built && state.values.empty() &&
        state.sizes.empty() && !state.isHandleFailed)
      missing.push_back(input.node);
  }
  return missing;
}

/// Makes the value of a handle, or of what only passes one on.
void EntryBuilder::buildHandle(unsigned index) {
  NodeBuilder builder(*this, index);
  const OpRule *rule = ruleOf(graph.nodes[index].op);
  State &state = states[index];
  bool isPassed = rule && !graph.nodes[index].inputs.empty();
  if (rule && (rule->flags & OpRule::Handle))
    state.values.assign(1, builder.scalar(1, IntegerType::get(builder.context(), 1)));
  else if (isPassed && passesHandle(graph.nodes[index]))
    // The identities and the structural operations.
    builder.finish(*rule, rule->build(builder, *rule));
  state.isHandleFailed = state.values.empty();
}

/// Handles have no value; one of type bool stands for them where it matters whether they are live.
Value EntryBuilder::handleValue(Edge edge) {
  // Those that the handle passes through come first: chains may be long.
  SmallVector<unsigned> work{edge.node};
  std::set<unsigned> visited;
  while (!work.empty()) {
    unsigned index = work.back();
    bool isOpen = states[index].values.empty() && !states[index].isHandleFailed;
    if (isOpen && visited.insert(index).second) {
      llvm::append_range(work, handlesBefore(index));
      continue;
    }
    if (isOpen)
      buildHandle(index);
    work.pop_back();
  }
  const SmallVector<Value> &values = states[edge.node].values;
  if (edge.output < values.size() && values[edge.output])
    return values[edge.output];
  error(edge.node) << "there is no output " << edge.output << " [graph-edge]";
  return {};
}

Value EntryBuilder::valueOf(Edge edge) {
  if (auto found = fed.find(edge); found != fed.end())
    return found->second;
  State &state = states[edge.node];
  state.values.resize(std::max(state.values.size(), state.sizes.size()));
  if (edge.output < state.values.size() && state.values[edge.output])
    return state.values[edge.output];
  if (edge.output < state.sizes.size() && state.sizes[edge.output]) {
    NodeBuilder node(*this, edge.node);
    Value value = node.materialise(*state.sizes[edge.output]);
    if (facts.needsToken[edge.node])
      value = node.gate(value);
    return states[edge.node].values[edge.output] = value;
  }
  if (state.values.empty())
    return handleValue(edge);
  error(edge.node) << "there is no output " << edge.output << " [graph-edge]";
  return {};
}

/// The folded nodes whose tokens that of a folded node is made of.
SmallVector<unsigned> EntryBuilder::foldedBefore(unsigned index) const {
  SmallVector<unsigned> before;
  auto add = [&](unsigned node) {
    if (states[node].isFolded && facts.needsToken[node] && !states[node].hasToken)
      before.push_back(node);
  };
  for (unsigned control : graph.nodes[index].controls)
    add(control);
  for (Edge input : graph.nodes[index].inputs)
    if (!fed.count(input))
      add(input.node);
  return before;
}

Value EntryBuilder::tokenOf(unsigned index) {
  if (!facts.needsToken[index])
    return {};
  // Tokens of folded nodes lead through others, in chains that may be long.
  SmallVector<unsigned> work{index};
  std::set<unsigned> visited;
  while (!work.empty()) {
    unsigned node = work.back();
    State &state = states[node];
    if (!state.hasToken && state.isFolded && visited.insert(node).second) {
      llvm::append_range(work, foldedBefore(node));
      continue;
    }
    if (!state.hasToken && !state.token)
      state.token = computeToken(node);
    state.hasToken = true;
    work.pop_back();
  }
  return states[index].token;
}

Value EntryBuilder::computeToken(unsigned index) {
  State &state = states[index];
  NodeBuilder node(*this, index);
  SmallVector<Value> after;
  if (state.isFolded)
    after = node.tokens();
  else if (state.values.empty())
    handleValue({index, 0});
  if (state.token)
    return state.token;
  SmallVector<Value> witnesses = state.witnesses;
  if (witnesses.empty() && !state.isFolded)
    llvm::copy_if(state.values, std::back_inserter(witnesses), [](Value v) { return bool(v); });
  if (witnesses.empty() && after.empty())
    return {};
  if (witnesses.empty() && after.size() == 1)
    return after.front();
  return addNode(index, {}, after, witnesses).getDone();
}

Value EntryBuilder::tokenOf(Edge edge) {
  StringRef op = graph.nodes[edge.node].op;
  if (op != "Switch" && op != "RefSwitch")
    return tokenOf(edge.node);
  Value &token = edgeTokens[edge];
  if (token)
    return token;
  Value value = valueOf(edge);
  return value ? edgeTokens[edge] = addNode(edge.node, {}, {}, value).getDone() : Value();
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

/// Nodes stand in the file's order: effects that no edge orders keep it.
void EntryBuilder::orderOps() {
  llvm::stable_sort(created, [](auto &a, auto &b) { return a.first < b.first; });
  Block &body = dataflow.getBody().front();
  for (auto [node, op] : created)
    op->moveBefore(&body, body.end());
}

LogicalResult EntryBuilder::finish() {
  std::vector<EntryValue> results;
  std::vector<std::string> names;
  SmallVector<Value> values;
  for (auto [edge, name] : zip(fetches, spec.fetches)) {
    NodeBuilder node(*this, edge.node);
    Value value = valueOf(edge);
    if (!value)
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      error(edge.node) << "cannot fetch a TensorArray [graph-entry]";
      continue;
    }
    values.push_back(value);
    names.push_back(name);
    results.push_back({portName(name), type, node.location()});
  }
  Location location = graph.locate(builder.getContext());
  if (hasErrors)
    return failure();
  orderOps();
  builder.hoistBefore(nullptr);
  dfg::DataflowOp whole = builder.finishDataflow(dataflow, values, names);
  builder.finishEntry(results, whole.getResults(), location);
  return success();
}

LogicalResult EntryBuilder::build() {
  EntryHeader header;
  header.name = spec.name;
  bool isFound = findFeeds(header);
  if (!findFetches() || !isFound)
    return failure();
  markNeeded();
  if (reportUnsupported() || !checkSignatures())
    return failure();
  computeFacts();
  Location location = graph.locate(builder.getContext());
  dfg::EntryOp entry = builder.beginEntry(header, location);
  for (auto [feed, argument] : zip(spec.feeds, entry.getBody().getArguments()))
    if (std::optional<Edge> edge = findTensor(feed.tensor, "feed"))
      fed[*edge] = argument;
  dataflow = builder.beginDataflow(location);
  builder.toEnd(dataflow.getBody().front());
  builder.hoistBefore(dataflow);
  buildNodes();
  if (!hasErrors && succeeded(finish()))
    return success();
  builder.dropEntry();
  return failure();
}

} // namespace tfc::tensorflow
