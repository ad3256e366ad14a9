// Follows numbers back to constants and to the conditions of loops.

#include "frontend/tensorflow/LoopBounds.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Real graphs pass a number on through few nodes, and damaged ones endlessly.
static constexpr unsigned kMostPassed = 64;

static std::optional<int64_t> constantOf(const Node &node) {
  auto value = node.op == "Const" ? dyn_cast_or_null<DenseElementsAttr>(node.attr("value").tensor)
                                  : DenseElementsAttr();
  if (!value || !value.isSplat() || !value.getElementType().isSignlessInteger() ||
      value.getElementType().isInteger(1))
    return std::nullopt;
  return value.getSplatValue<APInt>().getSExtValue();
}

namespace {
/// One search. Lists may be written at positions that depend on lengths of lists.
class Search {
public:
  explicit Search(const EntryContext &entry) : entry(entry), graph(entry.graph) {}

  std::optional<int64_t> largestValue(Edge number);
  std::optional<int64_t> largestLength(unsigned array);

private:
  Edge sourceOf(Edge edge) const;
  SmallVector<unsigned> conjunctsOf(Edge condition) const;
  std::optional<int64_t> limitOf(Edge variable, Edge condition);

  const EntryContext &entry;
  const Graph &graph;
  /// The calls that may begin, and the lists whose lengths are being searched.
  unsigned calls = 256;
  SmallVector<unsigned> open;
};
} // namespace

/// Returns the edge from which others pass on a value.
Edge Search::sourceOf(Edge edge) const {
  for (unsigned i = 0; i < kMostPassed && !entry.isFed(edge); ++i) {
    const Node &node = graph.nodes[edge.node];
    if (node.op != "Identity" || !node.inputs.first())
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
    else
      found.push_back(edge.node);
  }
  return found;
}

std::optional<int64_t> Search::largestValue(Edge number) {
  if (calls == 0)
    return std::nullopt;
  --calls;
  for (unsigned i = 0; i < kMostPassed; ++i) {
    if (entry.isFed(number))
      return std::nullopt;
    const Node &node = graph.nodes[number.node];
    if (std::optional<int64_t> constant = constantOf(node))
      return constant;
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
std::optional<int64_t> Search::limitOf(Edge variable, Edge condition) {
  std::optional<int64_t> least;
  for (unsigned index : conjunctsOf(condition)) {
    const Node &node = graph.nodes[index];
    StringRef op = node.op;
    bool isLess = op == "Less" || op == "LessEqual", isGreater = op.starts_with("Greater");
    if ((!isLess && !isGreater) || node.inputs.size() != 2)
      continue;
    Edge small = *node.inputs.at(isLess ? 0 : 1), large = *node.inputs.at(isLess ? 1 : 0);
    if (sourceOf(small) != variable)
      continue;
    std::optional<int64_t> limit = largestValue(large);
    if (limit && (op == "Less" || op == "Greater"))
      limit =
          *limit > std::numeric_limits<int64_t>::min() ? std::optional(*limit - 1) : std::nullopt;
    if (limit && (!least || *limit < *least))
      least = limit;
  }
  return least;
}

std::optional<int64_t> Search::largestLength(unsigned array) {
  constexpr int64_t kMost = int64_t(1) << 31;
  const Node &maker = graph.nodes[array];
  auto makers = entry.structure.listMakers.find(array);
  bool isAlone = makers != entry.structure.listMakers.end() && makers->second.size() == 1;
  if ((maker.op == "TensorListReserve" && !isAlone) || is_contained(open, array))
    return std::nullopt;
  open.push_back(array);
  std::optional<Edge> size = maker.inputs.at(maker.op == "TensorListReserve" ? 1 : 0);
  bool isReserved = maker.op == "TensorListReserve" || maker.op == "TensorArrayV3";
  std::optional<int64_t> length = isReserved && size && !entry.isFed(*size)
                                      ? constantOf(graph.nodes[size->node])
                                      : std::nullopt;
  for (auto [writer, written] : entry.structure.writtenArrays) {
    if (written != array || !length)
      continue;
    StringRef op = graph.nodes[writer].op;
    std::optional<Edge> place = graph.nodes[writer].inputs.at(1);
    bool isWrite = op == "TensorListSetItem" || op == "TensorArrayWriteV3";
    std::optional<int64_t> last = isWrite && place ? largestValue(*place) : std::nullopt;
    length = last && *last < kMost ? std::optional(std::max(*length, *last + 1)) : std::nullopt;
  }
  open.pop_back();
  return length && *length >= 0 && *length < kMost ? length : std::nullopt;
}

std::optional<int64_t> largestValue(const EntryContext &entry, Edge number) {
  return Search(entry).largestValue(number);
}

std::optional<int64_t> largestLength(const EntryContext &entry, unsigned array) {
  return Search(entry).largestLength(array);
}

} // namespace tfc::tensorflow
