// The only check of nodes against what their operations declare. It runs before all rules, which
// can therefore rely on the declared inputs and attributes.

#include "frontend/importer/Signature.h"
#include "frontend/Fmt.h"

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
  case AttrKind::Graph:
    return "a graph";
  case AttrKind::EmptyList:
    return "an empty list";
  case AttrKind::Floats:
    return "a list of floats";
  case AttrKind::Ints:
    return "a list of ints";
  case AttrKind::Shapes:
    return "a list of shapes";
  case AttrKind::Strings:
    return "a list of strings";
  case AttrKind::Types:
    return "a list of types";
  case AttrKind::OtherList:
    return "a list";
  }
  return "unknown";
}

static bool isList(AttrKind kind) { return kind >= AttrKind::EmptyList; }

bool SignatureChecker::isOfKind(AttrKind kind, AttrKind expected) const {
  if (expected == AttrKind::Type && typesAreInts)
    return kind == AttrKind::Int;
  return kind == expected || (kind == AttrKind::EmptyList && isList(expected));
}

std::optional<int64_t> countOf(const Node &node, StringRef name) {
  const Attr &attr = node.attr(name);
  if (attr.kind == AttrKind::Int)
    return attr.number;
  return isList(attr.kind) ? std::optional<int64_t>(attr.size()) : std::nullopt;
}

static StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

std::string toText(const Arity &arity) {
  if (arity.factor == 0) {
    std::string most = arity.most > arity.least ? fmt::format("-{}", arity.most) : "";
    return fmt::format("{}{}{}", arity.least, most, arity.isVariadic ? "+" : "");
  }
  std::string factor = arity.factor > 1 ? std::to_string(arity.factor) : "";
  std::string least = arity.least > 0 ? fmt::format("+{}", arity.least) : "";
  return factor + std::string(arity.attr) + least;
}

/// "1 input", "2 outputs".
static std::string countText(int64_t count, StringRef noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "at least 2 inputs", "1 to 3 outputs".
static std::string countText(const Arity &arity, StringRef noun) {
  if (arity.isVariadic)
    return "at least " + countText(arity.least, noun);
  std::string most = countText(arity.most, noun);
  return arity.least == arity.most ? most : std::to_string(arity.least) + " to " + most;
}

bool declares(const Signature &signature, StringRef name) {
  return any_of(ArrayRef(signature.attrs).take_front(signature.attrCount),
                [&](const AttrRule &attr) { return toRef(attr.name) == name; });
}

std::optional<int64_t> outputCount(const Node &node, const Signature &signature) {
  const Arity &arity = signature.outputs;
  if (arity.isVariadic)
    return std::nullopt;
  if (arity.factor == 0)
    return arity.most;
  std::optional<int64_t> count = countOf(node, toRef(arity.attr));
  return count ? std::optional(arity.factor * *count + arity.least) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// SignatureChecker
//===----------------------------------------------------------------------===//

InFlightDiagnostic SignatureChecker::error() {
  return diagnostics.error(location) << "'" << node.op << "' expects ";
}

void SignatureChecker::checkAttr(const AttrRule &attr) {
  StringRef name = toRef(attr.name);
  const Attr &given = node.attr(name);
  if (!node.has(name)) {
    if (attr.isRequired)
      error() << "an attribute '" << name << "' that is " << nameOf(attr.kind)
              << " [graph-attribute]";
  } else if (!isOfKind(given.kind, attr.kind)) {
    error() << "the attribute '" << name << "' to be " << nameOf(attr.kind) << ", but it is "
            << nameOf(given.kind) << " [graph-attribute]";
  } else if (given.number < attr.least) {
    error() << "the attribute '" << name << "' to be at least " << attr.least << ", but got "
            << given.number << " [graph-attribute]";
  }
}

void SignatureChecker::checkNames(llvm::function_ref<bool(StringRef)> isDeclared) {
  for (const auto &[name, attr] : node.attrs)
    if (!isDeclared(name))
      diagnostics.error(location) << "'" << node.op << "' has no attribute '" << name
                                  << "' that tfc knows [graph-attribute]";
}

void SignatureChecker::checkCount(const Arity &arity, int64_t given, StringRef noun) {
  if (given < arity.least || (given > arity.most && !arity.isVariadic))
    error() << countText(arity, noun) << ", but has " << given << " [graph-edge]";
}

/// If the attribute is absent, any number is accepted that it could specify.
void SignatureChecker::checkCounted(const Arity &arity, int64_t least, int64_t given,
                                    StringRef noun) {
  StringRef name = toRef(arity.attr);
  std::optional<int64_t> count = countOf(node, name);
  auto fail = [&](const Twine &expected) {
    error() << expected << ", but has " << given << " [graph-edge]";
  };
  if (node.has(name) && !isList(node.attr(name).kind) &&
      (!count || *count < least || *count > kMaxCounted)) {
    error() << "the attribute '" << name << "' to be an int from " << least << " to " << kMaxCounted
            << " [graph-attribute]";
    return;
  }
  int64_t fewest = arity.factor * count.value_or(least) + arity.least;
  if (count && given != fewest)
    fail(fmt::format("{}, as its attribute '{}' specifies", countText(fewest, noun), name));
  else if (!count && given < fewest)
    fail(fmt::format("at least {}", countText(fewest, noun)));
  else if (!count && (given - arity.least) % arity.factor != 0)
    fail(fmt::format("a multiple of {} {}s", arity.factor, noun));
}

void SignatureChecker::checkAbsent(int64_t first, int64_t end) {
  for (unsigned input : absent)
    if (input < first || input >= end)
      error() << "a tensor as input " << input << ", but it is absent [graph-edge]";
}

void SignatureChecker::checkOutputAttr(const Arity &arity) {
  std::optional<int64_t> count = countOf(node, toRef(arity.attr));
  std::optional<int64_t> outputs =
      count ? std::optional(arity.factor * *count + arity.least) : std::nullopt;
  if (outputs && (*outputs < 0 || *outputs > kMaxCounted))
    error() << "the attribute '" << toRef(arity.attr) << "' to be from 0 to " << kMaxCounted
            << ", but got " << *outputs << " [graph-attribute]";
}

void SignatureChecker::check(const Signature &signature) {
  const Arity &inputs = signature.inputs;
  ArrayRef<AttrRule> attrs = ArrayRef(signature.attrs).take_front(signature.attrCount);
  const AttrRule *counting = llvm::find_if(
      attrs, [&](const AttrRule &attr) { return inputs.factor != 0 && attr.name == inputs.attr; });
  if (inputs.factor == 0) {
    checkCount(inputs, inputCount, "input");
    checkAbsent(inputs.least, inputs.most);
  } else {
    int64_t least = counting == attrs.end() ? 0 : std::max<int64_t>(counting->least, 0);
    checkCounted(inputs, least, inputCount, "input");
    checkAbsent(0, 0);
  }
  for (const AttrRule &attr : attrs)
    if (&attr != counting || !node.has(toRef(attr.name))) // checked with the inputs
      checkAttr(attr);
  if (signature.outputs.factor != 0)
    checkOutputAttr(signature.outputs);
}

void SignatureChecker::checkOutputs(const Signature &signature, int64_t outputCount) {
  if (signature.outputs.factor == 0)
    checkCount(signature.outputs, outputCount, "output");
  else
    checkCounted(signature.outputs, 0, outputCount, "output");
}

} // namespace tfc::importer
