// Recognition of quantised tensors, and of constants among them.

#include "compiler/simplify/Quantized.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

/// Larger tensors are not evaluated as parameters.
static constexpr int64_t kMaxParameters = 1 << 16;

std::pair<int64_t, int64_t> tfc::rangeOf(Type type) {
  int64_t count = int64_t(1) << type.getIntOrFloatBitWidth();
  return type.isUnsignedInteger() ? std::pair<int64_t, int64_t>(0, count - 1)
                                  : std::pair<int64_t, int64_t>(-count / 2, count / 2 - 1);
}

static bool isConstant(Value value) { return value.getDefiningOp<ConstantOp>() != nullptr; }

/// Returns true for a constant, and for a view or a conversion of one.
static bool isParameter(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (isa<ConstantOp>(op) || (isa<CastOp, ReshapeOp>(op) && isParameter(op->getOperand(0))));
}

static bool isByte(Type type) {
  Type element = elementTypeOf(type);
  return isa<IntegerType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// Returns the operand of a cast to a type, or null.
static Value castTo(Value value, Type type) {
  auto op = value.getDefiningOp<CastOp>();
  return op && op.getDtype() == type ? op.getX() : Value();
}

std::optional<Dequantized> Dequantized::match(Value value) {
  MLIRContext *context = value.getContext();
  Dequantized result;
  Value x = value;
  bool isScaled = !elementTypeOf(value.getType()).isInteger(32);
  if (auto product = value.getDefiningOp<MulOp>(); product && isScaled) {
    result.scale = product.getRhs();
    x = castTo(product.getLhs(), Float32Type::get(context));
    if (!x) {
      x = castTo(product.getRhs(), Float32Type::get(context));
      result.scale = product.getLhs();
    }
    if (!x || !isParameter(result.scale) || !elementTypeOf(value.getType()).isF32())
      return std::nullopt;
  } else if (isScaled) {
    return std::nullopt;
  }
  if (auto difference = x.getDefiningOp<SubOp>()) {
    if (!isParameter(difference.getRhs()))
      return std::nullopt;
    if (splatOf(difference.getRhs()) != 0)
      result.zero = difference.getRhs();
    x = difference.getLhs();
  }
  Value narrow = castTo(x, IntegerType::get(context, 32));
  if (!narrow && !isScaled)
    return std::nullopt;
  result.x = x = narrow ? narrow : x;
  return isByte(x.getType()) && shapeOf(x.getType()) == shapeOf(value.getType())
             ? std::optional(result)
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Calls `visit` with the position of each element of `shape` along strides, in row-major order.
static void forEachPosition(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                            function_ref<void(int64_t)> visit) {
  SmallVector<int64_t> at(shape.size(), 0);
  int64_t count = ShapedType::getNumElements(shape), position = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(position);
    for (size_t axis = shape.size(); axis-- > 0;) {
      position += strides[axis];
      if (++at[axis] < shape[axis])
        break;
      position -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The number at a place in the data of a constant; std::nullopt for other types.
static std::optional<double> numberAt(ArrayRef<char> data, Type element, int64_t i) {
  auto read = [&](auto number) -> double {
    memcpy(&number, data.data() + i * int64_t(sizeof(number)), sizeof(number));
    return double(number);
  };
  if (element.isF32())
    return read(float());
  if (element.isInteger(32))
    return read(int32_t());
  if (!isa<IntegerType>(element) || element.getIntOrFloatBitWidth() != 8)
    return std::nullopt;
  return element.isUnsignedInteger() ? read(uint8_t()) : read(int8_t());
}

/// The numbers of a constant of f32, i32, i8 or u8.
static std::optional<std::vector<double>> numbersOf(ConstantOp constant) {
  ElementsAttr elements = constant.getValue();
  auto type = cast<RankedTensorType>(elements.getType());
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if ((!dense && !resource) || !hasData(elements))
    return std::nullopt;
  ArrayRef<char> data = dense ? dense.getRawData() : resource.getData();
  bool isSplat = dense && dense.isSplat();
  std::vector<double> numbers;
  numbers.reserve(type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    std::optional<double> number = numberAt(data, type.getElementType(), isSplat ? 0 : i);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

static std::vector<double> broadcast(const std::vector<double> &from, ArrayRef<int64_t> own,
                                     ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides = rowMajor(own), all(shape.size(), 0);
  for (size_t i = 0; i < own.size(); ++i)
    all[shape.size() - own.size() + i] = own[i] == 1 ? 0 : strides[i];
  std::vector<double> result;
  result.reserve(ShapedType::getNumElements(shape));
  forEachPosition(shape, all, [&](int64_t position) { result.push_back(from[position]); });
  return result;
}

/// The numbers of a value that is computed from constants as parameters of quantisation are: these
/// are not folded if the constants are large.
static std::optional<std::vector<double>> evaluate(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.hasStaticShape())
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return numbersOf(constant);
  bool isFloat = type.getElementType().isF32();
  if ((!isFloat && !type.getElementType().isInteger(32)) || type.getNumElements() > kMaxParameters)
    return std::nullopt;
  auto operand = [&](unsigned i) -> std::optional<std::vector<double>> {
    auto numbers = evaluate(op->getOperand(i));
    if (numbers && isa<ScalarOpInterface>(op))
      return broadcast(*numbers, cast<RankedTensorType>(op->getOperand(i).getType()).getShape(),
                       type.getShape());
    return numbers;
  };
  if (isa<ReshapeOp>(op))
    return operand(0);
  if (auto conversion = dyn_cast<CastOp>(op)) {
    auto numbers = operand(0);
    if (numbers && !isFloat && !isa<IntegerType>(elementTypeOf(conversion.getX().getType())))
      return std::nullopt;
    for (double &number : numbers ? *numbers : std::vector<double>())
      number = isFloat ? double(float(number)) : number;
    return numbers;
  }
  bool isSum = isa<AddOp>(op), isDifference = isa<SubOp>(op);
  if (!isSum && !isDifference && !isa<MulOp>(op))
    return std::nullopt;
  auto lhs = operand(0), rhs = operand(1);
  if (!lhs || !rhs)
    return std::nullopt;
  for (auto [number, other] : llvm::zip_equal(*lhs, *rhs)) {
    number = isSum ? number + other : isDifference ? number - other : number * other;
    if (isFloat)
      number = double(float(number));
    else if (number != double(int32_t(number)))
      return std::nullopt;
  }
  return lhs;
}

template <typename T>
std::optional<std::vector<T>> tfc::constantElements(Value value, ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > int64_t(shape.size()))
    return std::nullopt;
  for (auto [size, all] : llvm::zip(llvm::reverse(type.getShape()), llvm::reverse(shape)))
    if (size != 1 && size != all)
      return std::nullopt;
  std::optional<std::vector<double>> numbers = evaluate(value);
  if (!numbers)
    return std::nullopt;
  std::vector<double> all = broadcast(*numbers, type.getShape(), shape);
  return std::vector<T>(all.begin(), all.end());
}

template std::optional<std::vector<double>> tfc::constantElements(Value, ArrayRef<int64_t>);
template std::optional<std::vector<float>> tfc::constantElements(Value, ArrayRef<int64_t>);
template std::optional<std::vector<int32_t>> tfc::constantElements(Value, ArrayRef<int64_t>);

std::optional<double> tfc::splatOf(Value value) {
  DenseElementsAttr elements;
  bool isDense = matchPattern(value, m_Constant(&elements));
  if (isDense && !elements.isSplat())
    return std::nullopt;
  if (isDense)
    return numberAt(elements.getRawData(), elements.getElementType(), 0);
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || type.getNumElements() > kMaxParameters)
    return std::nullopt;
  std::optional<std::vector<double>> numbers = evaluate(value);
  if (!numbers || numbers->empty() || !llvm::all_equal(*numbers))
    return std::nullopt;
  return numbers->front();
}

template <typename T>
static std::vector<T> transposed(const std::vector<T> &from, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> axes) {
  SmallVector<int64_t> strides = rowMajor(shape), sizes, steps;
  for (int64_t axis : axes) {
    sizes.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  std::vector<T> result;
  result.reserve(from.size());
  forEachPosition(sizes, steps, [&](int64_t position) { result.push_back(from[position]); });
  return result;
}

std::optional<QuantizedWeights> QuantizedWeights::match(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  if (std::optional<Dequantized> found = Dequantized::match(value)) {
    if (!isConstant(found->x))
      return std::nullopt;
    auto elements = constantElements<int32_t>(found->x, type.getShape());
    std::optional<std::vector<float>> scales(std::in_place, type.getNumElements(), 1.0f);
    if (found->scale)
      scales = constantElements<float>(found->scale, type.getShape());
    if (!elements || !scales)
      return std::nullopt;
    if (found->zero) {
      auto zeros = constantElements<int32_t>(found->zero, type.getShape());
      if (!zeros)
        return std::nullopt;
      for (auto [element, zero] : llvm::zip_equal(*elements, *zeros))
        element -= zero;
    }
    return QuantizedWeights{std::move(*elements), std::move(*scales)};
  }
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return match(reshape.getX());
  auto transpose = value.getDefiningOp<TransposeOp>();
  auto source = transpose ? match(transpose.getX()) : std::nullopt;
  if (!source)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(transpose.getX().getType()).getShape();
  SmallVector<int64_t> axes = transpose.getPermutationVector();
  return QuantizedWeights{transposed(source->elements, shape, axes),
                          transposed(source->scales, shape, axes)};
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

std::optional<Quantized> Quantized::match(Value value) {
  auto narrow = value.getDefiningOp<CastOp>();
  if (!narrow || !isByte(value.getType()) || !elementTypeOf(narrow.getX().getType()).isF32())
    return std::nullopt;
  Quantized result;
  Value y = narrow.getX();
  if (auto sum = y.getDefiningOp<AddOp>()) {
    std::optional<double> zero = splatOf(sum.getRhs());
    if (!zero)
      return std::nullopt;
    result.zero = *zero;
    y = sum.getLhs();
  }
  auto round = y.getDefiningOp<RoundOp>();
  auto quotient = round ? round.getX().getDefiningOp<DivOp>() : DivOp();
  std::optional<double> scale = quotient ? splatOf(quotient.getRhs()) : std::nullopt;
  auto [least, most] = rangeOf(elementTypeOf(value.getType()));
  if (!scale || !(*scale > 0) || std::isinf(*scale) || result.zero < least || result.zero > most ||
      result.zero != std::nearbyint(result.zero))
    return std::nullopt;
  result.scale = float(*scale);
  result.y = quotient.getLhs();
  return result;
}
