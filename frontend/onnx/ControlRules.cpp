// Implements the rules of branches and loops, whose contents are graphs in attributes.

#include "frontend/importer/RegionBuilder.h"
#include "frontend/onnx/NodeBuilder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static Type integerType(NodeBuilder &node) { return IntegerType::get(node.context(), 64); }

/// Returns a tensor of one element without its axes.
static NodeValue asScalar(NodeBuilder &node, NodeValue x) {
  return x && rankOf(x) > 0 ? node.reshape(x, {}) : x;
}

/// Returns the only element of an input, if it is a known number.
static std::optional<int64_t> knownNumber(NodeBuilder &node, unsigned i) {
  const dfg::SizeTensor *known = node.sizes(i);
  return known ? known->getConstant() : std::nullopt;
}

static const Graph &graphOf(NodeBuilder &node, StringRef attr) {
  return node.entry.model.graphs[node.node.number(attr)];
}

/// A known condition chooses the branch while the graph is read; the types of the other branch then
/// do not matter.
static Outcome buildIf(NodeBuilder &node, const OpRule &) {
  if (std::optional<int64_t> known = knownNumber(node, 0))
    return node.doneWith(node.buildGraph(*known ? "then_branch" : "else_branch", {}));
  return node.doneWith(RegionBuilder(node).buildIf(
      asScalar(node, node.in(0)),
      [&](ArrayRef<NodeValue>) { return node.buildGraph("then_branch", {}); },
      [&](ArrayRef<NodeValue>) { return node.buildGraph("else_branch", {}); }));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Returns true if the body returns its condition as it is.
static bool keepsCondition(const Graph &body) {
  const std::string &condition = body.outputs.front();
  if (condition == body.inputs[1].name)
    return true;
  return any_of(body.nodes, [&](const Node &inner) {
    return inner.op == "Identity" && is_contained(inner.outputs, condition) &&
           is_contained(inner.inputs, body.inputs[1].name);
  });
}

/// Returns the size of results that are stacked, which is a number or a name for the iterations.
static DimExpr boundTrips(NodeBuilder &node, Value count, const DimExpr &most) {
  std::string name = "trips_" + node.node.name;
  for (char &c : name)
    c = isAlnum(c) ? c : '_';
  node.builder().bindSize(count, name, most, node.location());
  return DimExpr::symbol(name);
}

/// Builds a loop that carries the number of the iteration, the condition and the node's values.
static Outcome buildLoop(NodeBuilder &node, const OpRule &) {
  const Graph &body = graphOf(node, "body");
  size_t carried = node.numInputs() - std::min(node.numInputs(), 2u);
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
    return node.fail("expected a body with " + Twine(carried + 2) + " inputs and at least " +
                     Twine(carried + 1) + " outputs, but got " + Twine(body.inputs.size()) +
                     " and " + Twine(body.outputs.size()) + " [graph-edge]");
  Type flag = IntegerType::get(node.context(), 1);
  const dfg::SizeTensor *limit = node.sizes(0);
  SmallVector<NodeValue> inits{node.scalar(0, integerType(node)),
                               node.hasInput(1) ? asScalar(node, node.in(1))
                                                : NodeValue(node.scalar(1, flag))};
  append_range(inits, node.allInputs(2));
  NodeValue most =
      node.hasInput(0) ? node.cast(asScalar(node, node.in(0)), integerType(node)) : NodeValue();
  // Built before the loop, since both of its regions use the value.
  Value limitValue = most ? node.valueOf(most) : Value();
  bool isCounted = limit && limit->isSingle() && keepsCondition(body) &&
                   (!node.hasInput(1) || knownNumber(node, 1) == 1);
  if (body.outputs.size() > carried + 1 && !(limit && limit->isSingle()))
    return node.fail("expected the largest number of iterations, which limits stacked results, to "
                     "be known when the graph is compiled [dynamic-shape]");
  auto results = RegionBuilder(node).buildStackingWhile(
      inits,
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        if (!limitValue)
          return SmallVector<NodeValue>{values[1]};
        NodeValue isLess = node.op("less", {values[0], limitValue});
        return SmallVector<NodeValue>{node.op("logical_and", {isLess, values[1]})};
      },
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        auto next = node.buildGraph("body", values);
        if (!next)
          return std::nullopt;
        next->front() = asScalar(node, next->front());
        NodeValue one = node.scalar(1, integerType(node));
        next->insert(next->begin(), node.op("add", {values[0], one}));
        return next;
      },
      [&](ValueRange results) {
        const DimExpr &size = limit->values.front();
        return isCounted ? node.asSize(size) : boundTrips(node, results.front(), size);
      });
  return results ? node.done(ArrayRef(*results).drop_front(2)) : Outcome::Failed;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {
/// The inputs of a scan that are cut along an axis, and how.
struct Scanned {
  NodeValue x;
  int64_t axis;
  bool isReversed;
};
} // namespace

/// Returns number `i` of an attribute, which is 0 by default.
static int64_t numberAt(NodeBuilder &node, StringRef attr, size_t i) {
  ArrayRef<int64_t> numbers = node.ints(attr);
  return i < numbers.size() ? numbers[i] : 0;
}

static std::optional<SmallVector<Scanned>> findScanned(NodeBuilder &node, size_t states) {
  SmallVector<Scanned> scanned;
  for (unsigned i = states; i < node.numInputs(); ++i) {
    NodeValue x = node.inOfRank(i, 1);
    auto axis =
        x ? node.axisOf(numberAt(node, "scan_input_axes", i - states), rankOf(x)) : std::nullopt;
    if (!axis)
      return std::nullopt;
    scanned.push_back(
        {node.valueOf(x), *axis, numberAt(node, "scan_input_directions", i - states) != 0});
  }
  return scanned;
}

/// Moves the first axis of a stacked result to its place.
static NodeValue placeStack(NodeBuilder &node, NodeValue x, size_t i) {
  if (x && numberAt(node, "scan_output_directions", i))
    x = node.op("reverse", x, node.attrs.integers("axis", int64_t(0)));
  auto axis = x ? node.axisOf(numberAt(node, "scan_output_axes", i), rankOf(x)) : std::nullopt;
  if (!axis || *axis == 0)
    return axis ? x : NodeValue();
  SmallVector<int64_t> places;
  for (int64_t k = 1; k < rankOf(x); ++k)
    places.push_back(k);
  places.insert(places.begin() + *axis, 0);
  return node.transpose(x, places);
}

/// Returns what the body returns: the last states, and stacked results. With `live`, which is null
/// or an i64, only that many iterations count.
static std::optional<SmallVector<NodeValue>> scan(NodeBuilder &node, ArrayRef<NodeValue> states,
                                                  ArrayRef<Scanned> scanned, const DimExpr &length,
                                                  NodeValue live) {
  NodeValue trips = node.size(length, integerType(node));
  NodeValue zero = node.scalar(0, integerType(node)), one = node.scalar(1, integerType(node));
  NodeValue last = node.op("sub", {live ? live : trips, one});
  SmallVector<NodeValue> inits{zero};
  append_range(inits, states);
  auto results = RegionBuilder(node).buildStackingWhile(
      inits,
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        return SmallVector<NodeValue>{node.op("less", {values[0], trips})};
      },
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        SmallVector<NodeValue> inputs(values.drop_front());
        for (const Scanned &scan : scanned) {
          NodeValue at = scan.isReversed ? node.op("sub", {last, values[0]}) : values[0];
          if (scan.isReversed && live)
            at = node.op("maximum", {at, zero});
          inputs.push_back(node.op("gather", {scan.x, at}, node.attrs.integer("axis", scan.axis)));
        }
        auto next = node.buildGraph("body", inputs);
        if (!next)
          return std::nullopt;
        NodeValue isLive = live ? node.op("less", {values[0], live}) : NodeValue();
        for (size_t i = 0; live && i < std::min(states.size(), next->size()); ++i)
          (*next)[i] = node.op("select", {isLive, (*next)[i], values[i + 1]});
        next->insert(next->begin(), node.op("add", {values[0], one}));
        return next;
      },
      [&](ValueRange) { return length; });
  if (!results)
    return std::nullopt;
  return SmallVector<NodeValue>(ArrayRef(*results).drop_front());
}

static Outcome buildScan(NodeBuilder &node, const OpRule &) {
  int64_t count = node.node.number("num_scan_inputs");
  if (count > int64_t(node.numInputs()))
    return node.fail("expected at least " + Twine(count) + " inputs [graph-edge]");
  size_t states = node.numInputs() - count;
  std::optional<SmallVector<Scanned>> scanned = findScanned(node, states);
  if (!scanned)
    return Outcome::Failed;
  SmallVector<NodeValue> inits;
  for (unsigned i = 0; i < states; ++i)
    inits.push_back(node.in(i));
  DimExpr length = shapeOf(scanned->front().x)[scanned->front().axis];
  auto outputs = scan(node, inits, *scanned, length, NodeValue());
  if (!outputs)
    return Outcome::Failed;
  for (size_t i = states; i < outputs->size(); ++i)
    (*outputs)[i] = placeStack(node, (*outputs)[i], i - states);
  return node.done(*outputs);
}

/// In version 8, axis 0 of all inputs is that of a batch, for each row of which the scan runs, and
/// input 0 has the lengths of the rows. Results beyond these are undefined.
static Outcome buildBatchedScan(NodeBuilder &node, const OpRule &) {
  int64_t count = node.node.number("num_scan_inputs");
  if (count >= int64_t(node.numInputs()))
    return node.fail("expected at least " + Twine(count + 1) + " inputs [graph-edge]");
  size_t states = node.numInputs() - 1 - count;
  SmallVector<NodeValue> rows;
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    rows.push_back(node.valueOf(node.inOfRank(i, i > states ? 2 : 1)));
    if (!rows.back())
      return Outcome::Failed;
  }
  NodeValue lengths =
      node.hasInput(0) ? node.valueOf(node.cast(node.in(0), integerType(node))) : NodeValue();
  DimExpr batch = shapeOf(rows.back())[0], length = shapeOf(rows.back())[1];
  NodeValue trips = node.size(batch, integerType(node));
  auto results = RegionBuilder(node).buildStackingWhile(
      {NodeValue(node.scalar(0, integerType(node)))},
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        return SmallVector<NodeValue>{node.op("less", {values[0], trips})};
      },
      [&](ArrayRef<NodeValue> values) -> std::optional<SmallVector<NodeValue>> {
        auto rowOf = [&](NodeValue x) {
          return node.op("gather", {x, values[0]}, node.attrs.integer("axis", 0));
        };
        SmallVector<NodeValue> inits;
        SmallVector<Scanned> scanned;
        for (auto [i, x] : enumerate(rows)) {
          NodeValue row = rowOf(x);
          if (i < states)
            inits.push_back(row);
          else
            scanned.push_back({row, 0, numberAt(node, "directions", i - states) != 0});
        }
        auto next = scan(node, inits, scanned, length, lengths ? rowOf(lengths) : NodeValue());
        if (next)
          next->insert(next->begin(),
                       node.op("add", {values[0], node.scalar(1, integerType(node))}));
        return next;
      },
      [&](ValueRange) { return batch; });
  return results ? node.done(ArrayRef(*results).drop_front()) : Outcome::Failed;
}

static constexpr OpRule kRules[] = {
    {"If", "1 -> 0+; then_branch:graph, else_branch:graph", buildIf},
    {"Loop", "0-2+ -> 1+; body:graph", buildLoop, "", 1, Codes::Refused,
     "stacked results without a known largest number of iterations"},
    {"Scan", "0-1+ -> 1+; body:graph, num_scan_inputs:int>=1, directions:ints?", buildBatchedScan,
     "", 8},
    {"Scan",
     "1+ -> 1+; body:graph, num_scan_inputs:int>=1, scan_input_axes:ints?, "
     "scan_input_directions:ints?, scan_output_axes:ints?, scan_output_directions:ints?",
     buildScan, "", 9},
};

ArrayRef<OpRule> controlRules() { return kRules; }

} // namespace tfc::onnx
