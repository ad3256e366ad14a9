// Each edge of a list whose length changes gets further edges beside it, its parts: the number of
// elements, and for lists of lists those below. Nodes that pass the list on are copied for each.
//
// The parts of a list of tensors are the list and its count. A list of lists has the parts of a
// single list that holds the elements of all its elements in sequence; for each count among these
// parts, a list of the values that it had before each push; and a count of its own. A list that
// becomes an element begins as the last one of the list to which it is pushed, so no push copies
// it.

#include "frontend/tensorflow/GrowingLists.h"
#include "frontend/Fmt.h"
#include "frontend/tensorflow/PartsExpander.h"
#include "frontend/tensorflow/Rules.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// Each level of lists in lists has twice as many parts.
static constexpr unsigned kMostDepth = 3;

namespace {

class Expander : private PartsExpander {
public:
  using PartsExpander::PartsExpander;

  void run();

private:
  //===--- Parts ----------------------------------------------------------===//

  /// Which parts of a list are lists, by the depth of nesting.
  static std::vector<char> layout(unsigned depth);

  //===--- Operations -----------------------------------------------------===//

  void expand(unsigned index);
  void expandPassing(unsigned index, unsigned count, unsigned values = 1);
  void expandEmpty(unsigned index, unsigned depth);
  void expandElement(unsigned index, unsigned depth, const VariantSet &set);
  void expandFixed(unsigned index);
  void expandPush(unsigned index, unsigned depth);
  void expandPop(unsigned index, unsigned depth);
  bool expandWrite(unsigned index);
  void expandOptional(unsigned index);
  void fillOptional(unsigned index, const VariantSet &set, std::optional<unsigned> filler);
  unsigned sizeOfOptional(const VariantSet &set) const;
  void expandRead(unsigned index, unsigned depth);
  bool reaches(unsigned from, unsigned to) const;

  std::vector<SmallVector<unsigned>> users;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

std::vector<char> Expander::layout(unsigned depth) {
  std::vector<char> isList{true, false};
  for (unsigned level = 1; level < depth; ++level) {
    for (size_t i = 0, size = isList.size(); i < size; ++i)
      if (!isList[i])
        isList.push_back(true);
    isList.push_back(false);
  }
  return isList;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Copies a node that passes on its inputs for all parts but the first. A sum of lists adds the
/// elements, and all have the same number of them. The first `values` parts are values:
/// sums and zeros are built for each of them.
void Expander::expandPassing(unsigned index, unsigned size, unsigned values) {
  const Node &node = graph.nodes[index];
  bool passes = hasFlag(node.op, OpRule::Passes | OpRule::Merges);
  bool hasTwo = hasFlag(node.op, OpRule::Switches);
  for (unsigned number = 1; number < size; ++number) {
    bool isValue = number < values, isCopied = passes || isValue;
    unsigned made = isCopied ? copy(index, number) : make(index, "Identity", {});
    if (graph.nodes[made].has("T"))
      graph.nodes[made].attrs["T"].number = kInt32Dtype;
    addPart({index, 0}, number, {made, 0});
    if (hasTwo)
      addPart({index, 1}, number, {made, 1});
    connections.push_back([=, this] {
      EdgeList inputs;
      for (auto [i, input] : enumerate(graph.nodes[index].inputs)) {
        // The other input of a Switch is the predicate.
        bool isPart =
            i == 0 || hasFlag(graph.nodes[index].op, OpRule::Merges) || (isValue && !passes);
        if (isPart || isCopied)
          inputs.add(isPart ? part(input, number) : replaced(input));
      }
      graph.nodes[made].inputs = inputs;
    });
  }
}

/// A list without elements, of tensors or of lists.
void Expander::expandEmpty(unsigned index, unsigned depth) {
  Type i32 = IntegerType::get(context, 32);
  for (auto [number, isList] : enumerate(layout(depth))) {
    if (number == 0)
      continue;
    unsigned made = constant(index, i32, {}, {0}, true);
    if (isList) {
      unsigned shape = constant(index, i32, {0}, {}, true);
      unsigned most = made;
      made = make(index, "EmptyTensorList", {{shape, 0}, {most, 0}});
      graph.nodes[made].attrs["element_dtype"] = typeAttr(kInt32Dtype);
    }
    addPart({index, 0}, unsigned(number), {made, 0});
  }
  if (graph.nodes[index].op != "EmptyTensorList" ||
      graph.nodes[index].number("element_dtype") != kVariantDtype)
    return;
  std::optional<int64_t> type = sets.tensorTypeOf(graph, {index, 0});
  if (!type)
    return refuse(index, "the type of what its elements hold is not known");
  unsigned shape = constant(index, i32, {}, {-1}, false);
  for (Edge input : graph.nodes[index].inputs)
    graph.nodes[index].controls.push_back(input.node);
  setInputs(index, {{shape, 0}, {shape, 0}});
  graph.nodes[index].attrs["element_dtype"].number = *type;
}

/// Returns true if a node needs another one, other than that of an earlier iteration.
bool Expander::reaches(unsigned from, unsigned to) const {
  std::vector<char> isReached(count, false);
  std::vector<unsigned> work{from};
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (index == to)
      return true;
    if (std::exchange(isReached[index], true) || hasFlag(graph.nodes[index].op, OpRule::LoopsBack))
      continue;
    append_range(work, users[index]);
  }
  return false;
}

/// A list that is pushed to another one begins at its end.
void Expander::expandElement(unsigned index, unsigned depth, const VariantSet &set) {
  std::optional<unsigned> push;
  for (unsigned each : set.asElement)
    if (reaches(index, each)) {
      if (push)
        return refuse(index, "the list becomes an element of more than one list");
      push = each;
    }
  std::optional<Edge> list = push ? graph.nodes[*push].inputs.first() : std::nullopt;
  if (!list)
    return refuse(index, "the list is not pushed to the list of which others are elements");
  if (reaches(index, list->node))
    return refuse(index, "the list is pushed to a list that depends on it");
  Node &node = graph.nodes[index];
  for (Edge input : node.inputs)
    node.controls.push_back(input.node);
  node.op = "Identity";
  node.inputs = {};
  connections.push_back([=, this] { setInputs(index, {part(*list, 0)}); });
  for (unsigned number = 1, size = layout(depth).size(); number < size; ++number) {
    unsigned made = make(index, "Identity", {});
    graph.nodes[made].controls = {index};
    addPart({index, 0}, number, {made, 0});
    connections.push_back([=, this] { setInputs(made, {part(*list, number)}); });
  }
}

/// Returns the number of elements of a list that begins with some.
void Expander::expandFixed(unsigned index) {
  addPart({index, 0}, 1, {make(index, "TensorListLength", {{index, 0}}), 0});
}

void Expander::expandPush(unsigned index, unsigned depth) {
  Edge list = *graph.nodes[index].inputs.first(), value = *graph.nodes[index].inputs.at(1);
  std::vector<char> isList = layout(depth), ofElements = layout(depth - 1);
  unsigned last = isList.size() - 1;
  unsigned next = make(index, "AddV2", {});
  unsigned one = constant(index, IntegerType::get(context, 32), {}, {1}, false);
  addPart({index, 0}, last, {next, 0});
  connections.push_back([=, this] { setInputs(next, {part(list, last), {one, 0}}); });
  if (depth == 1) {
    graph.nodes[index].op = "TensorListSetItem";
    connections.push_back(
        [=, this] { setInputs(index, {part(list, 0), part(list, 1), replaced(value)}); });
    return;
  }
  // The element has been pushed to what the elements share; the list notes where it began.
  graph.nodes[index].op = "Identity";
  connections.push_back([=, this] { setInputs(index, {part(value, 0)}); });
  unsigned number = ofElements.size();
  for (unsigned i = 0; i < ofElements.size(); ++i) {
    if (i > 0) {
      unsigned made = make(index, "Identity", {});
      addPart({index, 0}, i, {made, 0});
      connections.push_back([=, this] { setInputs(made, {part(value, i)}); });
    }
    if (ofElements[i])
      continue;
    unsigned begins = make(index, "TensorListSetItem", {});
    addPart({index, 0}, number, {begins, 0});
    connections.push_back(
        [=, this] { setInputs(begins, {part(list, number), part(list, last), part(list, i)}); });
    ++number;
  }
}

void Expander::expandPop(unsigned index, unsigned depth) {
  Edge list = *graph.nodes[index].inputs.first(), shape = *graph.nodes[index].inputs.at(1);
  std::vector<char> isList = layout(depth), ofElements = layout(depth - 1);
  unsigned last = isList.size() - 1;
  Type i32 = IntegerType::get(context, 32);
  unsigned left = make(index, "Sub", {});
  unsigned one = constant(index, i32, {}, {1}, false);
  connections.push_back([=, this] { setInputs(left, {part(list, last), {one, 0}}); });
  addPart({index, 0}, last, {left, 0});
  Node &node = graph.nodes[index];
  std::map<std::string, Attr> attrs = std::exchange(node.attrs, {});
  node.op = "Identity";
  connections.push_back([=, this] { setInputs(index, {part(list, 0)}); });
  if (depth == 1) {
    unsigned read = make(index, "TensorListGetItem", {});
    graph.nodes[read].attrs = std::move(attrs);
    replacements[{index, 1}] = {read, 0};
    connections.push_back(
        [=, this] { setInputs(read, {part(list, 0), {left, 0}, replaced(shape)}); });
    return;
  }
  replacements[{index, 1}] = {index, 0};
  unsigned number = ofElements.size();
  for (unsigned i = 0; i < ofElements.size(); ++i) {
    unsigned same = make(index, "Identity", {});
    addPart({index, 1}, i, {same, 0});
    connections.push_back([=, this] { setInputs(same, {part(list, i)}); });
    if (ofElements[i]) {
      if (i > 0)
        addPart({index, 0}, i, {same, 0});
      continue;
    }
    unsigned begins = make(index, "Identity", {}), read = make(index, "TensorListGetItem", {});
    addPart({index, 0}, number, {begins, 0});
    addPart({index, 0}, i, {read, 0});
    connections.push_back([=, this] {
      setInputs(begins, {part(list, number)});
      setInputs(read, {part(list, number), {left, 0}, {one, 0}});
    });
    ++number;
  }
}

/// Expands a change of a list of tensors after which it may have another number of elements.
/// Returns false for other changes.
bool Expander::expandWrite(unsigned index) {
  const Node &node = graph.nodes[index];
  bool isResize = node.op == "TensorListResize", joins = node.op == "TensorListConcatLists";
  bool isScatter = node.op == "TensorListScatterIntoExistingList";
  bool isWrite = node.op == "TensorListSetItem" && node.number("resize_if_index_out_of_bounds");
  if ((!isResize && !joins && !isScatter && !isWrite) ||
      node.inputs.size() != (isResize || joins ? 2 : 3))
    return false;
  Type i32 = IntegerType::get(context, 32);
  Edge list = *node.inputs.first(), second = *node.inputs.at(1),
       last = *node.inputs.at(node.inputs.size() - 1);
  unsigned count = make(index, isResize ? "Identity" : joins ? "AddV2" : "Maximum", {});
  addPart({index, 0}, 1, {count, 0});
  if (isResize || joins) {
    connections.push_back([=, this] {
      if (isResize)
        setInputs(count, {replaced(second)});
      else
        setInputs(count, {part(list, 1), part(second, 1)});
    });
  } else {
    unsigned one = constant(index, i32, {}, {1}, false), most = index;
    unsigned needed = make(index, "AddV2", {});
    if (isScatter)
      most = make(index, "Max", {last, {constant(index, i32, {}, {0}, false), 0}});
    connections.push_back([=, this] {
      setInputs(needed, {isScatter ? Edge{most, 0} : replaced(second), {one, 0}});
      setInputs(count, {part(list, 1), {needed, 0}});
    });
  }
  connections.push_back([=, this] {
    EdgeList inputs;
    for (auto [i, input] : enumerate(graph.nodes[index].inputs))
      inputs.add(i == 0 || joins ? part(input, 0) : replaced(input));
    inputs.add(part(list, 1));
    if (joins)
      inputs.add(part(second, 1));
    graph.nodes[index].inputs = inputs;
  });
  return true;
}

/// Returns the number of parts of an optional tensor. Branches of a Case put values of several
/// types into one, so it has a part for each node that fills it, and says which of these are there.
/// An element of a list has one part.
unsigned Expander::sizeOfOptional(const VariantSet &set) const {
  size_t fillers = set.isElement ? 1 : std::max<size_t>(set.fillers.size(), 1);
  return fillers > 1 || set.isAsked ? 2 * fillers : 1;
}

/// Adds the parts of an optional tensor at the node that makes it; `filler` is its number among
/// those that fill such values.
void Expander::fillOptional(unsigned index, const VariantSet &set, std::optional<unsigned> filler) {
  unsigned size = sizeOfOptional(set), values = std::max(size / 2, 1u);
  auto valueOf = [&](unsigned number) -> Edge {
    return *graph.nodes[set.fillers[number]].inputs.first();
  };
  for (unsigned number = 0; number < values; ++number) {
    bool isFilled = filler && (values == 1 || *filler == number);
    unsigned made = index;
    if (number > 0) {
      made = make(index, "OptionalNone", {});
      addPart({index, 0}, number, {made, 0});
    }
    graph.nodes[made].op = isFilled ? "OptionalFromValue" : "OptionalNone";
    if (isFilled) {
      connections.push_back(
          [=, this, value = valueOf(*filler)] { setInputs(made, {replaced(value)}); });
      continue;
    }
    // Zeros of the type of the value that may be there.
    std::vector<int64_t> &like = graph.nodes[made].attrs["_like"].numbers;
    for (unsigned other = 0; other < set.fillers.size(); ++other)
      if (values == 1 || other == number) {
        like.push_back(valueOf(other).node);
        like.push_back(valueOf(other).output);
      }
    if (filler && number == 0) {
      graph.nodes[made].controls.push_back(valueOf(*filler).node);
      connections.push_back([=, this] { setInputs(made, {}); });
    } else if (number > 0) {
      graph.nodes[made].controls.push_back(index);
    }
  }
  for (unsigned number = values; number < size; ++number) {
    bool isFilled = filler && (values == 1 || *filler == number - values);
    addPart({index, 0}, number,
            {constant(index, IntegerType::get(context, 1), {}, {isFilled}, true), 0});
  }
}

/// Values take the place of optional ones.
void Expander::expandOptional(unsigned index) {
  StringRef op = graph.nodes[index].op;
  bool asks = op == "OptionalHasValue", fills = op == "OptionalFromValue";
  bool reads = asks || op == "OptionalGetValue";
  Edge edge = reads ? *graph.nodes[index].inputs.first() : Edge{index, 0};
  const VariantSet *set = sets.find(edge);
  unsigned depth = sets.depthOf(edge);
  if (!set)
    return;
  if (fills && graph.nodes[index].inputs.size() != 1)
    return refuse(index, "it has more than one component");
  if (depth > kMostDepth)
    return refuse(index, "lists are elements of lists that are nested too deeply");
  const VariantSet *list = sets.listAt(edge);
  if (asks && (set->isElement || list))
    return refuse(index, "its value is a list, or an element of one");
  // An element holds those before it, too, even if there is no value.
  if (depth && op == "OptionalNone")
    return list->isElement ? expandElement(index, depth, *list) : expandEmpty(index, depth);
  if (list)
    return depth ? expandPassing(index, layout(depth).size()) : void();
  if (!reads) {
    auto place = find(set->fillers, index);
    return fillOptional(
        index, *set, fills ? std::optional<unsigned>(place - set->fillers.begin()) : std::nullopt);
  }
  unsigned size = sizeOfOptional(*set);
  connections.push_back([=, this] {
    EdgeList inputs;
    for (unsigned number = asks ? size / 2 : 0; number < size; ++number)
      inputs.add(part(edge, number));
    graph.nodes[index].inputs = inputs;
  });
}

/// The other uses of a list, which leave it as it is or change an element.
void Expander::expandRead(unsigned index, unsigned depth) {
  Edge list = *graph.nodes[index].inputs.first();
  StringRef op = graph.nodes[index].op;
  const VariantSet *set = sets.listAt(list);
  if (op == "TensorListElementShape")
    return;
  if (set->isElement || (depth > 1 && op != "TensorListLength"))
    return refuse(index, "only the last element of a list that is the element of a list, or has "
                         "lists as elements, can be read");
  if (op == "TensorListLength") {
    graph.nodes[index].op = "Identity";
    graph.nodes[index].attrs.clear();
    connections.push_back([=, this, last = unsigned(layout(depth).size() - 1)] {
      setInputs(index, {part(list, last)});
    });
  } else if (op == "TensorListStack" || op.starts_with("TensorListConcat")) {
    graph.nodes[index].attrs["_shrinks"].number = set->shrinks;
    graph.nodes[index].attrs[kGrows.str()].number = 1;
    connections.push_back([=, this] {
      EdgeList inputs;
      for (auto [i, input] : enumerate(graph.nodes[index].inputs))
        inputs.add(i == 0 ? part(list, 0) : replaced(input));
      inputs.add(part(list, 1));
      graph.nodes[index].inputs = inputs;
    });
  }
}

void Expander::expand(unsigned index) {
  const Node &node = graph.nodes[index];
  StringRef op = node.op;
  if (op.starts_with("Optional"))
    return op == "OptionalNone" || !node.inputs.empty() ? expandOptional(index) : void();
  bool makes = hasFlag(op, OpRule::MakesList);
  std::optional<Edge> first = makes ? Edge{index, 0} : node.inputs.first();
  unsigned depth = first ? sets.depthOf(*first) : 0;
  const VariantSet *found = first ? sets.find(*first) : nullptr;
  unsigned size = depth ? layout(std::min(depth, kMostDepth)).size() : 1;
  if (found && !found->isList) // an optional value
    size = sets.listAt(*first) ? size : sizeOfOptional(*found);
  if (size == 1)
    return;
  if (depth > kMostDepth)
    return refuse(index, "lists are elements of lists that are nested too deeply");
  bool isPassing = hasFlag(op, OpRule::Passes | OpRule::Merges | OpRule::ChangesList) ||
                   op == "AddN" || op == "ZerosLike";
  bool isWhole = node.inputs.size() == 2;
  if (makes && op != "EmptyTensorList" && (depth > 1 || found->isElement))
    return refuse(index, "a list that begins with elements cannot be an element of a list, or "
                         "have lists as elements");
  if (makes && found->isElement)
    return expandElement(index, depth, *found);
  if (makes)
    return op == "EmptyTensorList" ? expandEmpty(index, depth) : expandFixed(index);
  if (op == "TensorListPushBack" && isWhole && depth > 0)
    return expandPush(index, depth);
  if (op == "TensorListPopBack" && isWhole && depth > 0)
    return expandPop(index, depth);
  bool resizes = op == "TensorListResize" || op == "TensorListConcatLists";
  if (resizes && (depth > 1 || found->isElement))
    return refuse(index, "its list is an element of a list, or has lists as elements");
  if (depth == 1 && found->isList && !found->isElement && expandWrite(index))
    return;
  if (isPassing) {
    bool isOptional = found && !found->isList && !sets.listAt(*first);
    return expandPassing(index, size, isOptional ? size / 2 : 1);
  }
  // Operations on lists that read an optional value are errors where they are built.
  if (op.starts_with("TensorList") && depth > 0)
    expandRead(index, depth);
}

void Expander::run() {
  users.resize(count);
  for (unsigned index = 0; index < count; ++index) {
    for (Edge input : graph.nodes[index].inputs)
      users[input.node].push_back(index);
    for (unsigned control : graph.nodes[index].controls)
      users[control].push_back(index);
  }
  for (unsigned index = 0; index < count; ++index)
    expand(index);
  connectAll();
}

/// A node without a value may be read where values of several types are: each reader gets its own.
static void separateReaders(Graph &graph) {
  std::vector<char> isRead(graph.nodes.size(), false);
  for (unsigned index = 0, count = isRead.size(); index < count; ++index) {
    EdgeList inputs;
    for (Edge input : graph.nodes[index].inputs) {
      if (graph.nodes[input.node].op == "OptionalNone" && std::exchange(isRead[input.node], true))
        input.node = graph.add(Node(graph.nodes[input.node]));
      inputs.add(input);
    }
    graph.nodes[index].inputs = inputs;
  }
}

void expandGrowingLists(MLIRContext *context, Graph &graph) {
  static constexpr StringRef kOps[] = {"EmptyTensorList",    "OptionalFromValue",
                                       "OptionalNone",       "TensorListPopBack",
                                       "TensorListPushBack", "TensorListConcatLists"};
  if (none_of(graph.nodes, [](const Node &node) { return is_contained(kOps, node.op); }))
    return;
  separateReaders(graph);
  Expander(context, graph).run();
}

} // namespace tfc::tensorflow
