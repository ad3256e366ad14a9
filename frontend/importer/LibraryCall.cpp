// Operations that are functions in the shipped graph source, which defines what they compute and
// declares their inputs and attributes.

#include "frontend/importer/LibraryCall.h"

#include "dialects/dfg/DataChecks.h"
#include "frontend/importer/Signature.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

using Kind = text::LibraryCalls::Kind;
using Argument = text::LibraryCalls::Argument;
using Parameter = text::LibraryCalls::Parameter;
using CallValue = text::LibraryCalls::Value;

/// Returns the attribute of a node that has the name of a parameter, or std::nullopt after an
/// error.
static std::optional<CallValue> attributeFor(NodeBuilder &node, StringRef name, Kind kind) {
  const Attr &attr = node.node.attr(name);
  switch (kind) {
  case Kind::Float:
    return attr.real;
  case Kind::Bool:
    return attr.number != 0;
  case Kind::String:
    return attr.text;
  case Kind::Int:
    return dfg::Shape{dfg::DimExpr(attr.number)};
  case Kind::Group:
    if (attr.kind == AttrKind::Floats)
      return SmallVector<double>(attr.reals.begin(), attr.reals.end());
    if (attr.kind == AttrKind::Strings)
      return SmallVector<std::string>(attr.texts.begin(), attr.texts.end());
    return dfg::Shape(attr.numbers.begin(), attr.numbers.end());
  case Kind::DType:
    if (Type type = node.dtype(name))
      return type;
    return std::nullopt;
  case Kind::Tensor:
    return node.builder().constant(attr.tensor, node.location());
  case Kind::Tensors:
    break;
  }
  return std::nullopt;
}

/// Returns input `i` as a tensor, or as numbers that are known at compile time.
static std::optional<CallValue> inputFor(NodeBuilder &node, unsigned i, Kind kind) {
  if (kind == Kind::Tensor) {
    Value value = node.valueOf(node.in(i));
    return value ? std::optional<CallValue>(value) : std::nullopt;
  }
  if (kind == Kind::Bool) {
    std::optional<int64_t> flag = node.integer(i);
    return flag ? std::optional<CallValue>(*flag != 0) : std::nullopt;
  }
  return node.dims(i);
}

/// Returns all inputs from `first` on.
static std::optional<CallValue> inputsFor(NodeBuilder &node, unsigned first) {
  SmallVector<Value> values = node.valuesOf(node.allInputs(first));
  return llvm::is_contained(values, Value()) ? std::nullopt : std::optional<CallValue>(values);
}

/// Returns true if an input can be the argument of such a parameter.
static bool isInputKind(Kind kind) {
  return kind != Kind::Float && kind != Kind::String && kind != Kind::DType;
}

/// Returns true if the parameter is bound to the attribute of its name.
static bool isAttribute(const Node &node, const Parameter &parameter) {
  if (!node.has(parameter.name) || parameter.kind == Kind::Tensors)
    return false;
  const Attr &attr = node.attr(parameter.name);
  // No format has a type with the number 0.
  if (parameter.kind == Kind::DType && attr.kind == AttrKind::Int && attr.number == 0)
    return false;
  return parameter.kind != Kind::Tensor || attr.tensor;
}

std::optional<SmallVector<NodeValue>> LibraryCall::call(StringRef function,
                                                        ArrayRef<Argument> arguments) {
  size_t before = node.getOps().size();
  Location location = dfg::nameSite(node.location(), function);
  auto made = node.record([&] { return library.call(function, arguments, node.location()); });
  for (Operation *op : node.getOps().drop_front(before))
    op->walk([&](Operation *inner) { inner->setLoc(location); });
  if (!made)
    return std::nullopt;
  return llvm::map_to_vector(
      *made, [](Value value) { return NodeValue(value, dfg::evaluateSizes(value)); });
}

std::optional<Argument> LibraryCall::argumentFor(const Parameter &parameter, unsigned &input) {
  std::optional<CallValue> value;
  if (isAttribute(node.node, parameter))
    value = attributeFor(node, parameter.name, parameter.kind);
  else if (parameter.kind == Kind::Tensors)
    value = inputsFor(node, std::exchange(input, node.numInputs()));
  else if (isInputKind(parameter.kind))
    value = inputFor(node, input++, parameter.kind);
  else
    node.error() << "expected an attribute '" << parameter.name << "' [graph-edge]";
  return value ? std::optional(Argument{parameter.name, *value}) : std::nullopt;
}

bool LibraryCall::takesDefault(const Parameter &parameter, unsigned &input) {
  if (!isInputKind(parameter.kind))
    return true;
  bool isAbsent = !node.hasInput(input);
  input += isAbsent;
  return isAbsent;
}

std::optional<SmallVector<NodeValue>>
LibraryCall::on(StringRef function, ArrayRef<NodeValue> tensors, ArrayRef<Argument> named) {
  SmallVector<Argument> arguments(named);
  for (const Parameter &parameter : library.parameters(function)) {
    std::optional<CallValue> value;
    if (llvm::any_of(named, [&](const Argument &given) { return given.name == parameter.name; }))
      continue;
    if (isAttribute(node.node, parameter))
      value = attributeFor(node, parameter.name, parameter.kind);
    else if (parameter.hasDefault)
      continue;
    else if (Value tensor = tensors.empty() ? Value() : node.valueOf(tensors.consume_front()))
      value = tensor;
    if (!value)
      return std::nullopt;
    arguments.push_back({parameter.name, *value});
  }
  return call(function, arguments);
}

NodeValue LibraryCall::compute(StringRef function, ArrayRef<NodeValue> tensors,
                               ArrayRef<Argument> named) {
  std::optional<SmallVector<NodeValue>> results = on(function, tensors, named);
  return results ? results->front() : NodeValue();
}

Outcome LibraryCall::build(StringRef function) {
  SmallVector<Argument> arguments;
  unsigned input = 0;
  for (const Parameter &parameter : library.parameters(function)) {
    if (parameter.hasDefault && !isAttribute(node.node, parameter) &&
        takesDefault(parameter, input))
      continue;
    std::optional<Argument> argument = argumentFor(parameter, input);
    if (!argument)
      return Outcome::Failed;
    arguments.push_back(std::move(*argument));
  }
  return node.doneWith(call(function, arguments));
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Returns the kind of attribute that a parameter takes; groups take several kinds of lists.
static AttrKind attrKindOf(Kind kind, AttrKind given) {
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
    return given == AttrKind::Floats || given == AttrKind::Strings ? given : AttrKind::Ints;
  case Kind::Tensor:
  case Kind::Tensors:
    break;
  }
  return AttrKind::Tensor;
}

void SignatureChecker::checkCall(ArrayRef<Parameter> parameters) {
  int64_t fewest = 0, input = 0;
  for (const Parameter &parameter : parameters) {
    if (isAttribute(node, parameter) || !isInputKind(parameter.kind)) {
      AttrKind kind = attrKindOf(parameter.kind, node.attr(parameter.name).kind);
      checkAttr({parameter.name, kind, !parameter.hasDefault});
      continue;
    }
    if (parameter.kind == Kind::Tensors)
      break;
    ++input;
    if (!parameter.hasDefault) {
      fewest = input;
      if (is_contained(absent, unsigned(input - 1)))
        error() << "a tensor as input " << input - 1 << ", but it is absent [graph-edge]";
    }
  }
  // Inputs beyond the parameters are ignored.
  if (inputCount < fewest)
    error() << "at least " << fewest << (fewest == 1 ? " input" : " inputs") << ", but has "
            << inputCount << " [graph-edge]";
}

} // namespace tfc::importer
