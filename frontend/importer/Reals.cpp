// Evaluates arithmetic on floats with which models compute scales, limits and sizes: on constants
// as the operations do, and exactly on sizes that have been cast. Sizes themselves, which are
// integers, are evaluated while nodes are built (dfg::SizeTensor).

#include "frontend/importer/Reals.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/FoldElement.h"
#include "dialects/dfg/ScanOps.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/SizeTensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

using dfg::DimExpr;
using dfg::SizeTensor;

//===----------------------------------------------------------------------===//
// Ratios
//===----------------------------------------------------------------------===//

/// Returns the coefficient of the first term, which an expression other than 0 has.
static int64_t leadingCoefficient(const DimExpr &size) { return size.getTerms().begin()->second; }

std::optional<DimExpr> Ratio::asInteger() const {
  if (numerator.isConstant(0))
    return DimExpr(0);
  DimExpr quotient = DimExpr::floorDiv(numerator, denominator);
  if (quotient * denominator == numerator)
    return quotient;
  // As 2 for `(2 * n - 2) / (n - 1)`.
  DimExpr factor = leadingCoefficient(numerator) / leadingCoefficient(denominator);
  return factor * denominator == numerator ? std::optional(factor) : std::nullopt;
}

std::optional<DimExpr> Ratio::floor() const {
  if (std::optional<DimExpr> integer = asInteger())
    return integer;
  return denominator.constant() ? std::optional(DimExpr::floorDiv(numerator, denominator))
                                : std::nullopt;
}

std::optional<DimExpr> Ratio::ceil() const {
  return Ratio{numerator + denominator - DimExpr(1), denominator}.floor();
}

std::optional<DimExpr> Ratio::truncate() const {
  return numerator.interval().first.value_or(-1) >= 0 ? floor() : asInteger();
}

DimExpr Ratio::limit() const {
  // 16 roundings to 24 bits change a number by less than a part in 2^16.
  constexpr int64_t kPrecision = 1 << 16;
  return DimExpr::floorDiv(numerator, denominator) +
         DimExpr::floorDiv(numerator, denominator * DimExpr(kPrecision)) + DimExpr(2);
}

/// Denominators of numbers by which sizes are multiplied.
static constexpr int64_t kMostDenominator = 1024;

std::optional<Ratio> Ratio::exact(double number) {
  for (int64_t denominator = 1; denominator <= kMostDenominator; denominator *= 2)
    if (double scaled = number * double(denominator);
        std::trunc(scaled) == scaled && std::abs(scaled) < 0x1p53)
      return Ratio{int64_t(scaled), denominator};
  return std::nullopt;
}

std::optional<Ratio> Ratio::above(double number) {
  double scaled = std::ceil(number * double(kMostDenominator));
  return scaled >= 0 && scaled < 0x1p40 ? std::optional(Ratio{int64_t(scaled), kMostDenominator})
                                        : std::nullopt;
}

/// Returns an integer with the denominator 1, and other numbers without sizes.
static Ratio simplified(Ratio ratio) {
  if (std::optional<DimExpr> integer = ratio.asInteger())
    return Ratio{*integer};
  int64_t above = leadingCoefficient(ratio.numerator);
  int64_t below = leadingCoefficient(ratio.denominator), common = std::gcd(above, below);
  Ratio number{above / common, below / common};
  bool isSame =
      ratio.numerator * number.denominator == ratio.denominator * number.numerator && below > 0;
  return isSame ? number : ratio;
}

Ratio operator+(const Ratio &a, const Ratio &b) {
  if (a.denominator == b.denominator)
    return simplified({a.numerator + b.numerator, a.denominator});
  return simplified(
      {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator});
}

Ratio operator-(const Ratio &a, const Ratio &b) { return a + Ratio{DimExpr(-1)} * b; }

Ratio operator*(const Ratio &a, const Ratio &b) {
  return simplified({a.numerator * b.numerator, a.denominator * b.denominator});
}

std::optional<Ratio> operator/(const Ratio &a, const Ratio &b) {
  auto [least, most] = b.numerator.interval();
  if (most && *most < 0)
    return a * Ratio{DimExpr(0) - b.denominator, DimExpr(0) - b.numerator};
  if (b.numerator.isConstant(0) || !least || *least < 0)
    return std::nullopt;
  return a * Ratio{b.denominator, b.numerator};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// An element of a tensor: a constant as an attribute of its element type, a ratio of sizes, or an
/// upper bound of a number that is not negative and depends on sizes alone.
struct Element {
  Attribute constant;
  Ratio ratio;
  bool isBound = false;
};
using Elements = SmallVector<Element>;
} // namespace

static double toDouble(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  auto integer = cast<IntegerAttr>(element);
  return integer.getValue().roundToDouble(!integer.getType().isUnsignedInteger());
}

static std::optional<double> toDouble(const Element &element) {
  if (element.constant)
    return toDouble(element.constant);
  if (element.isBound)
    return std::nullopt;
  std::optional<int64_t> numerator = element.ratio.numerator.constant();
  std::optional<int64_t> denominator = element.ratio.denominator.constant();
  return numerator && denominator ? std::optional(double(*numerator) / double(*denominator))
                                  : std::nullopt;
}

static std::optional<Ratio> toRatio(const Element &element) {
  if (element.isBound)
    return std::nullopt;
  return element.constant ? Ratio::exact(toDouble(element.constant)) : std::optional(element.ratio);
}

static std::optional<DimExpr> toSize(const Element &element) {
  std::optional<Ratio> ratio = toRatio(element);
  return ratio ? ratio->asInteger() : std::nullopt;
}

/// Returns what `convert` makes of each element; std::nullopt if it fails for one.
template <typename To>
static std::optional<SmallVector<To>>
convertElements(const std::optional<Elements> &elements,
                std::optional<To> (*convert)(const Element &)) {
  if (!elements)
    return std::nullopt;
  SmallVector<To> results;
  for (const Element &element : *elements) {
    std::optional<To> result = convert(element);
    if (!result)
      return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

/// Returns an upper bound of an element that is not negative.
static std::optional<Ratio> upperBound(const Element &element) {
  if (element.constant)
    return Ratio::above(toDouble(element.constant));
  bool isPositive = element.isBound || element.ratio.numerator.interval().first.value_or(-1) >= 0;
  return isPositive ? std::optional(element.ratio) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Longer chains are not followed, and shorter ones where values are visited repeatedly.
static constexpr unsigned kMaxDepth = 64, kMaxDescribedDepth = 16;

static std::optional<Ratio> toInteger(std::optional<DimExpr> integer) {
  return integer ? std::optional(Ratio{*integer}) : std::nullopt;
}

/// Casts to integers round toward 0. Sizes fit in 32 bits or more.
static std::optional<Ratio> castRatio(dfg::CastOp op, const Ratio &x) {
  Type type = op.getDtype();
  if (isa<FloatType>(type))
    return x;
  bool isWide = type.isSignlessInteger(32) || type.isSignlessInteger(64);
  return isWide ? toInteger(x.truncate()) : std::nullopt;
}

/// Returns true if floats hold the number exactly, so that sums and products with it are not
/// rounded.
static bool isExact(const Ratio &x) {
  std::optional<int64_t> denominator = x.denominator.constant();
  return denominator && isPowerOf2_64(*denominator);
}

/// Returns what an operation computes from ratios, as far as models compute sizes with it.
static std::optional<Ratio> applyToRatios(Operation *op, ArrayRef<Ratio> x) {
  using Result = std::optional<Ratio>;
  auto type = dyn_cast<FloatType>(dfg::elementTypeOf(op->getResult(0).getType()));
  bool isRounded = isa<dfg::AddOp, dfg::SubOp, dfg::MulOp>(op) && !all_of(x, isExact);
  if ((type && type.getWidth() < 32) || isRounded)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](dfg::AddOp) { return x[0] + x[1]; })
      .Case([&](dfg::SubOp) { return x[0] - x[1]; })
      .Case([&](dfg::MulOp) { return x[0] * x[1]; })
      .Case([&](dfg::DivOp) { return x[0] / x[1]; })
      .Case([&](dfg::FloorOp) { return toInteger(x[0].floor()); })
      .Case([&](dfg::CeilOp) { return toInteger(x[0].ceil()); })
      .Case([&](dfg::CastOp cast) { return castRatio(cast, x[0]); })
      .Default(Result());
}

/// Returns an upper bound of what an operation computes from numbers that are not negative.
static std::optional<Ratio> applyToBounds(Operation *op, ArrayRef<Element> operands) {
  using Result = std::optional<Ratio>;
  auto type = dyn_cast<FloatType>(dfg::elementTypeOf(op->getResult(0).getType()));
  SmallVector<Ratio> x;
  for (const Element &operand : operands)
    if (Result bound = upperBound(operand))
      x.push_back(*bound);
  if (x.size() != operands.size() || (type && type.getWidth() < 32))
    return std::nullopt;
  auto divide = [&]() -> Result {
    double divisor = operands[1].constant ? toDouble(operands[1].constant) : 0;
    Result factor = divisor > 0 ? Ratio::above(1 / divisor) : std::nullopt;
    return factor ? Result(x[0] * *factor) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](dfg::AddOp) { return x[0] + x[1]; })
      .Case([&](dfg::MulOp) { return x[0] * x[1]; })
      .Case([&](dfg::DivOp) { return divide(); })
      .Case<dfg::FloorOp, dfg::CastOp>([&](auto) { return x[0]; })
      .Case<dfg::CeilOp, dfg::RoundOp>([&](auto) { return x[0] + Ratio{DimExpr(1)}; })
      .Default(Result());
}

static std::optional<Element> apply(dfg::ScalarOpInterface op, ArrayRef<Element> operands) {
  if (all_of(operands, [](const Element &x) { return bool(x.constant); })) {
    Attribute folded =
        dfg::foldElement(op, map_to_vector(operands, [](auto &x) { return x.constant; }));
    return folded ? std::optional(Element{folded, {}}) : std::nullopt;
  }
  SmallVector<Ratio> ratios;
  for (const Element &operand : operands)
    if (std::optional<Ratio> ratio = toRatio(operand))
      ratios.push_back(*ratio);
  if (ratios.size() == operands.size())
    if (std::optional<Ratio> result = applyToRatios(op, ratios))
      return Element{{}, *result};
  std::optional<Ratio> bound = applyToBounds(op, operands);
  return bound ? std::optional(Element{{}, *bound, /*isBound=*/true}) : std::nullopt;
}

namespace {
/// Evaluates values, each of them once.
class Evaluator {
public:
  explicit Evaluator(const KnownValues &given) : given(given) {}

  /// Returns the elements of a value in row-major order; std::nullopt if they are not known.
  std::optional<Elements> evaluate(Value value, unsigned depth = 0);

private:
  std::optional<Elements> compute(Value value, unsigned depth);
  std::optional<Elements> applyElementwise(dfg::ScalarOpInterface op, unsigned depth);
  std::optional<Elements> clampNumber(dfg::MinimumOp op, unsigned depth);
  std::optional<Elements> moveElements(Operation *op, unsigned depth);
  std::optional<SizeTensor> evaluateIntegers(Value value, unsigned depth);
  std::optional<Elements> reduce(Operation *op, unsigned depth);
  std::optional<Elements> sumUp(dfg::CumsumOp op, unsigned depth);

  const KnownValues &given;
  llvm::DenseMap<Value, std::optional<Elements>> known;
};
} // namespace

/// Evaluates the operands of `op`, all with the shape of the result or one element.
std::optional<Elements> Evaluator::applyElementwise(dfg::ScalarOpInterface op, unsigned depth) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<int64_t> count = dfg::countSizes(type.getShape());
  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Elements> elements = evaluate(operand, depth + 1);
    auto operandType = cast<RankedTensorType>(operand.getType());
    if (!elements || !count || (elements->size() != 1 && operandType.getShape() != type.getShape()))
      return std::nullopt;
    operands.push_back(std::move(*elements));
  }
  Elements results;
  for (int64_t i = 0; i < *count; ++i) {
    auto element = [&](const Elements &x) { return x[x.size() == 1 ? 0 : i]; };
    std::optional<Element> result = apply(op, map_to_vector(operands, element));
    if (!result)
      return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

/// Evaluates `min(7, max(7, x))`, whatever `x` is.
std::optional<Elements> Evaluator::clampNumber(dfg::MinimumOp op, unsigned depth) {
  auto numberAt = [&](Value value) {
    std::optional<Elements> number = evaluate(value, depth + 1);
    return number && number->size() == 1 ? toDouble(number->front()) : std::nullopt;
  };
  for (auto [bound, other] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    auto raised = other.getDefiningOp<dfg::MaximumOp>();
    std::optional<double> most = raised ? numberAt(bound) : std::nullopt;
    for (Value least : raised ? ValueRange(raised->getOperands()) : ValueRange())
      if (most && numberAt(least).value_or(*most - 1) >= *most)
        return evaluate(bound, depth + 1);
  }
  return std::nullopt;
}

/// Returns a tensor with the positions of elements as its elements, from `start` on.
static std::optional<SizeTensor> numberElements(Value value, size_t start) {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<int64_t> count = dfg::countSizes(type.getShape());
  if (!count)
    return std::nullopt;
  dfg::Shape numbers;
  for (int64_t i = 0; i < *count; ++i)
    numbers.push_back(int64_t(start) + i);
  return dfg::makeSizes(IntegerType::get(value.getContext(), 64), type.getShape(), numbers);
}

/// Evaluates an operation whose result has the elements of its operands in another order, by
/// evaluating it on their positions.
std::optional<Elements> Evaluator::moveElements(Operation *op, unsigned depth) {
  Elements elements;
  SmallVector<SizeTensor> positions;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isIndex = isa<dfg::GatherOp>(op) && operand.getOperandNumber() > 0;
    std::optional<Elements> moved = isIndex ? Elements() : evaluate(operand.get(), depth + 1);
    std::optional<SizeTensor> sizes = isIndex ? evaluateIntegers(operand.get(), depth + 1)
                                              : numberElements(operand.get(), elements.size());
    if (!moved || !sizes || (!isIndex && moved->size() != sizes->values.size()))
      return std::nullopt;
    append_range(elements, *moved);
    positions.push_back(std::move(*sizes));
  }
  auto result = dfg::evaluateSizes(op->getName().stripDialect(),
                                   map_to_vector(positions, [](const SizeTensor &x) { return &x; }),
                                   op->getAttrDictionary());
  auto order = result ? result->getConstants() : std::nullopt;
  if (!order)
    return std::nullopt;
  return map_to_vector(*order, [&](int64_t position) { return elements[position]; });
}

/// Returns the elements of a tensor of integers, if they are numbers or sizes.
std::optional<SizeTensor> Evaluator::evaluateIntegers(Value value, unsigned depth) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<IntegerType>(type.getElementType()))
    return std::nullopt;
  std::optional<dfg::Shape> sizes = convertElements<DimExpr>(evaluate(value, depth), toSize);
  return sizes ? dfg::makeSizes(type.getElementType(), type.getShape(), std::move(*sizes))
               : std::nullopt;
}

static std::optional<Elements> toElements(const std::optional<SizeTensor> &sizes) {
  if (!sizes || any_of(sizes->values, dfg::isOverflow))
    return std::nullopt;
  return map_to_vector(sizes->values, [&](const DimExpr &size) {
    std::optional<int64_t> number = size.constant();
    return number ? Element{IntegerAttr::get(sizes->elementType, *number), {}}
                  : Element{{}, {size}};
  });
}

/// Evaluates a reduction of integers.
std::optional<Elements> Evaluator::reduce(Operation *op, unsigned depth) {
  std::optional<SizeTensor> x = evaluateIntegers(op->getOperand(0), depth + 1);
  if (!x)
    return std::nullopt;
  return toElements(
      dfg::evaluateSizes(op->getName().stripDialect(), {&*x}, op->getAttrDictionary()));
}

/// Evaluates sums of integers up to each one along an axis.
std::optional<Elements> Evaluator::sumUp(dfg::CumsumOp op, unsigned depth) {
  std::optional<SizeTensor> x = evaluateIntegers(op.getX(), depth + 1);
  if (!x || x->shape.empty())
    return std::nullopt;
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + x->getRank() : op.getAxis();
  int64_t length = x->shape[axis], inner = 1;
  for (int64_t size : ArrayRef(x->shape).drop_front(axis + 1))
    inner *= size;
  dfg::Shape sums = x->values;
  for (int64_t first = 0, count = sums.size(); first < count; ++first) {
    if (first / inner % length != 0)
      continue;
    DimExpr sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = first + (op.getReverse() ? length - 1 - i : i) * inner;
      DimExpr next = sum + x->values[at];
      sums[at] = op.getExclusive() ? sum : next;
      sum = next;
    }
  }
  return toElements(dfg::makeSizes(x->elementType, x->shape, sums));
}

static std::optional<Elements> constantElements(ElementsAttr constant) {
  if (constant.getNumElements() > SizeTensor::kMaxElements)
    return std::nullopt;
  // Constants in files have no iterators.
  auto values = constant.tryGetValues<Attribute>();
  if (!values)
    return std::nullopt;
  return map_to_vector(*values, [](Attribute value) { return Element{value, {}}; });
}

static std::optional<Elements> sizeElements(Value value) {
  std::optional<SizeTensor> sizes = dfg::evaluateSizes(value);
  if (!sizes || any_of(sizes->values, dfg::isOverflow))
    return std::nullopt;
  return map_to_vector(sizes->values, [](const DimExpr &size) { return Element{{}, {size}}; });
}

std::optional<Elements> Evaluator::compute(Value value, unsigned depth) {
  ElementsAttr constant;
  if (auto found = given.find(value); found != given.end())
    return constantElements(found->second);
  if (matchPattern(value, m_Constant(&constant)))
    return constantElements(constant);
  if (std::optional<Elements> sizes = sizeElements(value))
    return sizes;
  Operation *op = value.getDefiningOp();
  // If a node is dead, nothing needs its value.
  if (auto node = dyn_cast_if_present<dfg::NodeOp>(op)) {
    unsigned result = cast<OpResult>(value).getResultNumber();
    Operation *end = node.getBody().front().getTerminator();
    return result < end->getNumOperands() ? evaluate(end->getOperand(result), depth + 1)
                                          : std::nullopt;
  }
  if (isa_and_present<dfg::ReshapeOp, dfg::ExpandOp, dfg::SqueezeOp, dfg::TransposeOp, dfg::SliceOp,
                      dfg::ConcatOp, dfg::StackOp, dfg::BroadcastOp, dfg::GatherOp, dfg::TileOp>(
          op))
    return moveElements(op, depth);
  if (isa_and_present<dfg::SumOp, dfg::ProdOp, dfg::MaxOp, dfg::MinOp>(op))
    return reduce(op, depth);
  if (auto sums = dyn_cast_if_present<dfg::CumsumOp>(op))
    return sumUp(sums, depth);
  auto elementwise = dyn_cast_if_present<dfg::ScalarOpInterface>(op);
  std::optional<Elements> found = elementwise ? applyElementwise(elementwise, depth) : std::nullopt;
  auto least = dyn_cast_if_present<dfg::MinimumOp>(op);
  return !found && least && isa<IntegerType>(dfg::elementTypeOf(value.getType()))
             ? clampNumber(least, depth)
             : found;
}

std::optional<Elements> Evaluator::evaluate(Value value, unsigned depth) {
  if (!value || depth > kMaxDepth || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Elements> elements = compute(value, depth);
  known[value] = elements;
  return elements;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<SmallVector<double>> evaluateReals(Value value, const KnownValues &given) {
  return convertElements<double>(Evaluator(given).evaluate(value), toDouble);
}

std::optional<SmallVector<Ratio>> evaluateRatios(Value value, const KnownValues &given) {
  return convertElements<Ratio>(Evaluator(given).evaluate(value), toRatio);
}

std::optional<dfg::Shape> evaluateIntegers(Value value, const KnownValues &given) {
  if (!value || !isa<IntegerType>(dfg::elementTypeOf(value.getType())))
    return std::nullopt;
  return convertElements<DimExpr>(Evaluator(given).evaluate(value), toSize);
}

std::optional<dfg::Shape> truncateReals(Value value, bool isWide, const KnownValues &given) {
  double mostExact = isWide ? 0x1p53 : 0x1p31;
  dfg::Shape values;
  if (std::optional<SmallVector<double>> numbers = evaluateReals(value, given)) {
    for (double number : *numbers) {
      if (!(std::abs(number) < mostExact))
        return std::nullopt;
      values.push_back(int64_t(number));
    }
    return values;
  }
  std::optional<SmallVector<Ratio>> ratios = evaluateRatios(value, given);
  for (const Ratio &ratio : ratios.value_or(SmallVector<Ratio>())) {
    std::optional<DimExpr> integer = ratio.truncate();
    if (!integer)
      return std::nullopt;
    values.push_back(*integer);
  }
  return ratios ? std::optional(std::move(values)) : std::nullopt;
}

double countSteps(double start, double limit, double step, Type type) {
  auto floats = dyn_cast<FloatType>(type);
  if (!floats)
    return std::ceil((limit - start) / step);
  auto round = [&](double number) {
    APFloat rounded(number);
    bool losesInfo;
    rounded.convert(floats.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded;
  };
  APFloat count = (round(limit) - round(start)) / round(step);
  return std::ceil(count.convertToDouble());
}

static std::optional<BoundedRatio> toBounded(const Element &element) {
  if (std::optional<Ratio> exact = toRatio(element))
    return BoundedRatio{*exact, /*isBound=*/false};
  std::optional<Ratio> bound = upperBound(element);
  return bound ? std::optional(BoundedRatio{*bound, /*isBound=*/true}) : std::nullopt;
}

std::optional<SmallVector<BoundedRatio>> evaluateBounds(Value value) {
  KnownValues none;
  return convertElements<BoundedRatio>(Evaluator(none).evaluate(value), toBounded);
}

static bool describe(Value value, unsigned depth, raw_ostream &os) {
  ElementsAttr constant;
  Operation *op = value.getDefiningOp();
  if (std::optional<Elements> sizes = sizeElements(value)) {
    interleaveComma(*sizes, os, [&](const Element &x) { os << x.ratio.numerator.canonical(); });
    return true;
  }
  if (matchPattern(value, m_Constant(&constant))) {
    os << constant;
    return true;
  }
  if (!op || op->getNumRegions() || op->getNumOperands() == 0 || depth > kMaxDescribedDepth)
    return false;
  os << op->getName() << op->getAttrDictionary() << '(';
  for (Value operand : op->getOperands())
    if (!describe(operand, depth + 1, os))
      return false;
  os << ')';
  return true;
}

std::string describeComputation(Value value) {
  std::string text;
  raw_string_ostream os(text);
  return describe(value, 0, os) ? text : "";
}

} // namespace tfc::importer
