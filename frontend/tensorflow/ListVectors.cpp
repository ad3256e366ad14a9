// Vectors of TensorLists, whose elements are known edges: a Pack makes them, and an Unpack takes
// them apart. Also operations that make a list and write to it, which become two.

#include "frontend/tensorflow/GrowingLists.h"
#include "frontend/tensorflow/PartsExpander.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

namespace {

class VectorExpander : private PartsExpander {
public:
  using PartsExpander::PartsExpander;

  void run();

private:
  using Elements = std::optional<std::vector<Edge>>;

  /// Returns the lists of a vector, if they are known.
  Elements elementsOf(Edge edge);
  Elements computeElements(unsigned index);
  Elements push(unsigned index);
  Elements join(unsigned index);
  /// Returns the list that an edge carries, which may be one of a vector.
  Edge listAt(Edge edge);
  void expandScatter(unsigned index);

  std::map<unsigned, Elements> known; // by node; none while it is computed
  unsigned depth = 0;                 // of what is computed now
};

} // namespace

Edge VectorExpander::listAt(Edge edge) {
  const Node &node = graph.nodes[edge.node];
  if (node.op != "Unpack" || node.inputs.size() != 1)
    return edge;
  Elements lists = elementsOf(*node.inputs.first());
  return lists && edge.output < lists->size() ? (*lists)[edge.output] : edge;
}

VectorExpander::Elements VectorExpander::push(unsigned index) {
  EdgeList inputs = graph.nodes[index].inputs;
  Elements lists = inputs.size() == 2 ? elementsOf(*inputs.first()) : std::nullopt;
  if (!lists)
    return std::nullopt;
  Attr dtype = graph.nodes[index].attr("element_dtype");
  unsigned slices = make(index, "Unpack", {*inputs.at(1)}, dtype.number);
  graph.nodes[slices].attrs["num"].kind = importer::AttrKind::Int;
  graph.nodes[slices].attrs["num"].number = lists->size();
  for (auto [i, list] : enumerate(*lists)) {
    unsigned pushed = make(index, "TensorListPushBack", {list, {slices, unsigned(i)}});
    graph.nodes[pushed].attrs = {{"element_dtype", dtype}};
    list = {pushed, 0};
  }
  return lists;
}

VectorExpander::Elements VectorExpander::join(unsigned index) {
  EdgeList inputs = graph.nodes[index].inputs;
  Elements lists = inputs.size() == 2 ? elementsOf(*inputs.first()) : std::nullopt;
  Elements others = lists ? elementsOf(*inputs.at(1)) : std::nullopt;
  if (!others || lists->size() != others->size())
    return std::nullopt;
  Attr dtype = graph.nodes[index].attr("element_dtype");
  for (auto [list, other] : zip_equal(*lists, *others)) {
    unsigned joined = make(index, "TensorListConcatLists", {list, other});
    graph.nodes[joined].attrs = {{"element_dtype", dtype}};
    list = {joined, 0};
  }
  return lists;
}

VectorExpander::Elements VectorExpander::computeElements(unsigned index) {
  const Node &node = graph.nodes[index];
  if (node.op == "TensorListPushBackBatch")
    return push(index);
  if (node.op == "TensorListConcatLists")
    return join(index);
  if (node.op == "Identity" && node.inputs.size() == 1)
    return elementsOf(*node.inputs.first());
  if (node.op != "Pack" || node.inputs.empty() || node.number("T") != kVariantDtype)
    return std::nullopt;
  std::vector<Edge> lists;
  for (Edge input : EdgeList(node.inputs)) {
    if (sets.raggedAt(input))
      return std::nullopt;
    lists.push_back(listAt(input));
  }
  return lists;
}

/// A long chain of operations on vectors would exhaust the stack.
VectorExpander::Elements VectorExpander::elementsOf(Edge edge) {
  constexpr unsigned kMostDepth = 1024;
  if (edge.output != 0 || depth == kMostDepth)
    return std::nullopt;
  auto [place, isNew] = known.try_emplace(edge.node);
  if (!isNew)
    return place->second;
  ++depth;
  Elements lists = computeElements(edge.node);
  --depth;
  return known[edge.node] = lists;
}

/// Returns the number of elements of a list that has these positions, if they are constants.
static std::optional<int64_t> sizeFor(const Node &positions) {
  auto value = positions.op == "Const"
                   ? dyn_cast_or_null<DenseElementsAttr>(positions.attr("value").tensor)
                   : DenseElementsAttr();
  if (!value || !value.getElementType().isSignlessInteger(32))
    return std::nullopt;
  int64_t size = 0;
  for (const APInt &position : value.getValues<APInt>())
    size = std::max(size, position.getSExtValue() + 1);
  return size;
}

/// Without a number of elements, the list has as many as the positions need.
void VectorExpander::expandScatter(unsigned index) {
  EdgeList inputs = graph.nodes[index].inputs;
  bool hasNumber = graph.nodes[index].op == "TensorListScatterV2";
  if (inputs.size() != (hasNumber ? 4 : 3))
    return; // its signature is checked later
  std::optional<int64_t> number =
      hasNumber ? constantOf(graph.nodes[inputs.at(3)->node]) : std::optional<int64_t>(-1);
  std::optional<int64_t> needed =
      number && *number < 0 ? sizeFor(graph.nodes[inputs.at(1)->node]) : std::nullopt;
  unsigned least = constant(index, IntegerType::get(context, 32), {}, {needed.value_or(0)}, false);
  Edge size = number.value_or(0) < 0 ? Edge{least, 0} : *inputs.at(3);
  unsigned list = make(index, "TensorListReserve", {*inputs.at(2), size});
  Node &node = graph.nodes[index];
  graph.nodes[list].attrs = {{"element_dtype", node.attr("element_dtype")}};
  node.op = "TensorListScatterIntoExistingList";
  node.attrs[kFixed.str()].number = !number || *number >= 0;
  setInputs(index, {{list, 0}, *inputs.first(), *inputs.at(1)});
}

void VectorExpander::run() {
  for (unsigned index = 0; index < count; ++index) {
    StringRef op = graph.nodes[index].op;
    if (op == "TensorListScatter" || op == "TensorListScatterV2") {
      expandScatter(index);
    } else if (op == "TensorListPushBackBatch" && !elementsOf({index, 0})) {
      refuse(index, "its lists are not the inputs of a 'Pack'");
    } else if (op == "Unpack" && graph.nodes[index].inputs.size() == 1) {
      Elements lists = elementsOf(*graph.nodes[index].inputs.first());
      for (unsigned i = 0; lists && i < lists->size(); ++i)
        replacements[{index, i}] = (*lists)[i];
    }
  }
  connectAll();
}

void expandListVectors(MLIRContext *context, Graph &graph) {
  static constexpr StringRef kOps[] = {"TensorListConcatLists", "TensorListPushBackBatch",
                                       "TensorListScatter", "TensorListScatterV2"};
  if (any_of(graph.nodes, [](const Node &node) { return is_contained(kOps, node.op); }))
    VectorExpander(context, graph).run();
}

} // namespace tfc::tensorflow
