// Implements the rules of sequences and optionals. They exist only while a model is read: the
// length of a sequence and whether an optional has a value must be known, and so must positions.

#include "frontend/onnx/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;
using Items = std::vector<NodeValue>;

/// Returns the values of an input that is a sequence, or null after an error.
static const Items *itemsOf(NodeBuilder &node, unsigned i) {
  NodeValue value = node.anyIn(i);
  if (value && value.getItems())
    return value.getItems();
  if (value)
    node.error() << "expected a sequence, but got " << node.describe(value.getType())
                 << " for input " << i << " [graph-edge]";
  return nullptr;
}

static Outcome doneWith(NodeBuilder &node, Items items) {
  for (NodeValue &item : items)
    item = item.asInput(std::nullopt);
  return node.done({NodeValue::sequence(std::move(items))});
}

/// Returns a position from 0 to `count - 1`, or `count` with `atEnd`, which may count from the end;
/// std::nullopt after an error.
static std::optional<int64_t> placeOf(NodeBuilder &node, unsigned i, int64_t count,
                                      bool atEnd = false) {
  std::optional<int64_t> given = node.integer(i);
  if (!given)
    return std::nullopt;
  int64_t place = *given < 0 ? *given + count : *given;
  if (place >= 0 && place < count + atEnd)
    return place;
  node.error() << "expected a position in a sequence of " << count << " values, but got " << *given
               << " [graph-edge]";
  return std::nullopt;
}

static Outcome buildEmpty(NodeBuilder &node, const OpRule &) { return doneWith(node, {}); }

static Outcome buildConstruct(NodeBuilder &node, const OpRule &) {
  SmallVector<NodeValue> inputs = node.allInputs();
  return doneWith(node, Items(inputs.begin(), inputs.end()));
}

static Outcome buildInsert(NodeBuilder &node, const OpRule &) {
  const Items *items = itemsOf(node, 0);
  NodeValue value = node.in(1);
  if (!items || !value)
    return Outcome::Failed;
  std::optional<int64_t> place = items->size();
  if (node.hasInput(2))
    place = placeOf(node, 2, items->size(), /*atEnd=*/true);
  if (!place)
    return Outcome::Failed;
  Items result = *items;
  result.insert(result.begin() + *place, value);
  return doneWith(node, std::move(result));
}

static Outcome buildErase(NodeBuilder &node, const OpRule &) {
  const Items *items = itemsOf(node, 0);
  if (!items)
    return Outcome::Failed;
  std::optional<int64_t> place = int64_t(items->size()) - 1;
  if (node.hasInput(1))
    place = placeOf(node, 1, items->size());
  if (!place)
    return Outcome::Failed;
  if (*place < 0)
    return node.fail("expected a sequence of at least one value [graph-edge]");
  Items result = *items;
  result.erase(result.begin() + *place);
  return doneWith(node, std::move(result));
}

static Outcome buildAt(NodeBuilder &node, const OpRule &) {
  const Items *items = itemsOf(node, 0);
  auto place = items ? placeOf(node, 1, items->size()) : std::nullopt;
  return place ? node.done({(*items)[*place]}) : Outcome::Failed;
}

static Outcome buildLength(NodeBuilder &node, const OpRule &) {
  const Items *items = itemsOf(node, 0);
  if (!items)
    return Outcome::Failed;
  Type type = IntegerType::get(node.context(), 64);
  return node.done({NodeValue(*dfg::makeSize(type, int64_t(items->size())))});
}

static Outcome buildConcat(NodeBuilder &node, const OpRule &) {
  const Items *items = itemsOf(node, 0);
  if (!items)
    return Outcome::Failed;
  StringRef op = node.flag("new_axis") ? "stack" : "concat";
  return node.done({node.op(op, *items, node.attrs.integer("axis", node.node.number("axis")))});
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// Returns the sizes of the parts: those given, or equal ones of which the last may be smaller.
static std::optional<dfg::Shape> partsOf(NodeBuilder &node, const DimExpr &size) {
  std::optional<dfg::Shape> given = dfg::Shape{DimExpr(1)};
  bool isList = node.hasInput(1) && node.in(1) && rankOf(node.in(1)) > 0;
  if (node.hasInput(1))
    given = node.dims(1);
  if (!given || isList)
    return given;
  std::optional<int64_t> whole = size.constant(), part = given->front().constant();
  if (!whole || !part || *part < 1) {
    node.error() << "expected numbers as the size of the axis and of its parts, but got "
                 << size.str() << " and " << given->front().str() << " [dynamic-shape]";
    return std::nullopt;
  }
  if (*whole / *part >= dfg::SizeTensor::kMaxElements) {
    node.error() << "expected at most " << dfg::SizeTensor::kMaxElements << " parts, but got "
                 << divideCeil(*whole, *part) << " [too-large]";
    return std::nullopt;
  }
  dfg::Shape sizes;
  for (int64_t rest = *whole; rest > 0; rest -= *part)
    sizes.push_back(std::min(rest, *part));
  return sizes;
}

static Outcome buildSplit(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.inOfRank(0, 1);
  auto axis = x ? node.axisOf(node.node.number("axis"), rankOf(x)) : std::nullopt;
  std::optional<dfg::Shape> sizes = axis ? partsOf(node, shapeOf(x)[*axis]) : std::nullopt;
  if (!sizes)
    return Outcome::Failed;
  bool dropsAxis = !node.hasInput(1) && !node.node.number("keepdims", 1);
  dfg::Shape starts(rankOf(x), DimExpr(0)), counts = shapeOf(x);
  Items parts;
  for (const DimExpr &size : *sizes) {
    counts[*axis] = size;
    NodeValue part = node.slice(x, starts, counts);
    if (part && dropsAxis)
      part = node.op("squeeze", part, node.attrs.integers("axis", *axis));
    if (!part)
      return Outcome::Failed;
    parts.push_back(part);
    starts[*axis] = starts[*axis] + size;
  }
  return doneWith(node, std::move(parts));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Builds the body for each value of the first input; inputs that are tensors are the same for all.
static Outcome buildMap(NodeBuilder &node, const OpRule &) {
  const Items *first = itemsOf(node, 0);
  if (!first)
    return Outcome::Failed;
  std::vector<Items> results(node.node.outputs.size());
  for (size_t k = 0; k < first->size(); ++k) {
    SmallVector<NodeValue> inputs;
    for (unsigned i = 0; i < node.numInputs(); ++i) {
      NodeValue value = node.anyIn(i);
      const Items *items = value ? value.getItems() : nullptr;
      if (items && items->size() != first->size())
        return node.fail("expected sequences of the same length [graph-edge]");
      inputs.push_back(items ? (*items)[k] : value.asInput(std::nullopt));
    }
    auto outputs = node.buildGraph("body", inputs);
    if (!outputs)
      return Outcome::Failed;
    for (size_t i = 0; i < std::min(results.size(), outputs->size()); ++i)
      results[i].push_back((*outputs)[i]);
  }
  SmallVector<NodeValue> sequences;
  for (Items &items : results)
    sequences.push_back(NodeValue::sequence(std::move(items)));
  return node.done(sequences);
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static Outcome buildHasElement(NodeBuilder &node, const OpRule &) {
  Type type = IntegerType::get(node.context(), 1);
  return node.done({NodeValue(*dfg::makeSize(type, int64_t(node.hasInput(0))))});
}

static Outcome buildPresent(NodeBuilder &node, const OpRule &) {
  return node.done({node.anyIn(0)});
}

static constexpr OpRule kRules[] = {
    {"SequenceEmpty", "0 -> 1; dtype:int?", buildEmpty},
    {"SequenceConstruct", "1+ -> 1", buildConstruct},
    {"SequenceInsert", "2-3 -> 1", buildInsert},
    {"SequenceErase", "1-2 -> 1", buildErase},
    {"SequenceAt", "2 -> 1", buildAt},
    {"SequenceLength", "1 -> 1", buildLength},
    {"ConcatFromSequence", "1 -> 1; axis:int, new_axis:int?", buildConcat},
    {"SplitToSequence", "1-2 -> 1; axis:int?, keepdims:int?", buildSplit},
    {"SequenceMap", "1+ -> 1+; body:graph", buildMap},
    {"Optional", "1 -> 1", buildPresent},
    {"OptionalGetElement", "1 -> 1", buildPresent},
    {"OptionalHasElement", "0-1 -> 1", buildHasElement},
};

ArrayRef<OpRule> sequenceRules() { return kRules; }

} // namespace tfc::onnx
