// Shapes are computed while the graph is read: a small evaluator of integer tensors.

#include "frontend/tensorflow/SizeEvaluators.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

std::optional<SmallVector<int64_t>> SizeTensor::constants() const {
  SmallVector<int64_t> numbers;
  for (const DimExpr &value : values) {
    if (!value.constant())
      return std::nullopt;
    numbers.push_back(*value.constant());
  }
  return numbers;
}

std::optional<SizeTensor> sizesOf(ElementsAttr value) {
  if (!value)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<IntegerType>(type.getElementType()) || type.getNumElements() > kMaxSizes)
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  SizeTensor sizes{type.getElementType(), SmallVector<int64_t>(type.getShape()), {}};
  bool isSigned = !type.getElementType().isInteger(1) && !type.getElementType().isUnsignedInteger();
  if (dense)
    for (const APInt &bits : dense.getValues<APInt>())
      sizes.values.push_back(isSigned ? bits.getSExtValue() : int64_t(bits.getZExtValue()));
  else if (auto numbers = value.tryGetValues<APInt>())
    for (const APInt &bits : *numbers)
      sizes.values.push_back(isSigned ? bits.getSExtValue() : int64_t(bits.getZExtValue()));
  else
    return std::nullopt;
  return sizes;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

std::optional<SmallVector<const SizeTensor *>> knownInputs(NodeBuilder &node) {
  SmallVector<const SizeTensor *> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    inputs.push_back(node.sizes(i));
    if (!inputs.back())
      return std::nullopt;
  }
  return inputs;
}

Results one(SizeTensor sizes) {
  // Integers wrap, as they would at run time.
  unsigned width = sizes.elementType.getIntOrFloatBitWidth();
  bool isBool = width == 1;
  for (DimExpr &value : sizes.values)
    if (std::optional<int64_t> number = value.constant(); number && width < 64 && !isBool) {
      APInt bits = APInt(64, uint64_t(*number)).trunc(width);
      value = sizes.elementType.isUnsignedInteger() ? int64_t(bits.getZExtValue())
                                                    : bits.getSExtValue();
    }
  return SmallVector<SizeTensor>{std::move(sizes)};
}

Results vectorOf(Type elementType, ArrayRef<DimExpr> values) {
  return one({elementType, {int64_t(values.size())}, SmallVector<DimExpr>(values)});
}

Results scalarOf(Type elementType, DimExpr value) {
  return one({elementType, {}, {std::move(value)}});
}

/// The integer type that an attribute names, i32 without it.
static Type indexType(NodeBuilder &node, StringRef attr) {
  Type type = elementTypeOf(node.context(), node.node.number(attr, 3));
  return type && isa<IntegerType>(type) ? type : IntegerType::get(node.context(), 32);
}

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > kMaxSizes)
      return kMaxSizes + 1;
  return count;
}

std::optional<int64_t> numberAt(NodeBuilder &node, unsigned i) {
  const SizeTensor *sizes = node.sizes(i);
  if (!sizes || sizes->values.size() != 1)
    return std::nullopt;
  return sizes->values.front().constant();
}

std::optional<SmallVector<int64_t>> numbersAt(NodeBuilder &node, unsigned i) {
  const SizeTensor *sizes = node.sizes(i);
  return sizes ? sizes->constants() : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shapes of tensors
//===----------------------------------------------------------------------===//

static RankedTensorType knownType(NodeBuilder &node, unsigned i) {
  if (node.flowAt(i))
    return {};
  return node.typeOf(i);
}

static Results evaluateShape(NodeBuilder &node) {
  SmallVector<SizeTensor> results;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    RankedTensorType type = knownType(node, i);
    if (!type)
      return std::nullopt;
    dfg::Shape shape = dfg::shapeOf(type);
    results.push_back({indexType(node, "out_type"), {int64_t(shape.size())}, shape});
  }
  return results;
}

static Results evaluateSize(NodeBuilder &node) {
  RankedTensorType type = node.numInputs() ? knownType(node, 0) : RankedTensorType();
  if (!type)
    return std::nullopt;
  return scalarOf(indexType(node, "out_type"), dfg::elementCount(dfg::shapeOf(type)));
}

static Results evaluateRank(NodeBuilder &node) {
  RankedTensorType type = node.numInputs() ? knownType(node, 0) : RankedTensorType();
  if (!type)
    return std::nullopt;
  return scalarOf(indexType(node, ""), type.getRank());
}

static Results evaluateConst(NodeBuilder &node) {
  std::optional<SizeTensor> sizes = sizesOf(node.node.attr("value").tensor);
  return sizes ? one(std::move(*sizes)) : Results();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

using Combine = std::optional<DimExpr> (*)(const DimExpr &, const DimExpr &);

static Results combine(NodeBuilder &node, Combine function, bool isPredicate) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 2)
    return std::nullopt;
  const SizeTensor &a = *(*inputs)[0], &b = *(*inputs)[1];
  // Shapes and scalars; nothing that computes sizes broadcasts otherwise.
  if (a.shape != b.shape && a.values.size() != 1 && b.values.size() != 1)
    return std::nullopt;
  bool isFirst = b.values.size() == 1 && (a.values.size() != 1 || a.rank() > b.rank());
  const SizeTensor &larger = isFirst || a.shape == b.shape ? a : b;
  if (larger.rank() < std::max(a.rank(), b.rank()))
    return std::nullopt;
  SizeTensor result{
      isPredicate ? IntegerType::get(node.context(), 1) : a.elementType, larger.shape, {}};
  if (a.elementType != b.elementType || countOf(larger.shape) != int64_t(larger.values.size()))
    return std::nullopt;
  for (size_t i = 0; i < larger.values.size(); ++i) {
    auto value =
        function(a.values[a.values.size() == 1 ? 0 : i], b.values[b.values.size() == 1 ? 0 : i]);
    if (!value)
      return std::nullopt;
    result.values.push_back(*value);
  }
  return one(std::move(result));
}

static std::optional<DimExpr> divide(const DimExpr &a, const DimExpr &b) {
  if (b.isConstant(0) || !b.constant())
    return std::nullopt;
  return DimExpr::floorDiv(a, b);
}

static std::optional<DimExpr> remainder(const DimExpr &a, const DimExpr &b) {
  if (b.isConstant(0) || !b.constant())
    return std::nullopt;
  return DimExpr::mod(a, b);
}

template <typename F>
static std::optional<DimExpr> compare(const DimExpr &a, const DimExpr &b, F predicate) {
  std::optional<int64_t> difference = (a - b).constant();
  if (!difference)
    return std::nullopt;
  return DimExpr(predicate(*difference));
}

template <Combine function, bool isPredicate = false>
static Results evaluateBinary(NodeBuilder &node) {
  return combine(node, function, isPredicate);
}

static std::optional<DimExpr> plus(const DimExpr &a, const DimExpr &b) { return a + b; }
static std::optional<DimExpr> minus(const DimExpr &a, const DimExpr &b) { return a - b; }
static std::optional<DimExpr> times(const DimExpr &a, const DimExpr &b) { return a * b; }
static std::optional<DimExpr> least(const DimExpr &a, const DimExpr &b) {
  return DimExpr::min(a, b);
}
static std::optional<DimExpr> most(const DimExpr &a, const DimExpr &b) {
  return DimExpr::max(a, b);
}
static std::optional<DimExpr> equal(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d == 0; });
}
static std::optional<DimExpr> notEqual(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d != 0; });
}
static std::optional<DimExpr> less(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d < 0; });
}
static std::optional<DimExpr> lessEqual(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d <= 0; });
}
static std::optional<DimExpr> greater(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d > 0; });
}
static std::optional<DimExpr> greaterEqual(const DimExpr &a, const DimExpr &b) {
  return compare(a, b, [](int64_t d) { return d >= 0; });
}

static Results evaluateAddN(NodeBuilder &node) {
  if (node.numInputs() == 2)
    return combine(node, plus, /*isPredicate=*/false);
  return std::nullopt;
}

static Results evaluateNeg(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 1)
    return std::nullopt;
  SizeTensor result = *inputs->front();
  for (DimExpr &value : result.values)
    value = DimExpr(0) - value;
  return one(std::move(result));
}

static Results evaluateCast(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  Type type = elementTypeOf(node.context(), node.node.number("DstT"));
  if (!inputs || inputs->size() != 1 || !type || !isa<IntegerType>(type))
    return std::nullopt;
  SizeTensor result = *inputs->front();
  if (type.isInteger(1) && !result.elementType.isInteger(1))
    return std::nullopt;
  result.elementType = type;
  return one(std::move(result));
}

/// Over all axes, or over the only one.
static Results reduce(NodeBuilder &node, Combine function, DimExpr start) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 2 || inputs->front()->rank() > 1)
    return std::nullopt;
  const SizeTensor &x = *inputs->front();
  if (x.rank() == 1 && (*inputs)[1]->values.empty())
    return one(x);
  DimExpr result = start;
  for (const DimExpr &value : x.values)
    result = *function(result, value);
  bool keeps = node.flag("keep_dims") && x.rank() == 1;
  return keeps ? vectorOf(x.elementType, result) : scalarOf(x.elementType, result);
}

static Results evaluateProd(NodeBuilder &node) { return reduce(node, times, 1); }
static Results evaluateSum(NodeBuilder &node) { return reduce(node, plus, 0); }

template <Combine function> static Results evaluateExtreme(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() ? node.sizes(0) : nullptr;
  if (!x || x->values.empty())
    return std::nullopt;
  return reduce(node, function, x->values.front());
}

static Results evaluateSelect(NodeBuilder &node) {
  std::optional<int64_t> condition = node.numInputs() == 3 ? numberAt(node, 0) : std::nullopt;
  const SizeTensor *chosen = condition ? node.sizes(*condition ? 1 : 2) : nullptr;
  const SizeTensor *other = condition ? node.sizes(*condition ? 2 : 1) : nullptr;
  if (!chosen || !other || chosen->shape != other->shape)
    return std::nullopt;
  return one(*chosen);
}

Results evaluate(NodeBuilder &node) {
  static const StringMap<Evaluator> kEvaluators{
      {"Const", evaluateConst},
      {"Shape", evaluateShape},
      {"ShapeN", evaluateShape},
      {"Size", evaluateSize},
      {"Rank", evaluateRank},
      {"Add", evaluateBinary<plus>},
      {"AddV2", evaluateBinary<plus>},
      {"AddN", evaluateAddN},
      {"Sub", evaluateBinary<minus>},
      {"Mul", evaluateBinary<times>},
      {"FloorDiv", evaluateBinary<divide>},
      {"FloorMod", evaluateBinary<remainder>},
      {"Maximum", evaluateBinary<most>},
      {"Minimum", evaluateBinary<least>},
      {"Equal", evaluateBinary<equal, true>},
      {"NotEqual", evaluateBinary<notEqual, true>},
      {"Less", evaluateBinary<less, true>},
      {"LessEqual", evaluateBinary<lessEqual, true>},
      {"Greater", evaluateBinary<greater, true>},
      {"GreaterEqual", evaluateBinary<greaterEqual, true>},
      {"Neg", evaluateNeg},
      {"Cast", evaluateCast},
      {"Prod", evaluateProd},
      {"Sum", evaluateSum},
      {"Max", evaluateExtreme<most>},
      {"Min", evaluateExtreme<least>},
      {"Select", evaluateSelect},
      {"SelectV2", evaluateSelect},
  };
  Evaluator evaluator = kEvaluators.lookup(node.node.op);
  if (!evaluator)
    evaluator = movingEvaluators().lookup(node.node.op);
  return evaluator ? evaluator(node) : Results();
}

} // namespace tfc::tensorflow
