// The one check of nodes against what their operations declare. It comes before all rules, which
// then meet only nodes with the inputs and attributes that they ask for.

#include "frontend/tensorflow/Importer.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// More inputs or outputs than this are a mistake.
static constexpr int64_t kMaxCounted = 1 << 16;

static StringRef nameOf(AttrKind kind) {
  switch (kind) {
  case AttrKind::None:
    return "empty";
  case AttrKind::Bool:
    return "a bool";
  case AttrKind::Float:
    return "a float";
  case AttrKind::Int:
    return "an int";
  case AttrKind::Shape:
    return "a shape";
  case AttrKind::String:
    return "a string";
  case AttrKind::Tensor:
    return "a tensor";
  case AttrKind::Type:
    return "a type";
  case AttrKind::EmptyList:
    return "an empty list";
  case AttrKind::Ints:
    return "a list of ints";
  case AttrKind::Shapes:
    return "a list of shapes";
  case AttrKind::Types:
    return "a list of types";
  case AttrKind::OtherList:
    return "a list";
  }
  return "unknown";
}

static bool isList(AttrKind kind) { return kind >= AttrKind::EmptyList; }

/// Whether an attribute that should be of the kind `expected` is.
static bool isOfKind(AttrKind kind, AttrKind expected) {
  return kind == expected || (kind == AttrKind::EmptyList && isList(expected));
}

/// What the attribute of an arity counts; nothing where it is absent or no count.
static std::optional<int64_t> countOf(const Node &node, StringRef name) {
  const Attr &attr = node.attr(name);
  if (attr.kind == AttrKind::Int)
    return attr.number;
  return isList(attr.kind) ? std::optional<int64_t>(attr.size()) : std::nullopt;
}

static StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

/// "1 input", "at least 2 inputs".
static std::string countText(StringRef before, int64_t count) {
  return (before + Twine(count) + (count == 1 ? " input" : " inputs")).str();
}

bool EntryBuilder::checkAttr(unsigned index, StringRef name, AttrKind kind, bool isRequired) {
  const Node &node = graph.nodes[index];
  if (!node.has(name)) {
    if (isRequired)
      error(index) << "'" << node.op << "' expects an attribute '" << name << "' that is "
                   << nameOf(kind) << " [graph-attribute]";
    return !isRequired;
  }
  AttrKind given = node.attr(name).kind;
  if (isOfKind(given, kind))
    return true;
  error(index) << "'" << node.op << "' expects the attribute '" << name << "' to be "
               << nameOf(kind) << ", but it is " << nameOf(given) << " [graph-attribute]";
  return false;
}

/// Where the attribute that counts is absent, what is there is taken, but TensorFlow's N is 1 at
/// least.
void EntryBuilder::checkArity(unsigned index, const Signature &signature) {
  const Node &node = graph.nodes[index];
  const Arity &arity = signature.inputs;
  int64_t given = node.inputs.size(), least = arity.base;
  auto fail = [&](const Twine &expected) {
    error(index) << "'" << node.op << "' expects " << expected << ", but has " << given
                 << " [graph-edge]";
  };
  if (arity.factor == 0) {
    if (arity.more == Arity::kAny ? given < least : given != least)
      fail(countText(arity.more == Arity::kAny ? "at least " : "", least));
    return;
  }
  StringRef name = toRef(arity.attr);
  std::optional<int64_t> count = countOf(node, name);
  bool isCounted = node.has(name) && !isList(node.attr(name).kind);
  if (isCounted && (!count || *count < 1 || *count > kMaxCounted)) {
    error(index) << "'" << node.op << "' expects the attribute '" << name
                 << "' to be an int from 1 to " << kMaxCounted << " [graph-attribute]";
    return;
  }
  if (count && given != arity.factor * *count + least)
    return fail(countText("", arity.factor * *count + least) + ", as its attribute '" + name +
                "' says");
  if (count)
    return;
  int64_t fewest = least + (name == "N" ? arity.factor : 0);
  if (given < fewest)
    fail(countText("at least ", fewest));
  else if ((given - least) % arity.factor != 0)
    fail("a multiple of " + Twine(arity.factor) + " inputs");
}

std::optional<int64_t> EntryBuilder::outputCount(unsigned index) const {
  const Node &node = graph.nodes[index];
  const OpRule *rule = findRule(node.op);
  if (!rule)
    return node.op == "Placeholder" ? std::optional<int64_t>(1) : std::nullopt;
  const Arity &arity = rule->signature.outputs;
  if (arity.factor == 0)
    return arity.base;
  std::optional<int64_t> count = countOf(node, toRef(arity.attr));
  return count ? std::optional(arity.factor * *count + arity.base) : std::nullopt;
}

void EntryBuilder::checkSignature(unsigned index) {
  const Node &node = graph.nodes[index];
  const OpRule *rule = findRule(node.op);
  if (!rule) {
    if (functions.declares(node.op))
      checkCall(index);
    return;
  }
  checkArity(index, rule->signature);
  for (const AttrRule &attr : ArrayRef(rule->signature.attrs).take_front(rule->signature.attrCount))
    checkAttr(index, toRef(attr.name), attr.kind, attr.isRequired);
  std::optional<int64_t> outputs = outputCount(index);
  if (outputs && (*outputs < 0 || *outputs > kMaxCounted))
    error(index) << "'" << node.op << "' expects the attribute '"
                 << toRef(rule->signature.outputs.attr) << "' to be from 0 to " << kMaxCounted
                 << ", but got " << *outputs << " [graph-attribute]";
}

static AttrKind attrKindOf(text::LibraryCalls::Kind kind) {
  using Kind = text::LibraryCalls::Kind;
  switch (kind) {
  case Kind::Int:
    return AttrKind::Int;
  case Kind::Float:
    return AttrKind::Float;
  case Kind::Bool:
    return AttrKind::Bool;
  case Kind::String:
    return AttrKind::String;
  case Kind::DType:
    return AttrKind::Type;
  case Kind::Group:
    return AttrKind::Ints;
  case Kind::Tensor:
    break;
  }
  return AttrKind::Tensor;
}

/// An operation in graph source declares itself: a parameter is the attribute of its name, the
/// others are the inputs in their order.
void EntryBuilder::checkCall(unsigned index) {
  const Node &node = graph.nodes[index];
  int64_t fewest = 0, given = node.inputs.size();
  for (const auto &parameter : functions.parameters(node.op)) {
    AttrKind kind = attrKindOf(parameter.kind);
    bool isOnlyAttr = kind == AttrKind::Float || kind == AttrKind::String || kind == AttrKind::Type;
    if (isOnlyAttr || (kind != AttrKind::Tensor && node.has(parameter.name))) {
      checkAttr(index, parameter.name, kind, !parameter.hasDefault);
      continue;
    }
    fewest += !parameter.hasDefault;
  }
  // Inputs beyond the parameters are those that nothing depends on.
  if (given < fewest)
    error(index) << "'" << node.op << "' expects " << countText("at least ", fewest) << ", but has "
                 << given << " [graph-edge]";
}

/// Outputs that are read must be there.
void EntryBuilder::checkEdges(unsigned index) {
  for (Edge input : graph.nodes[index].inputs)
    if (!fed.count(input) && !isOutput(input))
      error(index) << "its input '" << graph.edgeName(input) << "' is no output of '"
                   << graph.nodes[input.node].op << "' [graph-edge]";
}

bool EntryBuilder::isOutput(Edge edge) const {
  std::optional<int64_t> count = outputCount(edge.node);
  return !count || edge.output < *count;
}

bool EntryBuilder::checkSignatures() {
  for (unsigned index = 0; index < graph.nodes.size(); ++index)
    if (facts.isNeeded[index])
      checkSignature(index);
  for (unsigned index = 0; index < graph.nodes.size(); ++index)
    if (facts.isNeeded[index])
      checkEdges(index);
  for (Edge fetch : fetches)
    if (!fed.count(fetch) && !isOutput(fetch))
      error(fetch.node) << "there is no output " << fetch.output << " [graph-edge]";
  return !hasErrors;
}

} // namespace tfc::tensorflow
