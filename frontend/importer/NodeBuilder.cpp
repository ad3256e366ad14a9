// The operations that rules are composed of; where possible, they are evaluated on sizes instead of
// being created.

#include "frontend/importer/NodeBuilder.h"

#include "dialects/dfg/SizeLimits.h"
#include "frontend/importer/ConstantEvaluator.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

NodeValue constantValue(GraphBuilder &builder, ElementsAttr value, Location location) {
  std::optional<dfg::SizeTensor> sizes = dfg::readSizes(value);
  if (sizes && llvm::none_of(sizes->values, dfg::isOverflow))
    return NodeValue(std::move(*sizes));
  return NodeValue(builder.constant(value, location), std::move(sizes));
}

bool isLowest(const dfg::DimExpr &place) {
  return dfg::isOverflow(place) && !dfg::isUncomputed(place);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

NodeValue NodeBuilder::in(unsigned i) {
  NodeValue value = anyIn(i);
  if (value && value.getItems()) {
    error() << "expected a tensor, but got a sequence for input " << i << " [graph-edge]";
    return {};
  }
  if (!value || isa<RankedTensorType>(value.getType()))
    return value;
  error() << "expected a tensor, but got " << describe(value.getType()) << " for input " << i
          << " [graph-edge]";
  return {};
}

SmallVector<NodeValue> NodeBuilder::allInputs(unsigned from, unsigned dropped) {
  SmallVector<NodeValue> values;
  for (unsigned i = from; i + dropped < numInputs(); ++i)
    values.push_back(in(i));
  return values;
}

std::optional<dfg::Shape> NodeBuilder::dims(unsigned i) {
  if (const dfg::SizeTensor *known = sizes(i))
    return known->values;
  if (i < numInputs() && !in(i))
    return std::nullopt;
  std::string help;
  if (std::optional<dfg::Shape> found = foundDims(i, help))
    return found;
  if (waits())
    return std::nullopt;
  InFlightDiagnostic unknown = error();
  unknown << "expected the value of input " << i << " to be known when the graph is compiled"
          << " [dynamic-shape]";
  if (!help.empty())
    unknown.attachNote() << "help: " << help;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeBuilder::ints(unsigned i) {
  std::optional<dfg::Shape> values = dims(i);
  if (!values)
    return std::nullopt;
  for (const dfg::DimExpr &value : *values)
    if (!value.constant()) {
      error() << "expected the value of input " << i << " to be a number, but got " << value.str()
              << " [dynamic-shape]";
      return std::nullopt;
    }
  return dfg::constantsOf(*values);
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

std::optional<SmallVector<NodeValue>> NodeBuilder::buildGraph(StringRef attr, ArrayRef<NodeValue>) {
  error() << "tfc does not read the graph in the attribute '" << attr << "' [unsupported-node]";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values of sizes
//===----------------------------------------------------------------------===//

Value NodeBuilder::valueOf(const NodeValue &x) {
  if (x.getValue() || !x.getSizes())
    return x.getValue();
  return x.getInput() ? inputValue(*x.getInput()) : materialise(*x.getSizes());
}

SmallVector<Value> NodeBuilder::valuesOf(ArrayRef<NodeValue> values) {
  return llvm::map_to_vector(values, [&](const NodeValue &value) { return valueOf(value); });
}

Value NodeBuilder::materialise(const dfg::SizeTensor &sizes) {
  // The text form has no constants without elements.
  if (sizes.values.empty())
    return filled(0, dfg::Shape(sizes.shape.begin(), sizes.shape.end()), sizes.elementType);
  if (DenseElementsAttr constant = constantOf(sizes))
    return builder().constant(constant, location());
  SmallVector<Value> scalars;
  for (const dfg::DimExpr &value : sizes.values)
    scalars.push_back(size(value, sizes.elementType));
  if (sizes.shape.empty() && !scalars.empty())
    return scalars.front();
  Value vector = outside("stack", scalars);
  if (sizes.getRank() == 1 || !vector)
    return vector;
  return outside("reshape", vector,
                 attrs.sizes("shape", dfg::Shape(sizes.shape.begin(), sizes.shape.end())));
}

std::optional<dfg::SizeTensor> NodeBuilder::evaluate(StringRef name, ArrayRef<NodeValue> operands,
                                                     ArrayRef<NamedAttribute> attributes) {
  SmallVector<const dfg::SizeTensor *> known;
  for (const NodeValue &operand : operands) {
    if (!operand.getSizes())
      return std::nullopt;
    known.push_back(operand.getSizes().get());
  }
  if (known.empty())
    return std::nullopt;
  auto result = dfg::evaluateSizes(name, known, DictionaryAttr::get(context(), attributes));
  for (const NodeValue &operand : operands)
    if (result && operand.getInput())
      useSizes(*operand.getInput());
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *NodeBuilder::make(StringRef name, ArrayRef<NodeValue> operands,
                             ArrayRef<NamedAttribute> attributes) {
  SmallVector<Value> values = valuesOf(operands);
  if (llvm::is_contained(values, Value()))
    return nullptr;
  values = matchSizes(name, std::move(values));
  if (llvm::is_contained(values, Value()))
    return nullptr;
  FailureOr<Operation *> made = record([&] {
    return values.empty() ? builder().createOutside(name, values, attributes, location())
                          : builder().create(name, values, attributes, location());
  });
  return succeeded(made) ? *made : nullptr;
}

NodeValue NodeBuilder::op(StringRef name, ArrayRef<NodeValue> operands,
                          ArrayRef<NamedAttribute> attributes) {
  if (std::optional<dfg::SizeTensor> sizes = evaluate(name, operands, attributes))
    return NodeValue(std::move(*sizes));
  Operation *made = make(name, operands, attributes);
  return made ? made->getResult(0) : Value();
}

Value NodeBuilder::outside(StringRef name, ValueRange operands,
                           ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> made = builder().createOutside(name, operands, attributes, location());
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

Value NodeBuilder::filled(double value, ArrayRef<dfg::DimExpr> shape, Type elementType) {
  Value number = scalar(value, elementType);
  return shape.empty() ? number : outside("broadcast", number, attrs.sizes("shape", shape));
}

Value NodeBuilder::iota(const dfg::DimExpr &size, Type elementType) {
  return valueOf(op("iota", {}, {attrs.sizes("size", size), attrs.type("dtype", elementType)}));
}

NodeValue NodeBuilder::reshape(NodeValue x, ArrayRef<dfg::DimExpr> shape) {
  return op("reshape", x, attrs.sizes("shape", shape));
}

NodeValue NodeBuilder::broadcast(NodeValue x, ArrayRef<dfg::DimExpr> shape) {
  if (!x || dfg::Shape(shape) == dfg::shapeOf(x.getType()))
    return x;
  return op("broadcast", x, attrs.sizes("shape", shape));
}

NodeValue NodeBuilder::cast(NodeValue x, Type elementType) {
  if (!x || !elementType || dfg::elementTypeOf(x.getType()) == elementType)
    return elementType ? x : NodeValue();
  return op("cast", x, attrs.type("dtype", elementType));
}

NodeValue NodeBuilder::slice(NodeValue x, ArrayRef<dfg::DimExpr> starts,
                             ArrayRef<dfg::DimExpr> sizes, ArrayRef<int64_t> steps) {
  SmallVector<NamedAttribute> attributes{attrs.sizes("starts", starts),
                                         attrs.sizes("sizes", sizes)};
  if (!steps.empty())
    attributes.push_back(attrs.integers("steps", steps));
  return op("slice", x, attributes);
}

NodeValue NodeBuilder::transpose(NodeValue x, ArrayRef<int64_t> permutation) {
  return op("transpose", x, attrs.integers("permutation", permutation));
}

NodeValue NodeBuilder::channelsLast(NodeValue x) {
  int64_t rank = x ? dfg::shapeOf(x.getType()).size() : 0;
  if (rank < 3)
    return x;
  SmallVector<int64_t> places{0};
  llvm::append_range(places, llvm::seq<int64_t>(2, rank));
  places.push_back(1);
  return transpose(x, places);
}

NodeValue NodeBuilder::channelsFirst(NodeValue x) {
  int64_t rank = x ? dfg::shapeOf(x.getType()).size() : 0;
  if (rank < 3)
    return x;
  SmallVector<int64_t> places{0, rank - 1};
  llvm::append_range(places, llvm::seq<int64_t>(1, rank - 1));
  return transpose(x, places);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Outcome NodeBuilder::done(ArrayRef<NodeValue> values) {
  results.assign(values.begin(), values.end());
  bool isWhole = llvm::all_of(results, [](const NodeValue &value) { return bool(value); });
  return isWhole ? Outcome::Done : Outcome::Failed;
}

Outcome NodeBuilder::doneWith(Operation *op) {
  if (!op)
    return Outcome::Failed;
  return done(SmallVector<NodeValue>(op->getResults()));
}

Outcome NodeBuilder::doneWith(const std::optional<SmallVector<NodeValue>> &results) {
  return results ? done(*results) : Outcome::Failed;
}

Outcome NodeBuilder::fail(const Twine &message) {
  error() << message;
  return Outcome::Failed;
}

} // namespace tfc::importer
