//===- SizeTensor.cpp - Integer tensors with known elements ---------------===//
//
// Evaluates shape computations symbolically: common code of the operations, the evaluation of an
// operation by name, and that of a value by its definition.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/SizeTensor.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tfc::dfg {

std::optional<SmallVector<int64_t>> constantsOf(ArrayRef<DimExpr> sizes) {
  SmallVector<int64_t> numbers;
  for (const DimExpr &size : sizes) {
    std::optional<int64_t> number = size.constant();
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<SmallVector<int64_t>> SizeTensor::getConstants() const { return constantsOf(values); }

std::optional<int64_t> SizeTensor::getConstant() const {
  return isSingle() ? values.front().constant() : std::nullopt;
}

std::optional<int64_t> countSizes(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > SizeTensor::kMaxElements)
      return std::nullopt;
  return count;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Wraps a number to the range of an integer type.
static int64_t wrapped(int64_t number, Type type) {
  APInt bits = APInt(64, uint64_t(number)).trunc(type.getIntOrFloatBitWidth());
  return type.isUnsignedInteger() ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
}

std::optional<SizeTensor> makeSizes(Type elementType, ArrayRef<int64_t> shape, Shape values) {
  if (countSizes(shape) != int64_t(values.size()))
    return std::nullopt;
  unsigned width = elementType.getIntOrFloatBitWidth();
  for (DimExpr &value : values) {
    std::optional<int64_t> number = value.constant();
    if (number && width > 1 && width < 64)
      value = wrapped(*number, elementType);
    else if (number && *number < 0 && elementType.isUnsignedInteger())
      return std::nullopt; // exceeds the numbers of DimExpr
    else if (isOverflow(value))
      return std::nullopt; // wraps at run time
  }
  return SizeTensor{elementType, SmallVector<int64_t>(shape), std::move(values)};
}

std::optional<SizeTensor> makeSize(Type elementType, DimExpr value) {
  return makeSizes(elementType, {}, Shape{std::move(value)});
}

std::optional<SizeTensor> makeSizeVector(Type elementType, Shape values) {
  int64_t count = values.size();
  return makeSizes(elementType, count, std::move(values));
}

std::optional<SizeTensor> readSizes(ElementsAttr value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type || !isa<IntegerType>(type.getElementType()) || !countSizes(type.getShape()))
    return std::nullopt;
  auto elements = value.tryGetValues<APInt>();
  if (!elements)
    return std::nullopt;
  Type element = type.getElementType();
  bool isSigned = !element.isInteger(1) && !element.isUnsignedInteger();
  SizeTensor sizes{element, SmallVector<int64_t>(type.getShape()), {}};
  for (const APInt &bits : *elements) {
    if (!isSigned && bits.getActiveBits() > 63)
      return std::nullopt;
    sizes.values.push_back(isSigned ? bits.getSExtValue() : int64_t(bits.getZExtValue()));
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Returns the operand that determines the result's shape; computations of sizes do not broadcast
/// in other ways.
static const SizeTensor *largestOf(SizeOperands operands) {
  auto key = [](const SizeTensor *x) { return std::pair(!x->isSingle(), x->getRank()); };
  const SizeTensor *largest =
      *llvm::max_element(operands, [&](auto *a, auto *b) { return key(a) < key(b); });
  auto fits = [&](const SizeTensor *x) {
    return x->shape == largest->shape || (x->isSingle() && x->getRank() <= largest->getRank());
  };
  return llvm::all_of(operands, fits) ? largest : nullptr;
}

std::optional<SizeTensor> combineElements(SizeOperands operands, Type resultType,
                                          CombineElements function) {
  const SizeTensor *largest = largestOf(operands);
  if (!largest)
    return std::nullopt;
  Shape values;
  SmallVector<const DimExpr *> elements(operands.size());
  for (size_t i = 0; i < largest->values.size(); ++i) {
    for (auto [element, operand] : llvm::zip_equal(elements, operands))
      element = &operand->values[operand->isSingle() ? 0 : i];
    std::optional<DimExpr> value = function(elements);
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  return makeSizes(resultType, largest->shape, std::move(values));
}

static std::optional<SizeTensor> combine(SizeOperands operands, Type resultType,
                                         CombineSizes function) {
  if (operands[0]->elementType != operands[1]->elementType)
    return std::nullopt;
  return combineElements(operands, resultType, [&](ArrayRef<const DimExpr *> elements) {
    return function(*elements[0], *elements[1]);
  });
}

std::optional<SizeTensor> combineSizes(SizeOperands operands, CombineSizes function) {
  Type type = operands[0]->elementType;
  return type.isInteger(1) ? std::nullopt : combine(operands, type, function);
}

std::optional<SizeTensor> combineFlags(SizeOperands operands,
                                       llvm::function_ref<bool(bool, bool)> function) {
  auto combineKnown = [&](const DimExpr &a, const DimExpr &b) -> std::optional<DimExpr> {
    std::optional<int64_t> x = a.constant(), y = b.constant();
    return x && y ? std::optional(DimExpr(function(*x != 0, *y != 0))) : std::nullopt;
  };
  return combine(operands, operands[0]->elementType, combineKnown);
}

std::optional<SizeTensor> compareSizes(SizeOperands operands,
                                       llvm::function_ref<bool(int64_t)> predicate) {
  auto compare = [&](const DimExpr &a, const DimExpr &b) -> std::optional<DimExpr> {
    auto [least, most] = (a - b).interval();
    // Where the difference may be 0 and more, the predicate has to agree on both.
    bool isSigned = (least && *least >= 0) || (most && *most <= 0);
    if (!isSigned)
      return std::nullopt;
    int64_t sign = least && *least >= 0 ? 1 : -1;
    bool mayBeZero = sign > 0 ? *least == 0 : *most == 0;
    bool mayBeOther = !least || !most || *least != *most || *least != 0;
    bool onZero = predicate(0), onOther = predicate(sign);
    if (mayBeZero && mayBeOther && onZero != onOther)
      return std::nullopt;
    return DimExpr(mayBeOther ? onOther : onZero);
  };
  Type type = IntegerType::get(operands[0]->elementType.getContext(), 1);
  return combine(operands, type, compare);
}

std::optional<SizeTensor> reduceSizes(const SizeTensor &x, DenseI64ArrayAttr axis, bool keepDims,
                                      std::optional<DimExpr> start, CombineSizes function) {
  int64_t rank = x.getRank();
  bool isValid = !axis || llvm::all_of(axis.asArrayRef(), [&](int64_t place) {
    return normalizeAxis(place, rank).has_value();
  });
  if (rank > 1 || !isValid || (!start && x.values.empty()))
    return std::nullopt;
  if (rank == 1 && axis && axis.empty())
    return x;
  DimExpr result = start ? *start : x.values.front();
  for (const DimExpr &value : ArrayRef(x.values).drop_front(start ? 0 : 1))
    result = *function(result, value);
  return makeSizes(x.elementType, SmallVector<int64_t>(keepDims ? rank : 0, 1), Shape{result});
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

std::optional<SizeTensor> reshapeSizes(const SizeTensor &x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size != -1 && (size < 0 || __builtin_mul_overflow(count, size, &count)))
      return std::nullopt;
  for (int64_t &size : sizes)
    if (size == -1)
      size = count ? int64_t(x.values.size()) / count : 0;
  return makeSizes(x.elementType, sizes, x.values);
}

/// Returns true if `count` positions from `start` on are in bounds.
static bool isInside(int64_t start, int64_t count, int64_t step, int64_t size) {
  int64_t last = 0;
  if (count == 0)
    return true;
  bool isFar =
      __builtin_mul_overflow(count - 1, step, &last) || __builtin_add_overflow(start, last, &last);
  return !isFar && start >= 0 && start < size && last >= 0 && last < size;
}

std::optional<SizeTensor> sliceSizes(const SizeTensor &x, ArrayRef<int64_t> starts,
                                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  size_t rank = x.getRank();
  std::optional<int64_t> count = countSizes(sizes);
  if (!count || starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    return std::nullopt;
  for (size_t axis = 0; axis < rank; ++axis)
    if (!isInside(starts[axis], sizes[axis], steps[axis], x.shape[axis]))
      return std::nullopt;
  Shape values;
  for (int64_t i = 0; i < *count; ++i) {
    int64_t rest = i, place = 0, stride = 1;
    for (size_t axis = rank; axis-- > 0; rest /= sizes[axis], stride *= x.shape[axis])
      place += stride * (starts[axis] + rest % sizes[axis] * steps[axis]);
    values.push_back(x.values[place]);
  }
  return makeSizes(x.elementType, sizes, std::move(values));
}

/// Returns the elements of all operands, unless there are too many.
static std::optional<Shape> joinValues(SizeOperands operands) {
  Shape values;
  for (const SizeTensor *operand : operands) {
    if (operand->elementType != operands.front()->elementType ||
        values.size() + operand->values.size() > SizeTensor::kMaxElements)
      return std::nullopt;
    llvm::append_range(values, operand->values);
  }
  return values;
}

std::optional<SizeTensor> transposeSizes(const SizeTensor &x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape = applyPermutation(x.shape, permutation);
  SmallVector<int64_t> strides = computeStrides(shape);
  SmallVector<int64_t> from = applyPermutation(computeStrides(x.shape), permutation);
  Shape values;
  for (size_t i = 0; i < x.values.size(); ++i)
    values.push_back(x.values[linearize(delinearize(i, strides), from)]);
  return makeSizes(x.elementType, shape, std::move(values));
}

std::optional<SizeTensor> concatSizes(SizeOperands operands) {
  std::optional<Shape> values = joinValues(operands);
  if (!values || operands.empty() || operands.front()->getRank() == 0)
    return std::nullopt;
  SmallVector<int64_t> shape = operands.front()->shape;
  shape.front() = 0;
  for (const SizeTensor *operand : operands) {
    if (operand->getRank() != int64_t(shape.size()) ||
        ArrayRef(operand->shape).drop_front() != ArrayRef(shape).drop_front())
      return std::nullopt;
    shape.front() += operand->shape.front();
  }
  return makeSizes(operands.front()->elementType, shape, std::move(*values));
}

std::optional<SizeTensor> stackSizes(SizeOperands operands) {
  std::optional<Shape> values = joinValues(operands);
  auto isAlike = [&](const SizeTensor *x) { return x->shape == operands.front()->shape; };
  if (!values || operands.empty() || !llvm::all_of(operands, isAlike))
    return std::nullopt;
  SmallVector<int64_t> shape = operands.front()->shape;
  shape.insert(shape.begin(), operands.size());
  return makeSizes(operands.front()->elementType, shape, std::move(*values));
}

//===----------------------------------------------------------------------===//
// Operations and values
//===----------------------------------------------------------------------===//

static std::optional<SizeTensor> evaluate(std::optional<RegisteredOperationName> name,
                                          SizeOperands operands, DictionaryAttr attributes) {
  auto *evaluation = name ? name->getInterface<SizeEvaluationOpInterface>() : nullptr;
  return evaluation ? evaluation->evaluateSizes(operands, attributes) : std::nullopt;
}

std::optional<SizeTensor> evaluateSizes(StringRef op, SizeOperands operands,
                                        DictionaryAttr attributes) {
  auto name = RegisteredOperationName::lookup(("dfg." + op).str(), attributes.getContext());
  return evaluate(name, operands, attributes);
}

/// Returns true for a tensor whose elements may be sizes.
static bool mayHoldSizes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<IntegerType>(tensor.getElementType()) && tensor.hasStaticShape() &&
         countSizes(tensor.getShape());
}

/// Computations of sizes are short chains of operations.
static constexpr unsigned kMaxDepth = 64;

static const SizeTensor *evaluateValue(Value value, unsigned depth,
                                       llvm::DenseMap<Value, std::optional<SizeTensor>> &known) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth || op->getNumResults() != 1 || !mayHoldSizes(value.getType()))
    return nullptr;
  if (auto found = known.find(value); found != known.end())
    return found->second ? &*found->second : nullptr;
  known[value] = std::nullopt;
  SmallVector<SizeTensor> operands;
  for (Value operand : op->getOperands()) {
    const SizeTensor *sizes = evaluateValue(operand, depth + 1, known);
    if (!sizes)
      return nullptr;
    operands.push_back(*sizes);
  }
  SmallVector<const SizeTensor *> pointers;
  for (const SizeTensor &operand : operands)
    pointers.push_back(&operand);
  auto &result = known[value];
  result = evaluate(op->getRegisteredInfo(), pointers, op->getAttrDictionary());
  return result ? &*result : nullptr;
}

std::optional<SizeTensor> evaluateSizes(Value value) {
  llvm::DenseMap<Value, std::optional<SizeTensor>> known;
  const SizeTensor *sizes = evaluateValue(value, 0, known);
  return sizes ? std::optional(*sizes) : std::nullopt;
}

} // namespace tfc::dfg
