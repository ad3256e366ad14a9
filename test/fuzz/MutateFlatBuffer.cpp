//===- MutateFlatBuffer.cpp - Binary graphs as objects --------------------===//
//
// Damaged bytes end in FlatBuffers' verifier mostly. So most mutations change
// the objects of a valid file, and write it again.
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"
#include "dialects/dfg/OpTable.h"
#include "frontend/flatbuffer/Graph_generated.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace tfc::fuzz {

namespace {

using Nodes = std::vector<std::unique_ptr<tfg::NodeT>>;
using Attributes = std::vector<std::unique_ptr<tfg::AttributeT>>;

constexpr int64_t kNumbers[] = {0,  1,   -1,  2,         3,         7,         8,
                                64, 256, 400, INT32_MAX, INT64_MAX, INT64_MIN, int64_t(1) << 56};
constexpr const char *kFormulas[] = {"n", "n + 1",     "2 * n",       "n // 2", "n % 3",
                                     "m", "min(n, 4)", "n * n",       "n - 1",  "-1",
                                     "?", "n +",       "4 * (n / 4)", "1 // 0", "max(n, m)"};
constexpr const char *kFacts[] = {"n >= 2", "n == m", "n % 4 == 0", "1 < 0", "n", "n // 0 == 1"};

/// Changes a graph.
class Mutation {
public:
  Mutation(tfg::GraphT &graph, Draw &draw) : graph(graph), draw(draw) { collect(); }

  void change();

private:
  void collect();
  void collect(Nodes &nodes);
  void collect(Attributes &list);
  void changeNode(tfg::NodeT &node);
  void changeList(Nodes &nodes);
  void changeAttributes(tfg::NodeT &node);
  void changeAttribute(tfg::AttributeT &attribute);
  void changeNumbers(std::vector<uint32_t> &numbers, size_t most);
  void changeConstant(tfg::ConstantT &constant);
  void changeType();
  void changeSize(tfg::SizeT &size);
  void changePlace();
  void changeEntry(tfg::EntryT &entry);
  void changeDeclaration();
  int64_t number() { return draw.of(kNumbers); }
  uint32_t type() { return uint32_t(draw.below(graph.types.size() + 1)); }

  tfg::GraphT &graph;
  Draw &draw;
  std::vector<Nodes *> lists;
  std::vector<tfg::NodeT *> nodes;
  std::vector<tfg::AttributeT *> attributes;
};

} // namespace

void Mutation::collect(Attributes &list) {
  for (auto &attribute : list) {
    attributes.push_back(attribute.get());
    if (auto *values = attribute->value.AsAttributeList())
      collect(values->values);
    else if (auto *entries = attribute->value.AsDictionary())
      collect(entries->entries);
  }
}

void Mutation::collect(Nodes &found) {
  lists.push_back(&found);
  for (auto &node : found) {
    nodes.push_back(node.get());
    collect(node->attributes);
    for (auto &region : node->regions)
      collect(region->nodes);
  }
}

void Mutation::collect() {
  for (auto &entry : graph.entries)
    collect(entry->nodes);
  for (auto &declaration : graph.declarations)
    if (auto *node = declaration->declared.AsNode()) {
      nodes.push_back(node);
      collect(node->attributes);
    }
}

void Mutation::changeNumbers(std::vector<uint32_t> &numbers, size_t most) {
  size_t at = draw.below(numbers.size() + 1);
  uint32_t value = uint32_t(draw.below(most + 1));
  if (at == numbers.size() || draw.chance(15))
    numbers.insert(numbers.begin() + ptrdiff_t(at), value);
  else if (draw.chance(20))
    numbers.erase(numbers.begin() + ptrdiff_t(at));
  else
    numbers[at] = draw.chance(5) ? UINT32_MAX : value;
}

void Mutation::changeConstant(tfg::ConstantT &constant) {
  switch (draw.below(6)) {
  case 0:
    constant.type = type();
    return;
  case 1:
    constant.data.resize(draw.below(40));
    return;
  case 2:
    constant.splat = !constant.splat;
    return;
  case 3:
    constant.offset = uint64_t(number());
    return;
  case 4:
    constant.bytes = uint64_t(number());
    return;
  default:
    constant.file = draw.chance(50) ? "none.safetensors" : "../x.npy";
  }
}

void Mutation::changeSize(tfg::SizeT &size) {
  if (draw.chance(50))
    size.formula = draw.of(kFormulas);
  else
    size = {};
  size.value = number();
}

void Mutation::changeAttribute(tfg::AttributeT &attribute) {
  tfg::AttributeValueUnion &value = attribute.value;
  if (draw.chance(30))
    value = draw.of(attributes)->value;
  else if (auto *integer = value.AsIntValue())
    integer->value = number();
  else if (auto *real = value.AsFloatValue())
    real->value = draw.chance(50) ? double(number()) : std::numeric_limits<double>::quiet_NaN();
  else if (auto *integers = value.AsIntList())
    integers->values.insert(integers->values.begin(), number());
  else if (auto *flag = value.AsBoolValue())
    flag->value = !flag->value;
  else if (auto *named = value.AsTypeValue())
    named->type = type();
  else if (auto *sizes = value.AsSizeList(); sizes && !sizes->sizes.empty())
    changeSize(*draw.of(sizes->sizes));
  else if (auto *constant = value.AsConstantValue(); constant && constant->value)
    changeConstant(*constant->value);
  else if (auto *list = value.AsAttributeList(); list && !list->values.empty())
    list->values.pop_back();
  else
    value = draw.of(attributes)->value;
}

void Mutation::changeAttributes(tfg::NodeT &node) {
  size_t at = draw.below(node.attributes.size() + 1);
  if (at == node.attributes.size()) {
    if (!attributes.empty())
      node.attributes.push_back(std::make_unique<tfg::AttributeT>(*draw.of(attributes)));
  } else if (draw.chance(20)) {
    node.attributes.erase(node.attributes.begin() + ptrdiff_t(at));
  } else {
    changeAttribute(*node.attributes[at]);
  }
}

void Mutation::changeNode(tfg::NodeT &node) {
  size_t values = graph.entries.empty() ? 0 : draw.of(graph.entries)->values.size();
  switch (draw.below(8)) {
  case 0:
    node.operation = draw.of(dfg::allOps()).name.str();
    return;
  case 1:
    return changeNumbers(node.results, values);
  case 2:
    if (!node.regions.empty() && draw.chance(50))
      node.regions.pop_back();
    else if (tfg::NodeT *other = draw.of(nodes); !other->regions.empty())
      node.regions.push_back(std::make_unique<tfg::RegionT>(*other->regions.front()));
    return;
  case 3:
    node.place = int32_t(draw.below(graph.places.size() + 2)) - 1;
    return;
  case 4:
  case 5:
    return changeAttributes(node);
  default:
    return changeNumbers(node.operands, values);
  }
}

void Mutation::changeList(Nodes &list) {
  if (list.empty())
    return;
  size_t at = draw.below(list.size());
  switch (draw.below(4)) {
  case 0:
    std::swap(list[at], list[draw.below(list.size())]);
    return;
  case 1:
    list.erase(list.begin() + ptrdiff_t(at));
    return;
  default:
    list.insert(list.begin() + ptrdiff_t(at), std::make_unique<tfg::NodeT>(*draw.of(nodes)));
  }
}

void Mutation::changeType() {
  if (graph.types.empty())
    return;
  tfg::TypeT &changed = *draw.of(graph.types);
  static constexpr const char *kElements[] = {"f32", "f64", "f16", "bf16", "i8", "i16",
                                              "i32", "i64", "u8",  "bool", "f31"};
  switch (draw.below(4)) {
  case 0:
    changed.kind = tfg::TypeKind(draw.below(5));
    return;
  case 1:
    changed.element = draw.of(kElements);
    return;
  case 2:
    if (changed.sizes.empty() || draw.chance(30))
      changed.sizes.push_back(std::make_unique<tfg::SizeT>());
    changeSize(*draw.of(changed.sizes));
    return;
  default:
    if (!changed.sizes.empty())
      changed.sizes.pop_back();
  }
}

void Mutation::changePlace() {
  if (graph.places.empty())
    return;
  tfg::PlaceT &place = *draw.of(graph.places);
  place.kind = tfg::PlaceKind(draw.below(6));
  place.inner = int32_t(draw.below(graph.places.size() + 1)) - 1;
  place.caller = int32_t(draw.below(graph.places.size() + 1)) - 1;
  place.line = uint32_t(number());
}

void Mutation::changeEntry(tfg::EntryT &entry) {
  switch (draw.below(7)) {
  case 0:
    return changeNumbers(entry.values, graph.types.size());
  case 1:
    entry.sizes.push_back(std::make_unique<tfg::NamedSizeT>());
    entry.sizes.back()->name = draw.chance(50) ? "n" : "m";
    entry.sizes.back()->bound = number();
    return;
  case 2:
    entry.facts.push_back(std::make_unique<tfg::FactT>());
    entry.facts.back()->comparison = draw.of(kFacts);
    return;
  case 3:
    entry.initializer = !entry.initializer;
    return;
  case 4:
    if (!entry.feeds.empty())
      draw.of(entry.feeds)->value = uint32_t(draw.below(entry.values.size() + 1));
    return;
  case 5:
    if (!entry.fetches.empty())
      entry.fetches.pop_back();
    return;
  default:
    entry.name = draw.of(graph.entries)->name;
  }
}

void Mutation::changeDeclaration() {
  if (graph.declarations.empty())
    return;
  tfg::DeclarationT &declaration = *draw.of(graph.declarations);
  tfg::VariableT *variable = declaration.declared.AsVariable();
  if (!variable || draw.chance(20)) {
    graph.declarations.push_back(std::make_unique<tfg::DeclarationT>(declaration));
  } else if (draw.chance(50)) {
    variable->type = type();
  } else {
    variable->initial = std::make_unique<tfg::ConstantT>();
    variable->initial->type = variable->type;
    changeConstant(*variable->initial);
  }
}

void Mutation::change() {
  if (nodes.empty() || attributes.empty() || graph.entries.empty())
    return;
  switch (draw.below(9)) {
  case 0:
    return changeType();
  case 1:
    return changePlace();
  case 2:
    return changeEntry(*draw.of(graph.entries));
  case 3:
    return changeDeclaration();
  case 4:
    return changeList(*draw.of(lists));
  default:
    return changeNode(*draw.of(nodes));
  }
}

std::string mutateFlatBuffer(StringRef input, Corpus corpus, Draw &draw) {
  const auto *begin = reinterpret_cast<const uint8_t *>(input.data());
  flatbuffers::Verifier verifier(begin, input.size(), /*max_depth=*/600);
  if (!tfg::VerifyGraphBuffer(verifier) || draw.chance(15))
    return mutateBytes(input, corpus, draw);
  std::unique_ptr<tfg::GraphT> graph(tfg::GetGraph(begin)->UnPack());
  StringRef section = input.take_back(std::min<uint64_t>(graph->data_bytes, input.size()));
  // References to nodes are collected again, since a change may remove some.
  for (size_t rounds = 1 + draw.below(4); rounds > 0; --rounds)
    Mutation(*graph, draw).change();
  flatbuffers::FlatBufferBuilder builder;
  tfg::FinishGraphBuffer(builder, tfg::Graph::Pack(builder, graph.get()));
  std::string bytes(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  bytes.resize(alignTo(bytes.size(), 64));
  return bytes + section.str();
}

} // namespace tfc::fuzz
