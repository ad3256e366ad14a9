// Operations that are functions of the shipped file tensorflow.graph: what they compute stands
// there.

#include "frontend/tensorflow/Importer.h"
#include "frontend/text/elaborate/LibraryCalls.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using Kind = text::LibraryCalls::Kind;
using Argument = text::LibraryCalls::Argument;

/// The attribute of a node that has the name of a parameter; null, after an error, for a dtype that
/// there is not.
static std::optional<text::LibraryCalls::Value> attributeFor(NodeBuilder &node, StringRef name,
                                                             Kind kind) {
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
    return dfg::Shape(attr.numbers.begin(), attr.numbers.end());
  case Kind::DType:
    if (Type type = node.dtype(name))
      return type;
    return std::nullopt;
  case Kind::Tensor:
    break;
  }
  return std::nullopt;
}

/// Input `i` as a tensor, or as numbers that are known when the graph is compiled.
static std::optional<text::LibraryCalls::Value> inputFor(NodeBuilder &node, unsigned i, Kind kind) {
  if (kind == Kind::Tensor) {
    Value value = node.in(i);
    return value ? std::optional<text::LibraryCalls::Value>(value) : std::nullopt;
  }
  if (kind == Kind::Bool) {
    std::optional<int64_t> flag = node.integer(i);
    return flag ? std::optional<text::LibraryCalls::Value>(*flag != 0) : std::nullopt;
  }
  return node.dims(i);
}

/// Whether an input may hold what the parameter takes.
static bool isInputKind(Kind kind) {
  return kind != Kind::Float && kind != Kind::String && kind != Kind::DType;
}

/// A parameter is the attribute of its name; the others are the inputs in their order.
static Outcome buildCall(NodeBuilder &node, const OpRule &) {
  text::LibraryCalls &functions = node.entry.functions;
  SmallVector<Argument> arguments;
  unsigned input = 0;
  for (const auto &parameter : functions.parameters(node.node.op)) {
    bool isAttribute = parameter.kind != Kind::Tensor && node.node.has(parameter.name);
    if (!isAttribute && parameter.hasDefault && input >= node.numInputs())
      continue;
    if (!isAttribute && !isInputKind(parameter.kind))
      return node.fail("expected an attribute '" + parameter.name + "' [graph-edge]");
    auto value = isAttribute ? attributeFor(node, parameter.name, parameter.kind)
                             : inputFor(node, input++, parameter.kind);
    if (!value)
      return Outcome::Failed;
    arguments.push_back({parameter.name, *value});
  }
  std::optional<SmallVector<Value>> results = node.call(node.node.op, arguments);
  return results ? node.done(*results) : Outcome::Failed;
}

/// The function declares the inputs and attributes itself.
static constexpr OpRule kFunctionRule = {"", "1+ -> 1", buildCall};

const OpRule *EntryBuilder::ruleOf(StringRef op) {
  const OpRule *rule = findRule(op);
  return rule || !functions.declares(op) ? rule : &kFunctionRule;
}

std::optional<SmallVector<Value>> NodeBuilder::call(StringRef function,
                                                    ArrayRef<Argument> arguments) {
  size_t before = ops.size();
  auto results = record([&] { return entry.functions.call(function, arguments, location()); });
  for (Operation *op : ArrayRef(ops).drop_front(before))
    op->walk([&](Operation *inner) { inner->setLoc(location()); });
  entry.hasErrors |= !results;
  return results;
}

} // namespace tfc::tensorflow
