// Inputs and outputs of the node that is being built: which values, tokens and liveness they have.

#include "frontend/tensorflow/NodeBuilder.h"

#include "dialects/dfg/SizeOps.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

static constexpr Alias kAliases[] = {{"FusedBatchNorm", "FusedBatchNormV3"},
                                     {"FusedBatchNormV2", "FusedBatchNormV3"},
                                     {"FusedBatchNormGrad", "FusedBatchNormGradV3"},
                                     {"FusedBatchNormGradV2", "FusedBatchNormGradV3"},
                                     {"QuantizeAndDequantizeV4", "QuantizeAndDequantizeV2"},
                                     {"MaxPoolGradGradV2", "MaxPoolGradGrad"},
                                     {"SegmentMaxV2", "UnsortedSegmentMax"},
                                     {"SegmentMinV2", "UnsortedSegmentMin"},
                                     {"SegmentProdV2", "UnsortedSegmentProd"},
                                     {"SegmentSumV2", "UnsortedSegmentSum"},
                                     {"BatchMatrixDeterminant", "MatrixDeterminant"},
                                     {"BatchMatrixInverse", "MatrixInverse"},
                                     {"BatchMatrixSolve", "MatrixSolve"},
                                     {"BatchMatrixTriangularSolve", "MatrixTriangularSolve"},
                                     {"BatchCholesky", "Cholesky"},
                                     {"BatchSelfAdjointEigV2", "SelfAdjointEigV2"},
                                     {"BatchSvd", "Svd"},
                                     {"BatchMatrixBandPart", "MatrixBandPart"},
                                     {"BatchMatrixDiag", "MatrixDiag"},
                                     {"BatchMatrixDiagPart", "MatrixDiagPart"},
                                     {"BatchMatrixSetDiag", "MatrixSetDiag"}};

const OperationTable<OpRule> &operations() {
  static const OperationTable<OpRule> kOperations({{"ComplexRules.cpp", complexRules()},
                                                   {"ControlRules.cpp", controlRules()},
                                                   {"ElementwiseRules.cpp", elementwiseRules()},
                                                   {"IndexRules.cpp", indexRules()},
                                                   {"ListRules.cpp", listRules()},
                                                   {"MatrixRules.cpp", matrixRules()},
                                                   {"NeuralRules.cpp", neuralRules()},
                                                   {"QuantizedRules.cpp", quantizedRules()},
                                                   {"QueueRules.cpp", queueRules()},
                                                   {"RaggedRules.cpp", raggedRules()},
                                                   {"RandomRules.cpp", randomRules()},
                                                   {"ReductionRules.cpp", reductionRules()},
                                                   {"SegmentRules.cpp", segmentRules()},
                                                   {"SelectionRules.cpp", selectionRules()},
                                                   {"ShapeRules.cpp", shapeRules()},
                                                   {"SizeRules.cpp", sizeRules()},
                                                   {"SliceRules.cpp", sliceRules()},
                                                   {"SparseRules.cpp", sparseRules()},
                                                   {"StateRules.cpp", stateRules()},
                                                   {"TensorListRules.cpp", tensorListRules()},
                                                   {"UpdateRules.cpp", updateRules()},
                                                   {"WindowRules.cpp", windowRules()}},
                                                  kAliases);
  return kOperations;
}

const OpRule *findRule(StringRef op) { return operations().find(op, /*version=*/0); }

StringRef functionOf(StringRef op) { return operations().originalOf(op); }

bool hasFlag(StringRef op, unsigned flags) {
  const OpRule *rule = findRule(op);
  return rule && (rule->flags & flags);
}

NodeBuilder::NodeBuilder(EntryContext &entry, unsigned index)
    : importer::NodeBuilder(entry.builder, entry.diagnostics, entry.graph.nodes[index],
                            entry.graph.locate(entry.builder.getContext(), index)),
      entry(entry), node(entry.graph.nodes[index]), index(index) {}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

KnownSizes NodeBuilder::knownSizes(unsigned i) const {
  std::optional<Edge> input = edge(i);
  return input ? entry.sizesAt(*input) : nullptr;
}

const dfg::SizeTensor *NodeBuilder::sizes(unsigned i) {
  KnownSizes known = knownSizes(i);
  if (known)
    followInput(i);
  return known.get();
}

NodeValue NodeBuilder::anyIn(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (!input) {
    error() << "expected at least " << i + 1 << " inputs, but got " << numInputs()
            << " [graph-edge]";
    return {};
  }
  std::optional<unsigned> reference = entry.structure.reference(index, *input);
  if (!reference || entry.isFed(*input)) {
    KnownSizes known = knownSizes(i);
    NodeValue value = known ? NodeValue(std::move(known), i) : NodeValue(inputValue(i));
    return plane && isComplex(i) ? planeOf(value, *plane) : value;
  }
  if (hasFlag(node.op, OpRule::Reference))
    return Values(entry).handleValue(*input);
  // A reference is read where it is used.
  if (*reference != input->node)
    follow(*input);
  return readVariable(entry.graph.nodes[*reference]);
}

NodeValue NodeBuilder::planeOf(NodeValue value, unsigned number) {
  if (!value)
    return {};
  auto type = dyn_cast<RankedTensorType>(value.getType());
  dfg::Shape shape = type ? dfg::shapeOf(type) : dfg::Shape();
  if (shape.empty() || !shape.front().isConstant(2)) {
    error() << "expected complex numbers, but got " << describe(value.getType()) << " [operand]";
    return {};
  }
  dfg::Shape starts(shape.size(), dfg::DimExpr(0));
  starts.front() = number;
  shape.front() = 1;
  return reshape(slice(value, starts, shape), ArrayRef(shape).drop_front());
}

Value NodeBuilder::inputValue(unsigned i) { return Values(entry).valueOf(*edge(i)); }

Value NodeBuilder::readVariable(const Node &variable) {
  auto found = entry.symbols.variables.find(variableName(variable));
  if (found == entry.symbols.variables.end())
    return {};
  auto initial = entry.graph.variables.find(found->first);
  if (initial != entry.graph.variables.end() && initial->second.isConstant)
    return builder().constant(initial->second.value, location());
  return record(
      [&] { return builder().getResources().read(found->first, found->second, location()); });
}

const Node *NodeBuilder::variable(unsigned i) {
  std::optional<unsigned> resource = handle(i);
  if (!resource)
    return nullptr;
  const Node &variable = entry.graph.nodes[*resource];
  if (entry.symbols.variables.count(variableName(variable)))
    return &variable;
  error() << "its input " << i << " does not lead to a variable [graph-edge]";
  return nullptr;
}

NodeValue NodeBuilder::assign(const Node &variable, NodeValue given) {
  Value value = valueOf(given);
  if (!value)
    return {};
  std::string name = variableName(variable);
  RankedTensorType type = entry.symbols.variables[name];
  if (type != value.getType()) {
    error() << "variable '" << name << "' is " << dfg::toText(type) << ", but it is assigned "
            << dfg::toText(value.getType()) << " [assign-type]";
    return {};
  }
  return record([&] { return builder().getResources().assign(name, value, location()); });
}

RankedTensorType NodeBuilder::typeOf(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (input && !entry.isFed(*input))
    if (auto variable = entry.handles.reference(*input))
      return entry.symbols.variables[variableName(entry.graph.nodes[*variable])];
  if (const dfg::SizeTensor *known = sizes(i))
    return known->getType();
  NodeValue value = in(i);
  return value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

std::optional<SmallVector<Ratio>> NodeBuilder::knownRatios(unsigned i) {
  if (KnownSizes known = knownSizes(i))
    return map_to_vector(known->values, [](const dfg::DimExpr &size) { return Ratio{size}; });
  return evaluateRatios(in(i).getValue(), entry.knownValues);
}

std::optional<SmallVector<double>> NodeBuilder::knownReals(unsigned i) {
  KnownSizes known = knownSizes(i);
  if (!known)
    return evaluateReals(in(i).getValue(), entry.knownValues);
  auto numbers = known->getConstants();
  return numbers ? std::optional(SmallVector<double>(numbers->begin(), numbers->end()))
                 : std::nullopt;
}

std::string NodeBuilder::boundHelp() const {
  return fmt::format("with --bound '{}=SIZE' calls find it, up to that size", node.name);
}

void NodeBuilder::askForBound(StringRef size) {
  InFlightDiagnostic diagnostic = error();
  diagnostic << "expected the " << size
             << " to be known when the graph is compiled [dynamic-shape]";
  diagnostic.attachNote() << "help: " << boundHelp();
}

std::optional<dfg::DimExpr> NodeBuilder::foundSize(const NodeValue &count) {
  auto bound = entry.bounds.find(node.name);
  return bound == entry.bounds.end() ? std::nullopt : sizeUpTo(count, bound->second);
}

std::optional<dfg::DimExpr> NodeBuilder::sizeUpTo(const NodeValue &count,
                                                  const dfg::DimExpr &limit) {
  if (!count)
    return std::nullopt;
  Type i64 = IntegerType::get(context(), 64);
  NodeValue sized = library().compute("_sized", {cast(count, i64)}, {{"bound", dfg::Shape{limit}}});
  return sized ? std::optional(dfg::shapeOf(sized.getType()).front()) : std::nullopt;
}

std::optional<SmallVector<SmallVector<Value>>> NodeBuilder::listsFrom(unsigned first,
                                                                      unsigned count) {
  SmallVector<Value> inputs = valuesOf(allInputs(first));
  if (is_contained(inputs, Value()))
    return std::nullopt;
  size_t length = inputs.size() / count;
  SmallVector<SmallVector<Value>> lists;
  for (unsigned i = 0; i < count; ++i)
    lists.emplace_back(ArrayRef(inputs).slice(i * length, length));
  return lists;
}

bool NodeBuilder::check(const NodeValue &condition, const Twine &subject, dfg::Failure failure) {
  Value isMet = valueOf(condition);
  if (isMet)
    record([&] { builder().check(isMet, subject, {}, failure, location()); });
  return bool(isMet);
}

std::optional<dfg::Shape> NodeBuilder::foundDims(unsigned i, std::string &help) {
  constexpr int64_t kMostSizes = 64;
  if (auto sizes = evaluateIntegers(in(i).getValue(), entry.knownValues)) {
    followInput(i);
    return sizes;
  }
  help = boundHelp();
  bool isBounded = entry.bounds.count(node.name);
  if (std::optional<dfg::Shape> limits = isBounded ? std::nullopt : writtenLimits(i))
    return sizesUpTo(in(i), *limits);
  NodeValue x = isBounded ? in(i) : NodeValue();
  auto shape = x ? dfg::constantsOf(dfg::shapeOf(x.getType())) : std::nullopt;
  auto count = shape ? dfg::countSizes(*shape) : std::nullopt;
  if (!count || *count > kMostSizes || !isa<IntegerType>(dfg::elementTypeOf(x.getType())))
    return std::nullopt;
  return sizesUpTo(x, dfg::Shape(*count, dfg::DimExpr(entry.bounds[node.name])));
}

std::optional<dfg::Shape> NodeBuilder::sizesUpTo(NodeValue x, ArrayRef<dfg::DimExpr> limits) {
  if (!x)
    return std::nullopt;
  NodeValue flat = reshape(x, dfg::DimExpr(limits.size()));
  dfg::Shape sizes;
  for (auto [k, limit] : enumerate(limits)) {
    if (limit.isConstant(1)) { // the size broadcasts
      sizes.push_back(limit);
      continue;
    }
    NodeValue count = reshape(slice(flat, {dfg::DimExpr(int64_t(k))}, {dfg::DimExpr(1)}), {});
    std::optional<dfg::DimExpr> size = sizeUpTo(count, limit);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<dfg::Shape> NodeBuilder::writtenLimits(unsigned i) {
  constexpr unsigned kMostPassed = 64;
  std::optional<Edge> from = edge(i);
  for (unsigned steps = 0; from && !entry.isFed(*from) && steps < kMostPassed; ++steps) {
    if (!hasFlag(entry.graph.nodes[from->node].op, OpRule::Passes))
      break;
    from = entry.graph.nodes[from->node].inputs.first();
  }
  if (!from || entry.isFed(*from) || entry.graph.nodes[from->node].op != "TensorListGetItem")
    return std::nullopt;
  auto key = FlowBuilder(*this).flowOf(*entry.graph.nodes[from->node].inputs.first());
  std::optional<dfg::Shape> limits;
  for (auto [writer, array] : entry.structure.writtenArrays) {
    if (!key || array != key->array)
      continue;
    NodeBuilder write(entry, writer);
    std::optional<Edge> value = write.edge(FlowBuilder(write).writtenInput());
    if (write.node.op != "TensorListSetItem" || !value)
      return std::nullopt;
    if (!entry.isFed(*value) && entry.states[value->node].status == NodeState::Pending) {
      waitForNode(value->node);
      return std::nullopt;
    }
    KnownSizes sizes = write.knownSizes(2);
    if (!sizes || sizes->shape.size() > 1 || (limits && limits->size() != sizes->values.size()))
      return std::nullopt;
    if (!limits)
      limits = dfg::Shape(sizes->values.size(), dfg::DimExpr(0));
    for (auto [limit, size] : zip_equal(*limits, sizes->values))
      limit = largerOf(limit, limitsOf(entry, size).second);
  }
  return limits;
}

NodeValue NodeBuilder::ensureFoundSize(NodeValue x, ArrayRef<dfg::DimExpr> wanted) {
  dfg::Shape shape = dfg::shapeOf(x.getType());
  std::optional<size_t> differing;
  for (size_t axis = 0; axis < shape.size() && shape.size() == wanted.size(); ++axis)
    if (shape[axis] != wanted[axis]) {
      if (differing || wanted[axis].constant().value_or(0) < 0)
        return x;
      differing = axis;
    }
  bool isChecked = differing && (isFound(shape[*differing]) || isFound(wanted[*differing]));
  return isChecked ? ensureSizes(x, wanted) : x;
}

NodeValue NodeBuilder::ensureSizes(NodeValue x, ArrayRef<dfg::DimExpr> wanted) {
  dfg::Shape shape = x ? dfg::shapeOf(x.getType()) : dfg::Shape();
  if (!x || ArrayRef(shape) == wanted)
    return x;
  // `n` elements of `m` from position `n - m` on are in range only if n equals m.
  dfg::Shape starts;
  for (auto [size, want] : zip_equal(shape, wanted))
    starts.push_back(want - size);
  return slice(x, starts, wanted, SmallVector<int64_t>(shape.size(), 1));
}

void NodeBuilder::followInput(unsigned i) {
  if (std::optional<Edge> input = edge(i); input && !entry.isFed(*input))
    follow(*input);
}

NodeValue NodeBuilder::data(unsigned i) {
  FlowBuilder flows(*this);
  std::optional<ListKey> key = flows.flowOf({index, 0});
  return key ? flows.flow(i, *key) : anyIn(i);
}

std::optional<unsigned> NodeBuilder::handle(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (!input) {
    error() << "expected a handle as input " << i << " [graph-edge]";
    return std::nullopt;
  }
  std::optional<unsigned> resource = entry.handles.resource(*input);
  if (!resource) {
    error() << "its input " << i << " does not lead to a resource [graph-edge]";
    return std::nullopt;
  }
  // The liveness of the handle matters if nothing else determines the node's frame.
  bool isEntered = hasFlag(entry.graph.nodes[input->node].op, OpRule::Enters);
  if (input->node != *resource && (!isEntered || (numInputs() == 1 && node.controls.empty())))
    follow(*input);
  return *resource;
}

Type NodeBuilder::dtype(StringRef attr) {
  Type type = plane ? planeTypeOf(context(), node.number(attr)) : Type();
  type = type ? type : elementTypeOf(context(), node.number(attr));
  if (!type)
    error() << "tfc does not support tensors of " << dtypeName(node.number(attr)) << " [dtype]";
  return type;
}

std::string NodeBuilder::describe(Type type) const {
  return isa<dfg::ListType>(type) ? "a TensorArray" : importer::NodeBuilder::describe(type);
}

SmallVector<std::string> NodeBuilder::foundNames(ArrayRef<dfg::DimExpr> sizes) const {
  SmallVector<std::string> names;
  for (const dfg::DimExpr &size : sizes)
    size.collectSymbols(names);
  erase_if(names, [&](const std::string &name) { return entry.sizesOfFeeds.contains(name); });
  return names;
}

bool NodeBuilder::areFixed(const dfg::SizeTensor &sizes) const {
  SmallVector<std::string> names = foundNames(sizes.values);
  if (names.empty())
    return true;
  llvm::StringSet<> fixed;
  auto nodeOf = [&](Operation *op) {
    return find_if(entry.created, [&](auto &made) { return made.second->isAncestor(op); });
  };
  entry.builder.currentEntry().walk([&](dfg::BindSizeOp op) {
    auto made = is_contained(names, op.getName()) ? nodeOf(op) : entry.created.end();
    if (made != entry.created.end() && !entry.structure.mayBeDead[made->first])
      fixed.insert(op.getName());
  });
  return all_of(names, [&](const std::string &name) { return fixed.contains(name); });
}

/// Returns the sizes of the result of an elementwise operation: those that callers pass, if there
/// is a choice.
static dfg::Shape joinShapes(const NodeBuilder &node, ValueRange operands) {
  dfg::Shape joined;
  for (Value operand : operands) {
    dfg::Shape shape = dfg::shapeOf(operand.getType());
    while (joined.size() < shape.size())
      joined.insert(joined.begin(), dfg::DimExpr(1));
    for (auto [size, known] : zip(reverse(shape), reverse(joined)))
      if (known.isConstant(1) ||
          (!size.isConstant(1) && node.isFound(known) && !node.isFound(size)))
        known = size;
  }
  return joined;
}

SmallVector<Value> NodeBuilder::matchSizes(StringRef op, SmallVector<Value> operands) {
  auto isTensor = [](Value value) { return isa<RankedTensorType>(value.getType()); };
  if (llvm::all_equal(ValueRange(operands).getTypes()))
    return operands;
  auto info = RegisteredOperationName::lookup(("dfg." + op).str(), context());
  if (!info || !info->hasInterface<dfg::ScalarOpInterface>() || !all_of(operands, isTensor))
    return operands;
  dfg::Shape joined = joinShapes(*this, operands);
  for (Value &operand : operands) {
    dfg::Shape wanted = dfg::shapeOf(operand.getType());
    for (auto [size, other] : zip(reverse(wanted), reverse(joined)))
      if (!size.isConstant(1) && !(size - other).constant() && isFound(size))
        size = other;
    operand = valueOf(ensureSizes(operand, wanted));
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

SmallVector<Value> NodeBuilder::tokens() {
  llvm::SetVector<Value> tokens;
  auto add = [&](Value token) {
    if (token)
      tokens.insert(token);
  };
  for (unsigned control : node.controls)
    add(Tokens(entry).tokenOf(control));
  // Inputs that are used only by value, such as shapes, matter only if they may be dead.
  auto addLiveness = [&](Edge edge) {
    if (entry.structure.mayBeDead[edge.node])
      add(Tokens(entry).tokenOf(edge));
  };
  llvm::for_each(followed, addLiveness);
  if (entry.states[index].isFolded)
    for (Edge input : node.inputs)
      if (!entry.isFed(input))
        addLiveness(input);
  return tokens.takeVector();
}

Value NodeBuilder::gate(const NodeValue &given) {
  Value value = valueOf(given);
  SmallVector<Value> after = tokens();
  if (after.empty() || !value)
    return value;
  return Values(entry).addNode(index, {}, after, value).getResults().front();
}

void NodeBuilder::waitForElements(unsigned array) {
  entry.arrays[array].waiting.push_back(index);
  mustWait = true;
}

void NodeBuilder::waitForNode(unsigned other) {
  entry.waiting[other].push_back(index);
  mustWait = true;
}

bool NodeBuilder::waitForSizes(unsigned other) {
  bool waits = entry.sizeWaits.try_emplace(index, true).first->second;
  if (waits)
    waitForNode(other);
  return waits;
}

bool NodeBuilder::fold() {
  auto isKnown = [](const NodeValue &value) { return !value.getValue(); };
  if (!ops.empty() || results.empty() || !llvm::all_of(results, isKnown))
    return false;
  NodeState &state = entry.states[index];
  state.isFolded = true;
  for (const NodeValue &result : results)
    state.sizes.push_back(result.getSizes());
  return true;
}

Outcome NodeBuilder::doneWithUpdate(const OpRule &rule, NodeValue value) {
  if (!value)
    return Outcome::Failed;
  return rule.signature.outputs.least > 0 ? done({value}) : done();
}

Outcome NodeBuilder::runRule(const OpRule &rule) {
  unsigned count = !entry.complex.isUsedBy(index)  ? 0
                   : rule.flags & OpRule::Planes   ? 2
                   : rule.flags & OpRule::OnePlane ? 1
                                                   : 0;
  if (count == 0)
    return rule.build(*this, rule);
  SmallVector<NodeValue> planes[2];
  for (unsigned i = 0; i < count; ++i) {
    plane = i;
    Outcome outcome = rule.build(*this, rule);
    plane = std::nullopt;
    if (outcome != Outcome::Done)
      return outcome;
    planes[i] = std::move(results);
  }
  if (count == 1)
    return done(planes[0]);
  SmallVector<NodeValue> whole;
  for (auto [real, imaginary] : zip_equal(planes[0], planes[1]))
    whole.push_back(op("stack", {real, imaginary}, attrs.integer("axis", 0)));
  return done(whole);
}

Outcome NodeBuilder::build(const OpRule &rule) { return finish(rule, runRule(rule)); }

Outcome NodeBuilder::finish(const OpRule &rule, Outcome outcome) {
  if (outcome == Outcome::Failed && mustWait)
    outcome = Outcome::Later;
  if (outcome == Outcome::Later)
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  if (outcome == Outcome::Done)
    evaluateConstants(rule);
  if (outcome != Outcome::Done || fold())
    return outcome;
  bool isValue = !(rule.flags & OpRule::Handle) || !results.empty();
  SmallVector<Value> values = valuesOf(results);
  if (llvm::is_contained(values, Value()))
    return Outcome::Failed;
  if (isValue)
    entry.states[index].values = values;
  if (llvm::any_of(results, [](const NodeValue &result) { return bool(result.getSizes()); }))
    entry.states[index].sizes =
        llvm::map_to_vector<1>(results, [](const NodeValue &result) { return result.getSizes(); });
  SmallVector<Value> after;
  if (!(rule.flags & OpRule::Structural))
    after = tokens();
  bool isEffect = (rule.flags & OpRule::Effect) && !entry.structure.isPureRead[index];
  if (!entry.dataflow || (after.empty() && !isEffect)) {
    Values(entry).addOps(index, ops);
    return outcome;
  }
  Values(entry).addBinders(index, ops, after, values);
  dfg::NodeOp made = Values(entry).addNode(index, ops, after, values);
  entry.states[index].token = made.getDone();
  if (isValue)
    entry.states[index].values.assign(made.getResults().begin(), made.getResults().end());
  return outcome;
}

} // namespace tfc::tensorflow
