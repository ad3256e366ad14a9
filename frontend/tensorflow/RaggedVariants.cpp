// A variant with a ragged tensor has the tensor's splits, from the outside to the inside, and its
// values as parts; so has a vector of such variants, of which the rows are the outermost level. A
// list of variants has a list for each part of its elements. Nodes that pass variants on are copied
// for each part.

#include "frontend/tensorflow/RaggedVariants.h"
#include "frontend/tensorflow/PartsExpander.h"
#include "frontend/tensorflow/Rules.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Each level is a further part.
static constexpr unsigned kMostLevels = 16;

namespace {

class RaggedExpander : private PartsExpander {
public:
  using PartsExpander::PartsExpander;

  void run();

private:
  /// Returns how many parts an edge has; 0 for those without ragged tensors.
  unsigned sizeOf(Edge edge) const;
  /// Returns true if lists take the place of a list.
  bool isList(Edge edge) const { return sets.listAt(edge) && !sets.isUnchanged(edge); }
  /// Returns the number of the type of a part.
  int64_t typeOf(Edge edge, unsigned number) const;
  void setNode(unsigned index, StringRef op);
  unsigned numberOfElements(unsigned index, Edge list);
  unsigned anyShape(unsigned index);

  void expand(unsigned index);
  void expandToVariant(unsigned index);
  void expandFromVariant(unsigned index);
  void expandGradient(unsigned index);
  void expandFromTensor(unsigned index);
  void expandStack(unsigned index);
  void expandRow(unsigned index);
  void expandLength(unsigned index);
  void expandElementShape(unsigned index);
  void expandZeros(unsigned index);
  void expandSum(unsigned index);
  void expandCopies(unsigned index, unsigned size);
  /// Lets a node, and copies of it, pass on the parts of an edge.
  void pass(unsigned index, Edge from);
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

unsigned RaggedExpander::sizeOf(Edge edge) const {
  std::optional<RaggedType> type = sets.raggedAt(edge);
  return type ? type->levels + 1 : 0;
}

int64_t RaggedExpander::typeOf(Edge edge, unsigned number) const {
  std::optional<RaggedType> type = sets.raggedAt(edge);
  if (!type)
    return 0;
  return number < type->levels ? type->splits : type->values;
}

/// Makes another operation of a node.
void RaggedExpander::setNode(unsigned index, StringRef op) {
  graph.nodes[index].op = op.str();
  graph.nodes[index].attrs.clear();
}

void RaggedExpander::pass(unsigned index, Edge from) {
  unsigned size = sizeOf(from);
  setNode(index, "Identity");
  for (unsigned number = 0; number < size; ++number) {
    unsigned made = number ? make(index, "Identity", {}) : index;
    graph.nodes[made].attrs["T"] = typeAttr(isList(from) ? kVariantDtype : typeOf(from, number));
    addPart({index, 0}, number, {made, 0});
    connections.push_back([=, this] { setInputs(made, {part(from, number)}); });
  }
}

/// Returns the shape input of a list of tensors of any sizes.
unsigned RaggedExpander::anyShape(unsigned index) {
  return constant(index, IntegerType::get(context, 32), {}, {-1}, false);
}

/// Returns a node that counts the elements of a list, or the rows of a vector.
unsigned RaggedExpander::numberOfElements(unsigned index, Edge list) {
  bool isRows = sets.isVector(list) || sets.isUnchanged(list);
  unsigned made = make(index, isRows ? "_RowCount" : "TensorListLength", {});
  graph.nodes[made].attrs["out_type"] = typeAttr(kInt32Dtype);
  connections.push_back([=, this] { setInputs(made, {part(list, 0)}); });
  return made;
}

//===----------------------------------------------------------------------===//
// Ragged tensors
//===----------------------------------------------------------------------===//

void RaggedExpander::expandToVariant(unsigned index) {
  EdgeList inputs = graph.nodes[index].inputs;
  int64_t levels = graph.nodes[index].number("RAGGED_RANK");
  if (levels < 0 || inputs.size() != size_t(levels) + 1)
    return; // its signature is checked later
  if (levels > kMostLevels)
    return refuse(index, "the ragged tensor has too many levels");
  if (levels == 0 && graph.nodes[index].number("batched_input"))
    return refuse(index, "the rows of a tensor become variants");
  setNode(index, "Identity");
  for (unsigned number = 0; number <= levels; ++number) {
    unsigned made = number ? make(index, "Identity", {}) : index;
    graph.nodes[made].attrs["T"] = typeAttr(typeOf({index, 0}, number));
    addPart({index, 0}, number, {made, 0});
    connections.push_back(
        [=, this, input = *inputs.at(number)] { setInputs(made, {replaced(input)}); });
  }
}

void RaggedExpander::expandFromVariant(unsigned index) {
  Edge from = *graph.nodes[index].inputs.first();
  unsigned size = sizeOf(from);
  int64_t levels = graph.nodes[index].number("output_ragged_rank");
  if (isList(from))
    return;
  if (size == 0 || levels + 1 != size)
    return refuse(index, "the ragged tensors in the variant have another number of levels");
  setNode(index, "Identity");
  graph.nodes[index].attrs["T"] = typeAttr(typeOf(from, 0));
  connections.push_back([=, this] { setInputs(index, {part(from, 0)}); });
  for (unsigned number = 1; number < size; ++number) {
    unsigned made = make(index, "Identity", {}, typeOf(from, number));
    replacements[{index, number}] = {made, 0};
    connections.push_back([=, this] { setInputs(made, {part(from, number)}); });
  }
}

/// The gradient of a ragged tensor is that of its values. A list of gradients may lack some rows.
void RaggedExpander::expandGradient(unsigned index) {
  if (graph.nodes[index].inputs.size() != 3)
    return;
  Edge from = *graph.nodes[index].inputs.first(), splits = *graph.nodes[index].inputs.at(1),
       shape = *graph.nodes[index].inputs.at(2);
  bool hasRows = sets.isVector(from) && sizeOf(from) == 2;
  unsigned last = sizeOf(from) - 1;
  setNode(index, "_RaggedGradient");
  connections.push_back([=, this] {
    if (hasRows)
      setInputs(index, {part(from, 1), replaced(shape), part(from, 0), replaced(splits)});
    else
      setInputs(index, {part(from, last), replaced(shape)});
  });
}

//===----------------------------------------------------------------------===//
// Lists of ragged tensors
//===----------------------------------------------------------------------===//

void RaggedExpander::expandFromTensor(unsigned index) {
  Edge from = *graph.nodes[index].inputs.first();
  if (sets.isUnchanged({index, 0}))
    return pass(index, from);
  if (sizeOf(from) != 2)
    return refuse(index, "the list of the rows of a ragged tensor with several levels is changed");
  setNode(index, "TensorListSplit");
  graph.nodes[index].attrs["element_dtype"] = typeAttr(typeOf(from, 1));
  unsigned lengths = make(index, "_RowLengths", {}), shape = anyShape(index);
  connections.push_back([=, this] {
    setInputs(lengths, {part(from, 0)});
    setInputs(index, {part(from, 1), {shape, 0}, {lengths, 0}});
  });
}

/// A list of ragged tensors becomes one with another level: the values are joined, and the splits
/// of each level are moved by the number of those before.
void RaggedExpander::expandStack(unsigned index) {
  Edge list = *graph.nodes[index].inputs.first();
  if (sets.isUnchanged(list))
    return pass(index, list);
  unsigned size = sizeOf(list), shape = anyShape(index);
  int64_t splitsType = sets.raggedAt(list)->splits;
  unsigned none = constant(index, IntegerType::get(context, 32), {0}, {}, false);
  Attr given = graph.nodes[index].attr("num_elements");
  bool isGiven = graph.nodes[index].has("num_elements");
  SmallVector<unsigned> joined;
  for (unsigned number = 0; number < size; ++number) {
    unsigned made = number + 1 < size ? make(index, "TensorListConcatV2", {}) : index;
    setNode(made, "TensorListConcatV2");
    graph.nodes[made].attrs["element_dtype"] = typeAttr(typeOf(list, number));
    if (isGiven)
      graph.nodes[made].attrs["num_elements"] = given;
    joined.push_back(made);
    connections.push_back(
        [=, this] { setInputs(made, {part(list, number), {shape, 0}, {none, 0}}); });
  }
  unsigned outer = make(index, "_OuterSplits", {{joined.front(), 1}});
  graph.nodes[outer].attrs["Tsplits"] = typeAttr(splitsType);
  graph.nodes[outer].attrs["holds_splits"].number = size > 1;
  addPart({index, 0}, 0, {outer, 0});
  for (unsigned number = 0; number + 1 < size; ++number) {
    unsigned made = make(index, "_InnerSplits", {{joined[number], 0}, {joined[number], 1}});
    addPart({index, 0}, number + 1, {made, 0});
  }
  addPart({index, 0}, size, {index, 0});
}

/// The list is the ragged tensor of which an element is a row.
void RaggedExpander::expandRow(unsigned index) {
  if (graph.nodes[index].inputs.size() != 3)
    return;
  Edge list = *graph.nodes[index].inputs.first(), place = *graph.nodes[index].inputs.at(1);
  unsigned levels = sizeOf({index, 0}), range = make(index, "_RowRange", {});
  connections.push_back([=, this] { setInputs(range, {part(list, 0), replaced(place)}); });
  Edge begin{range, 0}, end{range, 1};
  for (unsigned number = 1; number < levels; ++number) {
    unsigned made = make(index, "_SplitsBetween", {});
    connections.push_back([=, this] { setInputs(made, {part(list, number), begin, end}); });
    addPart({index, 0}, number - 1, {made, 0});
    begin = {made, 1};
    end = {made, 2};
  }
  setNode(index, "_ValuesBetween");
  addPart({index, 0}, levels - 1, {index, 0});
  connections.push_back([=, this] { setInputs(index, {part(list, levels), begin, end}); });
}

/// The number of elements as the shape of a vector, or as the length of a list.
void RaggedExpander::expandLength(unsigned index) {
  Node &node = graph.nodes[index];
  Edge list = *node.inputs.first();
  if (node.op == "TensorListLength" && !sets.isUnchanged(list)) {
    connections.push_back([=, this] { setInputs(index, {part(list, 0)}); });
    return;
  }
  bool isShape = node.op == "Shape";
  int64_t type = isShape ? node.number("out_type", kInt32Dtype) : kInt32Dtype;
  setNode(index, "_RowCount");
  graph.nodes[index].attrs["out_type"] = typeAttr(type);
  graph.nodes[index].attrs["is_shape"].number = isShape;
  connections.push_back([=, this] { setInputs(index, {part(list, 0)}); });
}

/// Variants are scalars.
void RaggedExpander::expandElementShape(unsigned index) {
  bool isWide = graph.nodes[index].number("shape_type") == kInt64Dtype;
  Type type = IntegerType::get(context, isWide ? 64 : 32);
  Edge list = *graph.nodes[index].inputs.first();
  setNode(index, "Const");
  Node &node = graph.nodes[index];
  node.controls.push_back(list.node);
  node.attrs["dtype"] = typeAttr(isWide ? kInt64Dtype : kInt32Dtype);
  node.attrs["value"].kind = AttrKind::Tensor;
  node.attrs["value"].tensor =
      DenseElementsAttr::get(RankedTensorType::get({0}, type), ArrayRef<Attribute>());
  connections.push_back([=, this] { setInputs(index, {}); });
}

void RaggedExpander::expandZeros(unsigned index) {
  Edge from = *graph.nodes[index].inputs.first();
  unsigned size = sizeOf({index, 0});
  if (!sets.holdsRagged({index, 0}) || sets.isVector(from)) {
    pass(index, from);
    unsigned last = part({index, 0}, size - 1).node;
    if (!isList(from))
      graph.nodes[last].op = "ZerosLike";
    return;
  }
  unsigned length = numberOfElements(index, from), shape = anyShape(index);
  for (unsigned number = 0; number < size; ++number) {
    unsigned made = number ? make(index, "TensorListReserve", {}) : index;
    setNode(made, "TensorListReserve");
    graph.nodes[made].attrs["element_dtype"] = typeAttr(typeOf({index, 0}, number));
    addPart({index, 0}, number, {made, 0});
    connections.push_back([=, this] { setInputs(made, {{shape, 0}, {length, 0}}); });
  }
}

/// Ragged tensors that are added have the same splits.
void RaggedExpander::expandSum(unsigned index) {
  Edge first = *graph.nodes[index].inputs.first();
  unsigned size = sizeOf({index, 0});
  if (size > 1 && isList(first))
    return refuse(index, "the ragged tensors in the lists have splits");
  EdgeList inputs = graph.nodes[index].inputs;
  bool isSum = isList(first);
  pass(index, first);
  unsigned last = part({index, 0}, size - 1).node;
  graph.nodes[last].op = "AddN";
  graph.nodes[last].attrs["N"].kind = AttrKind::Int;
  graph.nodes[last].attrs["N"].number = inputs.size();
  if (!isSum)
    graph.nodes[last].attrs["T"] = typeAttr(typeOf(first, size - 1));
  connections.push_back([=, this] {
    EdgeList given;
    for (Edge input : inputs)
      given.add(part(input, size - 1));
    graph.nodes[last].inputs = given;
  });
}

/// Copies a node that passes on, reads or changes what its inputs carry.
void RaggedExpander::expandCopies(unsigned index, unsigned size) {
  EdgeList inputs = graph.nodes[index].inputs;
  bool makes = hasFlag(graph.nodes[index].op, OpRule::MakesList);
  std::optional<Edge> first = inputs.first();
  Edge main = makes || !first || !sizeOf(*first) ? Edge{index, 0} : *first;
  std::optional<unsigned> shape;
  if (makes && sets.holdsRagged(main))
    shape = anyShape(index);
  bool holdsTensors = graph.nodes[index].number("element_dtype") == kVariantDtype;
  for (unsigned number = 0; number < size; ++number) {
    unsigned made = number ? copy(index, number) : index;
    std::map<std::string, Attr> &attrs = graph.nodes[made].attrs;
    int64_t type = typeOf(main, number);
    if (sets.holdsRagged(main) && !sets.isVector(main) && !sets.isUnchanged(main)) {
      if (holdsTensors)
        attrs["element_dtype"] = typeAttr(type);
      if (graph.nodes[made].has("output_types"))
        attrs["output_types"].numbers = {type};
    } else if (!isList(main)) {
      if (graph.nodes[made].has("T"))
        attrs["T"] = typeAttr(type);
      if (graph.nodes[made].has("Toutput_types"))
        attrs["Toutput_types"].numbers = {type};
    }
    for (unsigned output : {0u, 1u})
      if (sizeOf({index, output}))
        addPart({index, output}, number, {made, output});
    connections.push_back([=, this] {
      EdgeList given;
      for (auto [i, input] : enumerate(inputs))
        given.add(shape && i == 0 ? Edge{*shape, 0}
                  : sizeOf(input) ? part(input, number)
                                  : replaced(input));
      graph.nodes[made].inputs = given;
    });
  }
}

void RaggedExpander::expand(unsigned index) {
  const Node &node = graph.nodes[index];
  StringRef op = node.op;
  std::optional<Edge> first = node.inputs.first();
  unsigned size = std::max(sizeOf({index, 0}), sizeOf({index, 1}));
  bool hasTwoTypes = sets.hasTwoTypes({index, 0});
  for (Edge input : node.inputs) {
    size = std::max(size, sizeOf(input));
    hasTwoTypes |= sets.hasTwoTypes(input);
  }
  if (size == 0)
    return;
  if (hasTwoTypes)
    return refuse(index, "ragged tensors of different types take the place of one another");
  if (op == "RaggedTensorToVariant")
    return expandToVariant(index);
  if (!first && !hasFlag(op, OpRule::MakesList))
    return refuse(index, "there is no ragged tensor in the variant");
  unsigned ofFirst = first ? sizeOf(*first) : 0;
  if (op == "RaggedTensorFromVariant" && ofFirst)
    return expandFromVariant(index);
  if (op == "RaggedTensorToVariantGradient" && ofFirst)
    return expandGradient(index);
  if (op == "TensorListFromTensor" && sets.holdsRagged({index, 0}))
    return expandFromTensor(index);
  if (op == "TensorListStack" && ofFirst)
    return expandStack(index);
  if (op == "TensorListGetItem" && ofFirst && sets.isUnchanged(*first))
    return expandRow(index);
  if ((op == "TensorListLength" || (op == "Shape" && sets.isVector(*first))) && ofFirst)
    return expandLength(index);
  if (op == "TensorListElementShape" && ofFirst && sets.holdsRagged(*first))
    return expandElementShape(index);
  if (op == "ZerosLike")
    return expandZeros(index);
  if (op == "AddN")
    return expandSum(index);
  bool isCopied =
      hasFlag(op, OpRule::Passes | OpRule::Merges | OpRule::MakesList | OpRule::ChangesList) ||
      op == "TensorListPopBack" || op == "TensorListGetItem" || op == "OptionalHasValue" ||
      op == "OptionalNone" || op == "TensorListElementShape";
  if (!isCopied)
    return refuse(index, "it reads variants with ragged tensors");
  expandCopies(index, size);
}

void RaggedExpander::run() {
  for (unsigned index = 0; index < count; ++index)
    expand(index);
  connectAll();
}

void expandRaggedVariants(MLIRContext *context, Graph &graph) {
  if (any_of(graph.nodes, [](const Node &node) { return node.op == "RaggedTensorToVariant"; }))
    RaggedExpander(context, graph).run();
}

} // namespace tfc::tensorflow
