// Follows lists and optional values through the nodes that pass them on, and into and out of other
// lists.

#include "frontend/tensorflow/VariantSets.h"
#include "frontend/tensorflow/Rules.h"
#include <set>

using namespace llvm;

namespace tfc::tensorflow {

/// A list may hold itself, so what is in it has no end.
static constexpr unsigned kMostNested = 64;
/// The output that stands for the elements of a vector or list of which no node returns one.
static constexpr unsigned kElement = std::numeric_limits<unsigned>::max();

void VariantSets::unite(Edge a, Edge b) {
  SmallVector<std::pair<Edge, Edge>> work{{a, b}};
  while (!work.empty()) {
    auto [one, other] = work.pop_back_val();
    Edge from = edges.find(one), to = edges.find(other);
    if (from == to)
      continue;
    edges.unite(from, to);
    auto content = contents.find(from);
    if (content == contents.end())
      continue;
    auto [known, isNew] = contents.try_emplace(to, content->second);
    if (!isNew)
      work.push_back({known->second, content->second});
    contents.erase(from);
  }
}

void VariantSets::addContent(Edge container, Edge content) {
  auto [known, isNew] = contents.try_emplace(edges.find(container), content);
  if (!isNew)
    unite(known->second, content);
}

void VariantSets::addNode(const Graph &graph, unsigned index) {
  const Node &node = graph.nodes[index];
  StringRef op = node.op;
  Edge result{index, 0};
  std::optional<Edge> first = node.inputs.first();
  bool isVariant = node.number("T") == kVariantDtype;
  bool isOptional = op.starts_with("Optional");
  if (hasFlag(op, OpRule::Merges) || (op == "AddN" && isVariant) || op == "TensorListConcatLists") {
    for (Edge input : node.inputs)
      unite(result, input);
  } else if (first && op == "ZerosLike" && isVariant) {
    zeros.push_back(index);
  } else if (first && !isOptional &&
             (hasFlag(op, OpRule::Passes | OpRule::ChangesList) || op == "TensorListPopBack")) {
    unite(result, *first);
    if (hasFlag(op, OpRule::Switches))
      unite(result, {index, 1});
  }
  bool holdsVariants = node.number("element_dtype") == kVariantDtype;
  auto hold = [&](Edge list, std::optional<Edge> element) {
    if (holdsVariants && element)
      addContent(list, *element);
  };
  if (first && op == "TensorListPushBack")
    hold(*first, node.inputs.at(1));
  if (first && op == "TensorListPopBack")
    hold(*first, Edge{index, 1});
  if (first && op == "TensorListSetItem")
    hold(*first, node.inputs.at(2));
  if (first && op == "TensorListGetItem")
    hold(*first, result);
  if (first && op == "OptionalFromValue")
    addContent(result, *first);
  if (first && op == "OptionalGetValue")
    addContent(*first, result);
  // Vectors of ragged tensors have elements of the type that the lists of these have.
  Edge element{index, kElement};
  if (op == "RaggedTensorToVariant" && node.number("batched_input"))
    addContent(result, element);
  if (first && holdsVariants && (op == "TensorListFromTensor" || op == "TensorListStack")) {
    addContent(result, element);
    addContent(*first, element);
  }
}

/// Notes what the node says of its sets.
static void describe(const Node &node, unsigned index, function_ref<VariantSet &(Edge)> at) {
  StringRef op = node.op;
  Edge result{index, 0};
  std::optional<Edge> first = node.inputs.first();
  if (hasFlag(op, OpRule::MakesList)) {
    VariantSet &set = at(result);
    set.isList = true;
    set.makers.push_back(index);
    set.isNew |= op != "TensorListFromTensor";
    set.grows |= op == "EmptyTensorList";
  }
  if (op == "RaggedTensorToVariant") {
    bool isBatch = node.number("batched_input") != 0;
    unsigned levels = std::clamp<int64_t>(node.number("RAGGED_RANK"), 0, kMostNested);
    RaggedType type{levels - (isBatch && levels ? 1 : 0), node.number("Tvalues"),
                    node.number("Tsplits", kInt64Dtype)};
    VariantSet &set = at(isBatch ? Edge{index, kElement} : result);
    set.hasTwoTypes |= set.ragged && *set.ragged != type;
    set.ragged = type;
    at(result).isVector |= isBatch;
  }
  if (op == "OptionalNone" || op == "OptionalFromValue") {
    at(result).isOptional = true;
    if (op == "OptionalFromValue" && node.inputs.size() == 1)
      at(result).fillers.push_back(index);
  }
  if (!first)
    return;
  if (node.number("element_dtype") == kVariantDtype) {
    if (op == "TensorListFromTensor")
      at(*first).isVector = true;
    if (op == "TensorListStack")
      at(result).isVector = true;
  }
  if (hasFlag(op, OpRule::ChangesList) || op == "TensorListPopBack" || op == "AddN")
    at(result).isChanged = true;
  if (op == "OptionalGetValue" || op == "OptionalHasValue") {
    at(*first).isOptional = true;
    at(*first).isAsked |= op == "OptionalHasValue";
  }
  bool pushes = op == "TensorListPushBack", pops = op == "TensorListPopBack";
  if (pushes || pops || op == "TensorListConcatLists") {
    VariantSet &set = at(*first);
    set.grows = true;
    set.shrinks |= pops;
    if (pushes)
      set.pushes.push_back(index);
  }
}

/// Zeros like a list are in the same set, but those like a list of ragged tensors are another list,
/// so that the first one remains as it was made.
void VariantSets::addZeros(const Graph &graph) {
  std::set<Edge> ragged;
  for (auto [index, node] : enumerate(graph.nodes))
    if (node.op == "RaggedTensorToVariant")
      ragged.insert(edges.find({unsigned(index), node.number("batched_input") ? kElement : 0}));
  SmallVector<unsigned> same;
  for (unsigned index : zeros) {
    std::optional<Edge> content = contentOf(*graph.nodes[index].inputs.first());
    if (content && ragged.count(edges.find(*content)))
      otherZeros.insert(index);
    else
      same.push_back(index);
  }
  for (unsigned index : otherZeros)
    addContent({index, 0}, *contentOf(*graph.nodes[index].inputs.first()));
  for (unsigned index : same)
    unite({index, 0}, *graph.nodes[index].inputs.first());
}

VariantSets::VariantSets(const Graph &graph) {
  for (unsigned index = 0; index < graph.nodes.size(); ++index)
    addNode(graph, index);
  addZeros(graph);
  for (auto [index, node] : enumerate(graph.nodes))
    describe(node, unsigned(index), [&](Edge edge) -> VariantSet & { return at(edge); });
  for (unsigned index : otherZeros) {
    VariantSet &set = at({index, 0});
    set.isList = set.isNew = true;
    set.makers.push_back(index);
  }
  for (const auto &[root, set] : sets) {
    std::optional<Edge> element = set.isList ? contentOf(root) : std::nullopt;
    if (auto held = element ? sets.find(edges.find(*element)) : sets.end(); held != sets.end())
      held->second.isElement = true;
    std::optional<Edge> inner = element ? listRootAt(*element) : std::nullopt;
    if (!inner)
      continue;
    sets[*inner].isElement = true;
    append_range(sets[*inner].asElement, set.pushes);
  }
}

const VariantSet *VariantSets::find(Edge edge) const {
  auto found = sets.find(edges.find(edge));
  bool isKnown = found != sets.end() && (found->second.isList || found->second.isOptional);
  return isKnown ? &found->second : nullptr;
}

std::optional<Edge> VariantSets::contentOf(Edge edge) const {
  auto found = contents.find(edges.find(edge));
  return found == contents.end() ? std::nullopt : std::optional(found->second);
}

SmallVector<std::pair<Edge, const VariantSet *>> VariantSets::chainAt(Edge edge) const {
  SmallVector<std::pair<Edge, const VariantSet *>> chain;
  while (chain.size() < kMostNested) {
    const VariantSet *set = find(edge);
    if (!set)
      break;
    chain.push_back({edge, set});
    std::optional<Edge> content = contentOf(edge);
    if (!content)
      break;
    edge = *content;
  }
  return chain;
}

const VariantSet *VariantSets::anyAt(Edge edge) const {
  auto found = sets.find(edges.find(edge));
  return found == sets.end() ? nullptr : &found->second;
}

std::optional<RaggedType> VariantSets::raggedAt(Edge edge) const {
  bool isVector = false;
  std::optional<Edge> next = edge;
  for (unsigned steps = 0; next && steps < kMostNested; ++steps, next = contentOf(*next)) {
    const VariantSet *set = anyAt(*next);
    if (set && set->ragged) {
      RaggedType type = *set->ragged;
      type.levels += isVector;
      return type;
    }
    isVector |= set && (set->isVector || isUnchanged(*next));
  }
  return std::nullopt;
}

bool VariantSets::hasTwoTypes(Edge edge) const {
  std::optional<Edge> next = edge;
  for (unsigned steps = 0; next && steps < kMostNested; ++steps, next = contentOf(*next))
    if (const VariantSet *set = anyAt(*next); set && set->hasTwoTypes)
      return true;
  return false;
}

bool VariantSets::holdsRagged(Edge edge) const {
  std::optional<Edge> content = contentOf(edge);
  const VariantSet *set = content ? anyAt(*content) : nullptr;
  return set && set->ragged;
}

bool VariantSets::isUnchanged(Edge edge) const {
  const VariantSet *set = anyAt(edge);
  return set && set->isList && !set->isChanged && !set->isNew;
}

std::optional<Edge> VariantSets::listRootAt(Edge edge) const {
  for (auto [at, set] : chainAt(edge))
    if (set->isList)
      return edges.find(at);
  return std::nullopt;
}

const VariantSet *VariantSets::listAt(Edge edge) const {
  std::optional<Edge> root = listRootAt(edge);
  return root ? find(*root) : nullptr;
}

unsigned VariantSets::depthOf(Edge edge) const {
  auto chain = chainAt(edge);
  if (chain.size() == kMostNested)
    return kMostNested;
  unsigned depth = 0;
  bool isFixed = true;
  for (auto [at, set] : chain)
    if (set->isList) {
      isFixed &= !set->grows && !set->isElement;
      ++depth;
    }
  return depth == 1 && isFixed ? 0 : depth;
}

std::optional<int64_t> VariantSets::tensorTypeOf(const Graph &graph, Edge edge) const {
  for (auto [at, set] : chainAt(edge)) {
    for (unsigned maker : set->makers)
      if (int64_t type = graph.nodes[maker].number("element_dtype"); type != kVariantDtype)
        return type;
    for (unsigned filler : set->fillers)
      if (auto &types = graph.nodes[filler].attr("Toutput_types").numbers;
          types.size() == 1 && types.front() != kVariantDtype)
        return types.front();
  }
  return std::nullopt;
}

} // namespace tfc::tensorflow
