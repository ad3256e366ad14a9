// Implements a reader for a format that exists only here, on top of the code that all importers
// share. It shows that this code depends on no real format.

#include "Toy.h"
#include "frontend/importer/OperationTable.h"
#include "frontend/importer/RegionBuilder.h"
#include "frontend/importer/Signature.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer::toy {

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

ToyNode &ToyNode::with(StringRef name, int64_t number, AttrKind kind) {
  attrs[name.str()].kind = kind;
  attrs[name.str()].number = number;
  return *this;
}

ToyNode &ToyNode::withInts(StringRef name, std::vector<int64_t> numbers) {
  attrs[name.str()].kind = AttrKind::Ints;
  attrs[name.str()].numbers = std::move(numbers);
  return *this;
}

ToyNode &ToyGraph::add(std::vector<std::string> outputs, StringRef op,
                       std::vector<std::string> inputs) {
  ToyNode &node = nodes.emplace_back();
  node.name = outputs.front();
  node.op = op.str();
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {

class ToyBuilder : public NodeBuilder {
public:
  ToyBuilder(ToyReader &reader, const ToyNode &node, Location location, Scope &scope)
      : NodeBuilder(reader.builder, reader.diagnostics, node, location), reader(reader), node(node),
        scope(scope) {}

  unsigned numInputs() const override { return node.inputs.size(); }
  bool hasInput(unsigned i) const override {
    return i < node.inputs.size() && !node.inputs[i].empty();
  }
  NodeValue anyIn(unsigned i) override { return scope.find(node.inputs[i]).asInput(i); }
  const dfg::SizeTensor *sizes(unsigned i) override {
    return scope.find(node.inputs[i]).getSizes().get();
  }
  Type dtype(StringRef) override { return Float32Type::get(context()); }
  std::optional<SmallVector<NodeValue>> buildGraph(StringRef attr,
                                                   ArrayRef<NodeValue> inputs) override {
    return reader.buildGraph(node.number(attr), inputs, &scope);
  }
  ArrayRef<NodeValue> getResults() const { return results; }

  ToyReader &reader;
  const ToyNode &node;

protected:
  Value inputValue(unsigned i) override {
    Value value = materialise(*sizes(i));
    scope.keepValue(node.inputs[i], value);
    return value;
  }
  void useSizes(unsigned) override {}

private:
  Scope &scope;
};

struct Rule {
  StringLiteral op;
  Signature signature;
  Outcome (*build)(ToyBuilder &node);
  int64_t since = 1;
};

} // namespace

static Outcome buildClip(ToyBuilder &node) {
  NodeValue x = node.in(0);
  if (node.hasInput(1))
    x = node.op("maximum", {x, node.in(1)});
  if (node.hasInput(2))
    x = node.op("minimum", {x, node.in(2)});
  return node.done({x});
}

static Outcome buildSum(ToyBuilder &node) {
  SmallVector<NodeValue> inputs = node.allInputs();
  NodeValue sum = inputs.front();
  for (const NodeValue &next : ArrayRef(inputs).drop_front())
    sum = node.op("add", {sum, next});
  return node.done({sum});
}

static Outcome unsqueeze(ToyBuilder &node, std::optional<int64_t> axis) {
  return axis ? node.done({node.op("expand", node.in(0), node.attrs.integer("axis", *axis))})
              : Outcome::Failed;
}

static Outcome buildOldUnsqueeze(ToyBuilder &node) {
  return unsqueeze(node, node.node.number("axis"));
}

static Outcome buildUnsqueeze(ToyBuilder &node) { return unsqueeze(node, node.integer(1)); }

static Outcome buildConstant(ToyBuilder &node) {
  auto type = IntegerType::get(node.context(), 64);
  const std::vector<int64_t> &numbers = node.node.attr("value").numbers;
  return node.done(
      {NodeValue(*dfg::makeSizeVector(type, dfg::Shape(numbers.begin(), numbers.end())))});
}

static Outcome buildShape(ToyBuilder &node) {
  auto type = IntegerType::get(node.context(), 64);
  NodeValue x = node.in(0);
  return x ? node.done({NodeValue(*dfg::makeSizeVector(type, dfg::shapeOf(x.getType())))})
           : Outcome::Failed;
}

static Outcome buildLess(ToyBuilder &node) {
  return node.done({node.op("less", {node.in(0), node.in(1)})});
}

static Outcome buildIf(ToyBuilder &node) {
  return node.doneWith(RegionBuilder(node).buildIf(
      node.in(0), [&](ArrayRef<NodeValue>) { return node.buildGraph("then", {}); },
      [&](ArrayRef<NodeValue>) { return node.buildGraph("else", {}); }));
}

static Outcome buildWhile(ToyBuilder &node) {
  return node.doneWith(RegionBuilder(node).buildWhile(
      node.allInputs(),
      [&](ArrayRef<NodeValue> carried) { return node.buildGraph("condition", carried); },
      [&](ArrayRef<NodeValue> carried) { return node.buildGraph("body", carried); }));
}

static constexpr Rule kRules[] = {
    {"Clip", "1-3 -> 1", buildClip},
    {"Sum", "1+ -> 1", buildSum},
    {"Unsqueeze", "1 -> 1; axis:int>=0", buildOldUnsqueeze},
    {"Unsqueeze", "2 -> 1", buildUnsqueeze, 13},
    {"Constant", "0 -> 1; value:ints", buildConstant},
    {"Shape", "1 -> 1", buildShape},
    {"Less", "2 -> 1", buildLess},
    {"If", "1 -> 0+; then:graph, else:graph", buildIf},
    {"While", "1+ -> 1+; condition:graph, body:graph", buildWhile},
};
static constexpr Alias kAliases[] = {{"Plus", "Sum"}};

static const Rule *findRule(StringRef op, int64_t version) {
  static const OperationTable<Rule> kTable({{"Toy.cpp", kRules}}, kAliases);
  return kTable.find(op, version);
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

Location ToyReader::locate(const Node &node) {
  return NameLoc::get(StringAttr::get(builder.getContext(), node.name));
}

void ToyReader::checkNode(const ToyNode &node) {
  SmallVector<unsigned> absent;
  for (auto [i, input] : enumerate(node.inputs))
    if (input.empty())
      absent.push_back(i);
  SignatureChecker checker(diagnostics, node, locate(node), node.inputs.size(), absent);
  if (const Rule *rule = findRule(node.op, file.version)) {
    checker.check(rule->signature);
    checker.checkOutputs(rule->signature, node.outputs.size());
  } else if (library.declares(node.op)) {
    checker.checkCall(library.parameters(node.op));
  } else {
    diagnostics.error(locate(node))
        << "the operation '" << node.op << "' is not supported [unsupported-node]";
  }
}

void ToyReader::check(const ToyGraph &graph) {
  for (const ToyNode &node : graph.nodes) {
    checkNode(node);
    for (const auto &[name, attr] : node.attrs)
      if (attr.kind == AttrKind::Graph)
        check(file.graphs[attr.number]);
  }
}

NodeValue ToyReader::find(const ToyNode &user, StringRef name, const Scope &scope) {
  NodeValue value = scope.find(name);
  if (!value && !failed.count(name.str()))
    diagnostics.error(locate(user)) << "there is no value '" << name << "' [graph-edge]";
  return value;
}

void ToyReader::buildNode(const ToyNode &node, Scope &scope) {
  ToyBuilder toy(*this, node, locate(node), scope);
  bool isWhole = true;
  for (const std::string &input : node.inputs)
    isWhole &= input.empty() || find(node, input, scope);
  if (isWhole) {
    const Rule *rule = findRule(node.op, file.version);
    Outcome outcome = rule ? rule->build(toy) : LibraryCall(toy, library).build(node.op);
    isWhole = outcome == Outcome::Done;
  }
  for (auto [i, output] : enumerate(node.outputs)) {
    if (!isWhole || i >= toy.getResults().size())
      failed.insert(output);
    else if (!scope.add(output, toy.getResults()[i]))
      toy.error() << "expected one value '" << output << "', but got two [graph-file]";
  }
}

std::optional<SmallVector<NodeValue>>
ToyReader::buildGraph(unsigned number, ArrayRef<NodeValue> inputs, const Scope *outer) {
  const ToyGraph &graph = file.graphs[number];
  unsigned errors = diagnostics.getErrorCount();
  Scope scope(outer);
  for (auto [input, value] : zip(graph.inputs, inputs))
    scope.add(input.name, value);
  for (const ToyNode &node : graph.nodes)
    buildNode(node, scope);
  ToyNode end;
  end.inputs = graph.outputs;
  ToyBuilder toy(*this, end, locate(end), scope);
  SmallVector<NodeValue> outputs;
  for (auto [i, output] : enumerate(graph.outputs)) {
    NodeValue value = find(end, output, scope);
    outputs.push_back(value && !value.getValue() ? toy.valueOf(toy.anyIn(i)) : value);
  }
  return diagnostics.getErrorCount() == errors ? std::optional(outputs) : std::nullopt;
}

EntryHeader ToyReader::makeHeader() {
  EntryHeader header;
  header.name = "main";
  for (const ToyInput &input : file.graphs.front().inputs) {
    MLIRContext *context = builder.getContext();
    Type type = input.isBool ? Type(IntegerType::get(context, 1)) : Float32Type::get(context);
    GraphInput described{input.name, type, std::nullopt, UnknownLoc::get(context)};
    if (input.sizes)
      described.shape.emplace().sizes = *input.sizes;
    header.feeds.push_back(
        {input.name, feedType(nullptr, described, header, diagnostics), described.location});
  }
  return header;
}

void ToyReader::read() {
  check(file.graphs.front());
  EntryHeader header = makeHeader();
  if (diagnostics.getErrorCount())
    return;
  Location location = UnknownLoc::get(builder.getContext());
  dfg::EntryOp entry = builder.beginEntry(header, location);
  SmallVector<NodeValue> feeds(entry.getBody().args_begin(), entry.getBody().args_end());
  auto outputs = buildGraph(0, feeds, nullptr);
  if (!outputs)
    return builder.dropEntry();
  std::vector<EntryValue> results;
  SmallVector<Value> values;
  for (auto [name, output] : zip(file.graphs.front().outputs, *outputs)) {
    values.push_back(output.getValue());
    results.push_back({name, cast<RankedTensorType>(output.getType()), location});
  }
  builder.finishEntry(results, values, location);
}

} // namespace tfc::importer::toy
