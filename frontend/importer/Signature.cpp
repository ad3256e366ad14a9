// The only check of nodes against what their operations declare. It runs before all rules, which
// can therefore rely on the declared inputs and attributes.

#include "frontend/importer/Signature.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

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
  case AttrKind::Floats:
    return "a list of floats";
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

/// Returns true if an attribute of kind `kind` is acceptable where `expected` is declared.
static bool isOfKind(AttrKind kind, AttrKind expected) {
  return kind == expected || (kind == AttrKind::EmptyList && isList(expected));
}

std::optional<int64_t> countOf(const Node &node, StringRef name) {
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

std::optional<int64_t> outputCount(const Node &node, const Signature &signature) {
  const Arity &arity = signature.outputs;
  if (arity.factor == 0)
    return arity.base;
  std::optional<int64_t> count = countOf(node, toRef(arity.attr));
  return count ? std::optional(arity.factor * *count + arity.base) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// SignatureChecker
//===----------------------------------------------------------------------===//

InFlightDiagnostic SignatureChecker::error() {
  return diagnostics.error(location) << "'" << node.op << "' expects ";
}

void SignatureChecker::checkAttr(StringRef name, AttrKind kind, bool isRequired) {
  AttrKind given = node.attr(name).kind;
  if (!node.has(name)) {
    if (isRequired)
      error() << "an attribute '" << name << "' that is " << nameOf(kind) << " [graph-attribute]";
  } else if (!isOfKind(given, kind)) {
    error() << "the attribute '" << name << "' to be " << nameOf(kind) << ", but it is "
            << nameOf(given) << " [graph-attribute]";
  }
}

void SignatureChecker::checkFewest(int64_t fewest, int64_t given) {
  if (given < fewest)
    error() << countText("at least ", fewest) << ", but has " << given << " [graph-edge]";
}

/// If the counting attribute is absent, any number is accepted, but TensorFlow's N is at least 1.
void SignatureChecker::checkArity(const Arity &arity, int64_t given) {
  int64_t least = arity.base;
  auto fail = [&](const Twine &expected) {
    error() << expected << ", but has " << given << " [graph-edge]";
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
    error() << "the attribute '" << name << "' to be an int from 1 to " << kMaxCounted
            << " [graph-attribute]";
    return;
  }
  if (count && given != arity.factor * *count + least)
    return fail(countText("", arity.factor * *count + least) + ", as its attribute '" + name +
                "' specifies");
  if (count)
    return;
  int64_t fewest = least + (name == "N" ? arity.factor : 0);
  if (given < fewest)
    fail(countText("at least ", fewest));
  else if ((given - least) % arity.factor != 0)
    fail("a multiple of " + Twine(arity.factor) + " inputs");
}

void SignatureChecker::check(const Signature &signature, int64_t inputCount) {
  checkArity(signature.inputs, inputCount);
  for (const AttrRule &attr : ArrayRef(signature.attrs).take_front(signature.attrCount))
    checkAttr(toRef(attr.name), attr.kind, attr.isRequired);
  std::optional<int64_t> outputs = outputCount(node, signature);
  if (outputs && (*outputs < 0 || *outputs > kMaxCounted))
    error() << "the attribute '" << toRef(signature.outputs.attr) << "' to be from 0 to "
            << kMaxCounted << ", but got " << *outputs << " [graph-attribute]";
}

} // namespace tfc::importer
