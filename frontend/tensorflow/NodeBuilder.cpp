// What rules use to build a node.

#include "dialects/dfg/OpTable.h"
#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

const OpRule *findRule(StringRef op) {
  static const StringMap<const OpRule *> kRules = [] {
    StringMap<const OpRule *> rules;
    for (auto family : {controlRules(), elementwiseRules(), indexRules(), listRules(),
                        matrixRules(), neuralRules(), queueRules(), randomRules(), reductionRules(),
                        shapeRules(), sliceRules(), stateRules(), windowRules()})
      for (const OpRule &rule : family)
        rules[rule.op] = &rule;
    return rules;
  }();
  return kRules.lookup(op);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Value NodeBuilder::anyIn(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (!input) {
    error() << "expected at least " << i + 1 << " inputs, but got " << node.inputs.size()
            << " [graph-edge]";
    return {};
  }
  std::optional<unsigned> reference = entry.handles.reference(*input);
  if (!reference || entry.fed.count(*input))
    return entry.valueOf(*input);
  if (StringRef(node.op).starts_with("Ref"))
    return entry.handleValue(*input);
  // A reference is read where it is used.
  if (*reference != input->node)
    follow(*input);
  return readVariable(entry.graph.nodes[*reference]);
}

Value NodeBuilder::in(unsigned i) {
  Value value = anyIn(i);
  if (!value || isa<RankedTensorType>(value.getType()))
    return value;
  error() << "expected a tensor, but got a TensorArray for input " << i << " [graph-edge]";
  return {};
}

Value NodeBuilder::readVariable(const Node &variable) {
  auto found = entry.symbols.variables.find(variableName(variable));
  if (found == entry.symbols.variables.end())
    return {};
  return record([&] { return builder().read(found->first, found->second, location()); });
}

SmallVector<Value> NodeBuilder::allInputs(unsigned from, unsigned dropped) {
  SmallVector<Value> values;
  for (unsigned i = from; i + dropped < node.inputs.size(); ++i)
    values.push_back(in(i));
  return values;
}

RankedTensorType NodeBuilder::typeOf(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (input && !entry.fed.count(*input))
    if (auto variable = entry.handles.reference(*input))
      return entry.symbols.variables[variableName(entry.graph.nodes[*variable])];
  if (const SizeTensor *known = sizes(i))
    return known->type();
  Value value = in(i);
  return value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

void NodeBuilder::followInput(unsigned i) {
  if (std::optional<Edge> input = edge(i); input && !entry.fed.count(*input))
    follow(*input);
}

const SizeTensor *NodeBuilder::sizes(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (!input)
    return nullptr;
  if (auto found = entry.fedSizes.find(*input); found != entry.fedSizes.end())
    return &found->second;
  const auto &known = entry.states[input->node].sizes;
  if (entry.fed.count(*input) || input->output >= known.size() || !known[input->output])
    return nullptr;
  follow(*input);
  return &*known[input->output];
}

std::optional<dfg::Shape> NodeBuilder::dims(unsigned i) {
  if (const SizeTensor *known = sizes(i))
    return dfg::Shape(known->values);
  if (i < numInputs() && !in(i))
    return std::nullopt;
  error() << "expected the value of input " << i << " to be known when the graph is compiled"
          << " [dynamic-shape]";
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeBuilder::ints(unsigned i) {
  std::optional<dfg::Shape> values = dims(i);
  if (!values)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const dfg::DimExpr &value : *values) {
    if (!value.constant()) {
      error() << "expected the value of input " << i << " to be a number, but got " << value.str()
              << " [dynamic-shape]";
      return std::nullopt;
    }
    numbers.push_back(*value.constant());
  }
  return numbers;
}

std::optional<int64_t> NodeBuilder::integer(unsigned i) {
  std::optional<SmallVector<int64_t>> numbers = ints(i);
  if (!numbers)
    return std::nullopt;
  if (numbers->size() == 1)
    return numbers->front();
  error() << "expected one number for input " << i << ", but got " << numbers->size()
          << " [graph-edge]";
  return std::nullopt;
}

std::optional<unsigned> NodeBuilder::handle(unsigned i) {
  std::optional<Edge> input = edge(i);
  if (!input) {
    error() << "expected a handle as input " << i << " [graph-edge]";
    return std::nullopt;
  }
  std::optional<unsigned> resource = entry.handles.resource(*input);
  if (!resource) {
    error() << "its input " << i << " leads to no resource [graph-edge]";
    return std::nullopt;
  }
  // The handle's own liveness counts where nothing else says in which frame the node is.
  bool isEntered = entry.graph.nodes[input->node].op == "Enter";
  if (input->node != *resource && (!isEntered || (numInputs() == 1 && node.controls.empty())))
    follow(*input);
  return *resource;
}

Type NodeBuilder::dtype(StringRef attr) {
  Type type = elementTypeOf(context(), node.number(attr));
  if (!type)
    error() << "tfc has no tensors of " << dtypeName(node.number(attr)) << " [dtype]";
  return type;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *NodeBuilder::make(StringRef name, ValueRange operands,
                             ArrayRef<NamedAttribute> attributes) {
  if (llvm::any_of(operands, [](Value operand) { return !operand; }))
    return nullptr;
  FailureOr<Operation *> made = record([&] {
    return operands.empty() ? builder().createOutside(name, operands, attributes, location())
                            : builder().create(name, operands, attributes, location());
  });
  if (failed(made))
    entry.hasErrors = true;
  return succeeded(made) ? *made : nullptr;
}

Value NodeBuilder::op(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  Operation *made = make(name, operands, attributes);
  return made ? made->getResult(0) : Value();
}

Value NodeBuilder::outside(StringRef name, ValueRange operands,
                           ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> made = builder().createOutside(name, operands, attributes, location());
  if (failed(made))
    entry.hasErrors = true;
  return succeeded(made) ? (*made)->getResult(0) : Value();
}

Value NodeBuilder::scalar(double value, Type elementType) {
  if (isa<FloatType>(elementType))
    return builder().scalar(value, elementType, location());
  return builder().scalar(int64_t(value), elementType, location());
}

Value NodeBuilder::size(const dfg::DimExpr &value, Type elementType) {
  return builder().size(value, elementType, location());
}

Value NodeBuilder::materialise(const SizeTensor &sizes) {
  if (std::optional<SmallVector<int64_t>> numbers = sizes.constants()) {
    SmallVector<APInt> bits;
    unsigned width = sizes.elementType.getIntOrFloatBitWidth();
    for (int64_t number : *numbers)
      bits.push_back(APInt(64, uint64_t(number)).trunc(width));
    return builder().constant(DenseElementsAttr::get(sizes.type(), bits), location());
  }
  SmallVector<Value> scalars;
  for (const dfg::DimExpr &value : sizes.values)
    scalars.push_back(size(value, sizes.elementType));
  if (sizes.shape.empty() && !scalars.empty())
    return scalars.front();
  Value vector = outside("stack", scalars);
  if (sizes.rank() == 1 || !vector)
    return vector;
  return outside("reshape", vector,
                 dimsAttr("shape", dfg::Shape(sizes.shape.begin(), sizes.shape.end())));
}

Value NodeBuilder::reshape(Value x, ArrayRef<dfg::DimExpr> shape) {
  return op("reshape", x, dimsAttr("shape", shape));
}

Value NodeBuilder::filled(double value, ArrayRef<dfg::DimExpr> shape, Type elementType) {
  Value number = scalar(value, elementType);
  return shape.empty() ? number : outside("broadcast", number, dimsAttr("shape", shape));
}

Value NodeBuilder::broadcast(Value x, ArrayRef<dfg::DimExpr> shape) {
  if (!x || dfg::Shape(shape) == dfg::shapeOf(x.getType()))
    return x;
  return op("broadcast", x, dimsAttr("shape", shape));
}

Value NodeBuilder::cast(Value x, Type elementType) {
  if (!x || !elementType || dfg::elementTypeOf(x.getType()) == elementType)
    return elementType ? x : Value();
  return op("cast", x, typeAttr("dtype", elementType));
}

Value NodeBuilder::slice(Value x, ArrayRef<dfg::DimExpr> starts, ArrayRef<dfg::DimExpr> sizes,
                         ArrayRef<int64_t> steps) {
  SmallVector<NamedAttribute> attributes{dimsAttr("starts", starts), dimsAttr("sizes", sizes)};
  if (!steps.empty())
    attributes.push_back(intsAttr("steps", steps));
  return op("slice", x, attributes);
}

Value NodeBuilder::iota(const dfg::DimExpr &size, Type elementType) {
  return op("iota", {}, {dimsAttr("size", size), typeAttr("dtype", elementType)});
}

Value NodeBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return op("transpose", x, intsAttr("permutation", permutation));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static NamedAttribute named(MLIRContext *context, StringRef name, Attribute value) {
  return NamedAttribute(StringAttr::get(context, name), value);
}

NamedAttribute NodeBuilder::dimsAttr(StringRef name, ArrayRef<dfg::DimExpr> value) {
  return named(context(), name, dfg::DimsAttr::get(context(), value));
}

NamedAttribute NodeBuilder::intsAttr(StringRef name, ArrayRef<int64_t> value) {
  return named(context(), name, DenseI64ArrayAttr::get(context(), value));
}

NamedAttribute NodeBuilder::intAttr(StringRef name, int64_t value) {
  return named(context(), name, Builder(context()).getI64IntegerAttr(value));
}

NamedAttribute NodeBuilder::boolAttr(StringRef name, bool value) {
  return named(context(), name, BoolAttr::get(context(), value));
}

NamedAttribute NodeBuilder::realAttr(StringRef name, double value) {
  return named(context(), name, Builder(context()).getF64FloatAttr(value));
}

NamedAttribute NodeBuilder::typeAttr(StringRef name, Type value) {
  return named(context(), name, TypeAttr::get(value));
}

NamedAttribute NodeBuilder::textAttr(StringRef name, StringRef value) {
  return named(context(), name, StringAttr::get(context(), value));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Outcome NodeBuilder::done(ValueRange values) {
  results.assign(values.begin(), values.end());
  if (llvm::all_of(results, [](Value value) { return bool(value); }))
    return Outcome::Done;
  return Outcome::Failed;
}

Outcome NodeBuilder::fail(const Twine &message) {
  error() << message;
  return Outcome::Failed;
}

SmallVector<Value> NodeBuilder::tokens() {
  llvm::SetVector<Value> tokens;
  auto add = [&](Value token) {
    if (token)
      tokens.insert(token);
  };
  for (unsigned control : node.controls)
    add(entry.tokenOf(control));
  // What was used by value alone, as shapes are, matters only where it may be dead.
  auto addLiveness = [&](Edge edge) {
    if (entry.facts.mayBeDead[edge.node])
      add(entry.tokenOf(edge));
  };
  llvm::for_each(followed, addLiveness);
  if (entry.states[index].isFolded)
    for (Edge input : node.inputs)
      if (!entry.fed.count(input))
        addLiveness(input);
  return tokens.takeVector();
}

Value NodeBuilder::gate(Value value) {
  SmallVector<Value> after = tokens();
  if (after.empty() || !value)
    return value;
  return entry.addNode(index, {}, after, value).getResults().front();
}

Outcome NodeBuilder::finish(const OpRule &rule, Outcome outcome) {
  if (outcome == Outcome::Failed && mustWait)
    outcome = Outcome::Later;
  if (outcome == Outcome::Later)
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  if (outcome != Outcome::Done)
    return outcome;
  EntryBuilder::State &state = entry.states[index];
  bool isValue = !(rule.flags & OpRule::Handle) || !results.empty();
  if (isValue)
    state.values.assign(results.begin(), results.end());
  SmallVector<Value> after;
  if (!(rule.flags & OpRule::Structural))
    after = tokens();
  bool isEffect = rule.flags & OpRule::Effect;
  if (after.empty() && !isEffect) {
    entry.addOps(index, ops);
    return outcome;
  }
  dfg::NodeOp made = entry.addNode(index, ops, after, results);
  entry.states[index].token = made.getDone();
  if (isValue)
    entry.states[index].values.assign(made.getResults().begin(), made.getResults().end());
  return outcome;
}

} // namespace tfc::tensorflow
