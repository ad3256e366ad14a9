// Follows numbers back to constants and to the conditions of loops.

#include "frontend/tensorflow/LoopBounds.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Real graphs pass a number on through few nodes, and damaged ones endlessly.
static constexpr unsigned kMostPassed = 64;

namespace {
/// One search. Lists may be written at positions that depend on lengths of lists.
class Search {
public:
  explicit Search(const EntryContext &entry) : entry(entry), graph(entry.graph) {}

  std::optional<DimExpr> largestValue(Edge number);
  std::optional<int64_t> largestConstant(Edge number);
  std::optional<DimExpr> largestLength(unsigned array);
  std::optional<Trips> tripsOf(unsigned merge);
  std::optional<int64_t> largestSize(unsigned merge, unsigned axis);
  bool isInvariant(unsigned merge) const;

private:
  /// `small < large`, or `small <= large`.
  struct Comparison {
    Edge small, large;
    bool isStrict;
  };
  /// A loop variable to which each iteration adds `step`.
  struct Counter {
    Edge initial;
    int64_t step;
  };

  Edge sourceOf(Edge edge) const { return sourceOf(edge, {"Identity"}); }
  Edge sourceOf(Edge edge, ArrayRef<StringRef> passing) const;
  SmallVector<unsigned> conjunctsOf(Edge condition) const;
  std::optional<Comparison> comparisonAt(unsigned index) const;
  std::optional<Edge> conditionOf(unsigned merge) const;
  std::optional<int64_t> constantAt(Edge edge) const;
  std::optional<Counter> counterAt(Edge edge, unsigned frame) const;
  std::optional<Trips> tripsUntil(const Comparison &comparison, unsigned frame);
  bool isSizeOf(Edge number, unsigned merge, unsigned axis) const;
  std::optional<DimExpr> sizeAt(Edge edge) const;
  std::optional<DimExpr> limitOf(Edge variable, Edge condition);

  const EntryContext &entry;
  const Graph &graph;
  /// The calls that may begin, and the lists whose lengths are being searched.
  unsigned calls = 256;
  SmallVector<unsigned> open;
};
} // namespace

/// Returns the edge from which such nodes pass on a value.
Edge Search::sourceOf(Edge edge, ArrayRef<StringRef> passing) const {
  for (unsigned i = 0; i < kMostPassed && !entry.isFed(edge); ++i) {
    const Node &node = graph.nodes[edge.node];
    if (!is_contained(passing, StringRef(node.op)) || !node.inputs.first())
      break;
    edge = *node.inputs.first();
  }
  return edge;
}

/// Returns the comparisons that hold if a condition does.
SmallVector<unsigned> Search::conjunctsOf(Edge condition) const {
  SmallVector<unsigned> found;
  SmallVector<Edge> work{condition};
  for (unsigned i = 0; i < kMostPassed && !work.empty(); ++i) {
    Edge edge = sourceOf(work.pop_back_val());
    if (entry.isFed(edge))
      continue;
    const Node &node = graph.nodes[edge.node];
    if (node.op == "LogicalAnd" || node.op == "LoopCond")
      append_range(work, node.inputs);
    else if (node.op == "All" && node.inputs.first())
      work.push_back(*node.inputs.first());
    else
      found.push_back(edge.node);
  }
  return found;
}

std::optional<Search::Comparison> Search::comparisonAt(unsigned index) const {
  const Node &node = graph.nodes[index];
  StringRef op = node.op;
  bool isLess = op == "Less" || op == "LessEqual",
       isGreater = op == "Greater" || op == "GreaterEqual";
  if ((!isLess && !isGreater) || node.inputs.size() != 2)
    return std::nullopt;
  return Comparison{*node.inputs.at(isLess ? 0 : 1), *node.inputs.at(isLess ? 1 : 0),
                    op == "Less" || op == "Greater"};
}

/// Numbers beyond this limit are of no use as sizes, and sums of those below it do not overflow.
static constexpr int64_t kMostCounted = int64_t(1) << 40;

/// Returns a number that is known while the graph is read, or a size that callers pass.
std::optional<DimExpr> Search::sizeAt(Edge edge) const {
  if (std::optional<int64_t> constant = constantOf(graph.nodes[edge.node]))
    return std::abs(*constant) <= kMostCounted ? std::optional(DimExpr(*constant)) : std::nullopt;
  KnownSizes known = entry.sizesAt(edge);
  if (!known || !known->isSingle())
    return std::nullopt;
  const DimExpr &size = known->values.front();
  SmallVector<std::string> names;
  size.collectSymbols(names);
  bool isPassed = all_of(names, [&](StringRef name) { return entry.sizesOfFeeds.contains(name); });
  return isPassed ? std::optional(size) : std::nullopt;
}

std::optional<int64_t> Search::largestConstant(Edge number) {
  std::optional<DimExpr> largest = largestValue(number);
  return largest ? largest->constant() : std::nullopt;
}

std::optional<DimExpr> Search::largestValue(Edge number) {
  if (calls == 0)
    return std::nullopt;
  --calls;
  for (unsigned i = 0; i < kMostPassed; ++i) {
    if (entry.isFed(number))
      return std::nullopt;
    const Node &node = graph.nodes[number.node];
    if (std::optional<DimExpr> size = sizeAt(number))
      return size;
    std::optional<Edge> first = node.inputs.first(), second = node.inputs.at(1);
    if (!first)
      return std::nullopt;
    if (node.op == "TensorArraySizeV3") {
      std::optional<ListKey> key = entry.handles.array(*first);
      return key && key->source.empty() ? largestLength(key->array) : std::nullopt;
    }
    if (node.op == "Switch" && number.output == 1 && second)
      if (auto limit = limitOf(sourceOf(*first), *second))
        return limit;
    if (node.op != "Switch" && node.op != "Identity" && node.op != "Enter" && node.op != "Exit")
      return std::nullopt;
    number = *first;
  }
  return std::nullopt;
}

/// Returns the limit of a loop variable where the condition of the loop holds.
std::optional<DimExpr> Search::limitOf(Edge variable, Edge condition) {
  std::optional<DimExpr> least;
  for (unsigned index : conjunctsOf(condition)) {
    std::optional<Comparison> comparison = comparisonAt(index);
    if (!comparison || sourceOf(comparison->small) != variable)
      continue;
    std::optional<DimExpr> limit = largestValue(comparison->large);
    if (limit && comparison->isStrict)
      limit = *limit - 1;
    if (limit && (!least || isAtMost(*limit, *least)))
      least = limit;
  }
  return least;
}

std::optional<DimExpr> Search::largestLength(unsigned array) {
  constexpr int64_t kMost = int64_t(1) << 31;
  const Node &maker = graph.nodes[array];
  auto makers = entry.structure.listMakers.find(array);
  bool isAlone = makers != entry.structure.listMakers.end() && makers->second.size() == 1;
  if ((maker.op == "TensorListReserve" && !isAlone) || is_contained(open, array))
    return std::nullopt;
  open.push_back(array);
  std::optional<Edge> size = maker.inputs.at(maker.op == "TensorListReserve" ? 1 : 0);
  bool isReserved = maker.op == "TensorListReserve" || maker.op == "TensorArrayV3";
  std::optional<DimExpr> length =
      isReserved && size && !entry.isFed(*size) ? sizeAt(*size) : std::nullopt;
  for (auto [writer, written] : entry.structure.writtenArrays) {
    if (written != array || !length)
      continue;
    StringRef op = graph.nodes[writer].op;
    std::optional<Edge> place = graph.nodes[writer].inputs.at(1);
    bool isWrite = op == "TensorListSetItem" || op == "TensorArrayWriteV3";
    bool isNumber = isWrite || op == "TensorListResize";
    std::optional<DimExpr> last = isNumber && place ? largestValue(*place) : std::nullopt;
    length = last ? std::optional(largerOf(*length, isWrite ? *last + 1 : *last)) : std::nullopt;
  }
  open.pop_back();
  std::optional<int64_t> constant = length ? length->constant() : std::nullopt;
  return constant.value_or(0) >= 0 && constant.value_or(0) < kMost ? length : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

/// Returns the condition of the loop of which a Merge begins a variable.
std::optional<Edge> Search::conditionOf(unsigned merge) const {
  for (unsigned reader : entry.structure.readers[merge]) {
    std::optional<Edge> predicate = graph.nodes[reader].inputs.at(1);
    if (graph.nodes[reader].op == "Switch" && predicate &&
        graph.nodes[predicate->node].op == "LoopCond")
      return predicate;
  }
  return std::nullopt;
}

std::optional<int64_t> Search::constantAt(Edge edge) const {
  edge = sourceOf(edge, {"Identity", "Enter"});
  std::optional<int64_t> value =
      entry.isFed(edge) ? std::nullopt : constantOf(graph.nodes[edge.node]);
  return value && std::abs(*value) <= kMostCounted ? value : std::nullopt;
}

std::optional<Search::Counter> Search::counterAt(Edge edge, unsigned frame) const {
  edge = sourceOf(edge);
  const Node &merge = graph.nodes[edge.node];
  if (merge.op != "Merge" || merge.inputs.size() != 2 || entry.isFed(edge) ||
      entry.structure.frameOf[edge.node] != frame)
    return std::nullopt;
  Edge initial = *merge.inputs.at(0), next = *merge.inputs.at(1);
  if (graph.nodes[initial.node].op == "NextIteration")
    std::swap(initial, next);
  if (graph.nodes[next.node].op != "NextIteration" || graph.nodes[initial.node].op != "Enter")
    return std::nullopt;
  Edge sum = sourceOf(next, {"Identity", "NextIteration"});
  const Node &add = graph.nodes[sum.node];
  bool adds = add.op == "Add" || add.op == "AddV2", subtracts = add.op == "Sub";
  if ((!adds && !subtracts) || add.inputs.size() != 2 || entry.isFed(sum))
    return std::nullopt;
  for (unsigned i = 0; i < (adds ? 2 : 1); ++i) {
    Edge before = sourceOf(*add.inputs.at(i), {"Identity", "Switch"});
    std::optional<int64_t> step = constantAt(*add.inputs.at(1 - i));
    if (before == edge && step)
      return Counter{initial, subtracts ? -*step : *step};
  }
  return std::nullopt;
}

/// Returns the number of iterations for which a comparison holds.
std::optional<Trips> Search::tripsUntil(const Comparison &comparison, unsigned frame) {
  auto [small, large, isStrict] = comparison;
  std::optional<Counter> up = counterAt(small, frame), down = counterAt(large, frame);
  bool isUp = up && up->step > 0, isDown = down && down->step < 0;
  if (isUp == isDown)
    return std::nullopt;
  Edge low = isUp ? up->initial : small, high = isUp ? large : down->initial;
  std::optional<int64_t> first = constantAt(low), last = constantAt(high);
  bool isExact = first && last;
  last = last ? last : largestConstant(high);
  if (!first || !last || std::abs(*last) > kMostCounted)
    return std::nullopt;
  int64_t step = isUp ? up->step : -down->step, span = *last - *first + !isStrict;
  return Trips{span > 0 ? (span + step - 1) / step : 0, isExact};
}

std::optional<Trips> Search::tripsOf(unsigned merge) {
  std::optional<Edge> condition = conditionOf(merge);
  if (!condition)
    return std::nullopt;
  std::optional<Trips> fewest;
  SmallVector<unsigned> conjuncts = conjunctsOf(*condition);
  for (unsigned index : conjuncts) {
    std::optional<Comparison> comparison = comparisonAt(index);
    std::optional<Trips> trips =
        comparison ? tripsUntil(*comparison, entry.structure.frameOf[merge]) : std::nullopt;
    if (trips && (!fewest || trips->count < fewest->count))
      fewest = trips;
  }
  if (fewest)
    fewest->isExact &= conjuncts.size() == 1;
  return fewest;
}

/// Returns true for the shape of a loop variable, an element of it, or the number of elements if
/// there is only that axis.
bool Search::isSizeOf(Edge number, unsigned merge, unsigned axis) const {
  number = sourceOf(number);
  const Node &node = graph.nodes[number.node];
  std::optional<Edge> first = node.inputs.first();
  if (!first || entry.isFed(number))
    return false;
  if (node.op == "Size" && axis == 0 && sourceOf(*first) == Edge{merge, 0}) {
    const auto &values = entry.states[merge].values;
    auto type =
        values.empty() ? RankedTensorType() : dyn_cast<RankedTensorType>(values.front().getType());
    return type && type.getRank() == 1;
  }
  if (node.op == "Shape" && sourceOf(*first) == Edge{merge, 0})
    return true;
  Edge shape = sourceOf(*first);
  std::optional<Edge> of = graph.nodes[shape.node].inputs.first();
  bool isElement = node.op == "StridedSlice" && node.inputs.size() == 4 &&
                   node.number("shrink_axis_mask") == 1 && !node.number("ellipsis_mask") &&
                   !node.number("new_axis_mask");
  return isElement && graph.nodes[shape.node].op == "Shape" && of &&
         sourceOf(*of) == Edge{merge, 0} && constantAt(*node.inputs.at(1)) == int64_t(axis);
}

std::optional<int64_t> Search::largestSize(unsigned merge, unsigned axis) {
  std::optional<Edge> condition = conditionOf(merge);
  std::optional<int64_t> least;
  for (unsigned index : condition ? conjunctsOf(*condition) : SmallVector<unsigned>()) {
    std::optional<Comparison> comparison = comparisonAt(index);
    if (!comparison || !isSizeOf(comparison->small, merge, axis))
      continue;
    std::optional<int64_t> limit = largestConstant(comparison->large);
    if (limit && std::abs(*limit) <= kMostCounted)
      least = std::min(least.value_or(kMostCounted),
                       std::max<int64_t>(*limit - comparison->isStrict, 0));
  }
  return least;
}

/// The value may pass through branches, and through loops that do not change it either.
bool Search::isInvariant(unsigned merge) const {
  constexpr unsigned kMostMerges = 64;
  SmallVector<unsigned> merges{merge};
  for (unsigned i = 0; i < merges.size(); ++i)
    for (Edge input : graph.nodes[merges[i]].inputs) {
      if (i == 0 && graph.nodes[input.node].op != "NextIteration")
        continue;
      Edge from = sourceOf(input, {"Identity", "Switch", "Enter", "Exit", "NextIteration"});
      if (graph.nodes[from.node].op != "Merge" || from.output != 0 || entry.isFed(from) ||
          merges.size() > kMostMerges)
        return false;
      if (!is_contained(merges, from.node))
        merges.push_back(from.node);
    }
  return true;
}

bool isInvariant(const EntryContext &entry, unsigned merge) {
  return Search(entry).isInvariant(merge);
}

std::optional<Trips> tripsOf(const EntryContext &entry, unsigned merge) {
  return Search(entry).tripsOf(merge);
}

std::optional<int64_t> largestSize(const EntryContext &entry, unsigned merge, unsigned axis) {
  return Search(entry).largestSize(merge, axis);
}

std::optional<DimExpr> largestValue(const EntryContext &entry, Edge number) {
  return Search(entry).largestValue(number);
}

std::optional<DimExpr> largestLength(const EntryContext &entry, unsigned array) {
  return Search(entry).largestLength(array);
}

} // namespace tfc::tensorflow
