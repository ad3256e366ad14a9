//===- RandomOps.cpp - Random numbers from counters -----------------------===//
//
// Implements random numbers as scalar code over a counter and a position. Every element is drawn
// independently, so results do not depend on how a kernel is divided.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/Scalar.h"
#include <array>

using namespace mlir;
using namespace tfc::dfg;

LogicalResult tfc::dfg::inferRandom(std::optional<Location> location, StringRef op, Dtypes dtypes,
                                    Type counter, DimsAttr shape, std::optional<Type> dtype,
                                    SmallVectorImpl<Type> &results) {
  MLIRContext *context = counter.getContext();
  if (counter != RankedTensorType::get({}, IntegerType::get(context, 64)))
    return emitErrorAbout(location, op, "expects a counter of type i64, but got ", toText(counter),
                          " [dtype]");
  Type standard = Float32Type::get(context);
  if (dtypes != Dtypes::Float)
    standard = IntegerType::get(context, dtypes == Dtypes::Any ? 1 : 32);
  Type type = tensorOf(shape.getExprs(), dtype.value_or(standard));
  if (failed(checkDtypes(location, op, dtypes, type)))
    return failure();
  for (const DimExpr &size : shape.getExprs())
    if (isNonNegative(size) == false)
      return emitErrorAbout(location, op, "expects sizes that are not negative, but got ",
                            size.str(), " [size]");
  results.push_back(type);
  return success();
}

//===----------------------------------------------------------------------===//
// Philox
//===----------------------------------------------------------------------===//

using Words = std::array<Value, 4>;

static Value word(OpBuilder &b, Location loc, uint32_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

/// The low and high half of an i64.
static std::pair<Value, Value> halves(OpBuilder &b, Location loc, Value x) {
  Value shift = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value high = arith::ShRUIOp::create(b, loc, x, shift);
  return {arith::TruncIOp::create(b, loc, b.getI32Type(), x),
          arith::TruncIOp::create(b, loc, b.getI32Type(), high)};
}

/// One block of Philox 4x32-10.
static Words buildPhilox(OpBuilder &b, Location loc, Value counter, Value index, uint64_t seed) {
  auto [c0, c1] = halves(b, loc, index);
  auto [c2, c3] = halves(b, loc, counter);
  Words c = {c0, c1, c2, c3};
  uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
  auto multiply = [&](Value x, int64_t factor) {
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), x);
    Value constant = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(factor));
    return halves(b, loc, arith::MulIOp::create(b, loc, wide, constant));
  };
  auto mix = [&](Value high, Value other, uint32_t key) -> Value {
    Value mixed = arith::XOrIOp::create(b, loc, high, other);
    return arith::XOrIOp::create(b, loc, mixed, word(b, loc, key));
  };
  for (int round = 0; round < 10; ++round) {
    auto [low0, high0] = multiply(c[0], 0xD2511F53);
    auto [low1, high1] = multiply(c[2], 0xCD9E8D57);
    c = {mix(high1, c[1], k0), low1, mix(high0, c[3], k1), low0};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

namespace {
/// Uniform numbers for one element.
class Draw {
public:
  Draw(OpBuilder &b, Location loc, Type dtype, Value counter, Value index, uint64_t seed)
      : s(b, loc), b(b), loc(loc), words(buildPhilox(b, loc, counter, index, seed)) {
    type = dtype.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
  }

  /// The uniform number `i` (0 or 1) in [0, 1).
  Value uniform(int i) {
    if (type.isF32())
      return s.mul(top(words[i], 24), number(0x1p-24));
    Value high = s.mul(top(words[2 * i], 27), number(0x1p26));
    return s.mul(s.add(high, top(words[2 * i + 1], 26)), number(0x1p-53));
  }

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  /// offset + x * scale.
  Value affine(Value x, double scale, double offset) {
    return s.add(s.mul(x, number(scale)), number(offset));
  }

  ScalarBuilder s;

private:
  /// The highest bits of a word, as a number.
  Value top(Value bits, unsigned count) {
    Value shifted = arith::ShRUIOp::create(b, loc, bits, word(b, loc, 32 - count));
    return arith::SIToFPOp::create(b, loc, type, shifted);
  }

  OpBuilder &b;
  Location loc;
  Words words;

public:
  Type type;
};
} // namespace

/// A number in the syntax of the language.
static std::string numberText(const APFloat &value) {
  SmallString<16> text;
  value.toString(text, /*FormatPrecision=*/6, /*FormatMaxPadding=*/6);
  return text.str().str();
}

LogicalResult RandomUniformOp::verify() {
  Type element = elementTypeOf(getType());
  for (auto [name, value] : {std::pair("low", getLow()), std::pair("high", getHigh())})
    if (failed(checkElement(getLoc(), "random_uniform", name, value, element)))
      return failure();
  if (getLow() <= getHigh())
    return success();
  return mlir::emitError(getLoc())
         << quotedName(getLoc(), "random_uniform") << " expects low <= high, but got "
         << numberText(getLow()) << " and " << numberText(getHigh()) << " [random-range]";
}

Value RandomUniformOp::buildDraw(OpBuilder &b, Value counter, Value index) {
  Draw draw(b, getLoc(), elementTypeOf(getType()), counter, index, getSeed());
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  return draw.affine(draw.uniform(0), high - low, low);
}

/// A negative standard deviation is most likely a variance or a logarithm given by mistake.
static LogicalResult checkNormal(Location location, StringRef op, APFloat mean, APFloat stddev,
                                 Type element) {
  if (failed(checkElement(location, op, "mean", mean, element)) ||
      failed(checkElement(location, op, "stddev", stddev, element)))
    return failure();
  if (stddev.convertToDouble() >= 0)
    return success();
  return mlir::emitError(location)
         << quotedName(location, op) << " expects a stddev of at least 0, but got "
         << numberText(stddev) << " [random-range]";
}

LogicalResult RandomNormalOp::verify() {
  return checkNormal(getLoc(), "random_normal", getMean(), getStddev(), elementTypeOf(getType()));
}

Value RandomNormalOp::buildDraw(OpBuilder &b, Value counter, Value index) {
  Draw draw(b, getLoc(), elementTypeOf(getType()), counter, index, getSeed());
  Value u = draw.uniform(0), v = draw.uniform(1);
  Value logarithm = draw.s.create<math::LogOp>(draw.s.sub(draw.number(1.0), u));
  Value radius = draw.s.create<math::SqrtOp>(draw.s.mul(logarithm, draw.number(-2.0)));
  Value angle = draw.s.mul(v, draw.number(2 * M_PI));
  Value normal = draw.s.mul(radius, draw.s.create<math::CosOp>(angle));
  return draw.affine(normal, getStddev().convertToDouble(), getMean().convertToDouble());
}

/// The inverse error function for |y| <= erf(sqrt 2) (M. Giles, Approximating the erfinv function).
static Value buildErfInv(Draw &draw, Value y) {
  static constexpr double kCoefficients[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                             -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                             -0.00417768164,  0.246640727,    1.50140941};
  ScalarBuilder &s = draw.s;
  Value one = draw.number(1.0);
  Value w = s.neg(s.create<math::LogOp>(s.mul(s.sub(one, y), s.add(one, y))));
  w = s.sub(w, draw.number(2.5));
  Value p = draw.number(kCoefficients[0]);
  for (double coefficient : ArrayRef(kCoefficients).drop_front())
    p = s.add(s.mul(p, w), draw.number(coefficient));
  Value x = s.mul(p, y);
  if (!draw.type.isF64())
    return x;
  // Newton's method: the derivative of erf is 2 / sqrt(pi) * exp(-x * x).
  for (int step = 0; step < 2; ++step) {
    Value error = s.sub(s.create<math::ErfOp>(x), y);
    Value slope = s.mul(s.exp(s.mul(x, x)), draw.number(1.0 / M_2_SQRTPI));
    x = s.sub(x, s.mul(error, slope));
  }
  return x;
}

LogicalResult RandomTruncatedNormalOp::verify() {
  return checkNormal(getLoc(), "random_truncated_normal", getMean(), getStddev(),
                     elementTypeOf(getType()));
}

Value RandomTruncatedNormalOp::buildDraw(OpBuilder &b, Value counter, Value index) {
  Draw draw(b, getLoc(), elementTypeOf(getType()), counter, index, getSeed());
  static constexpr double kErfSqrt2 = 0.95449973610364158;
  Value y = draw.affine(draw.uniform(0), 2 * kErfSqrt2, -kErfSqrt2);
  Value normal = buildErfInv(draw, y);
  return draw.affine(normal, M_SQRT2 * getStddev().convertToDouble(), getMean().convertToDouble());
}

LogicalResult RandomIntegerOp::verify() {
  int64_t low = getLow(), high = getHigh();
  if (low >= high || uint64_t(high) - uint64_t(low) > uint64_t(1) << 32)
    return mlir::emitError(getLoc()) << quotedName(getLoc(), "random_integer")
                                     << " expects low < high, at most 2^32 apart, but got " << low
                                     << " and " << high << " [random-range]";
  auto type = cast<IntegerType>(elementTypeOf(getType()));
  APInt largest(64, uint64_t(high - 1)), least(64, uint64_t(low), /*isSigned=*/true);
  unsigned width = type.getWidth();
  bool isHeld = type.isUnsigned() ? low >= 0 && largest.isIntN(width)
                                  : largest.isSignedIntN(width) && least.isSignedIntN(width);
  if (isHeld)
    return success();
  return mlir::emitError(getLoc()) << quotedName(getLoc(), "random_integer") << " from " << low
                                   << " up to " << high << " draws numbers that "
                                   << "are out of range for " << toText(type) << " [random-range]";
}

Value RandomIntegerOp::buildDraw(OpBuilder &b, Value counter, Value index) {
  ScalarBuilder s(b, getLoc());
  Value bits = buildPhilox(b, getLoc(), counter, index, getSeed())[0];
  Value wide = s.create<arith::ExtUIOp>(b.getI64Type(), bits);
  Value scaled = s.create<arith::MulIOp>(wide, s.number(wide, double(getHigh() - getLow())));
  Value offset = s.create<arith::ShRUIOp>(scaled, s.number(wide, 32.0));
  Value low = arith::ConstantOp::create(b, getLoc(), b.getI64IntegerAttr(getLow()));
  Value result = s.create<arith::AddIOp>(offset, low);
  unsigned width = elementTypeOf(getType()).getIntOrFloatBitWidth();
  return width == 64 ? result : s.create<arith::TruncIOp>(b.getIntegerType(width), result);
}

LogicalResult RandomBernoulliOp::verify() {
  double probability = getProbability().convertToDouble();
  if (probability >= 0 && probability <= 1)
    return success();
  return mlir::emitError(getLoc()) << quotedName(getLoc(), "random_bernoulli")
                                   << " expects a probability from 0 to 1, but got "
                                   << numberText(getProbability()) << " [random-range]";
}

Value RandomBernoulliOp::buildDraw(OpBuilder &b, Value counter, Value index) {
  Draw draw(b, getLoc(), b.getF32Type(), counter, index, getSeed());
  Value hit = draw.s.compare(arith::CmpFPredicate::OLT, draw.uniform(0),
                             draw.number(getProbability().convertToDouble()));
  Type type = elementTypeOf(getType());
  if (type.isInteger(1))
    return hit;
  if (isa<FloatType>(type))
    return arith::UIToFPOp::create(b, getLoc(), type.isF64() ? type : Type(b.getF32Type()), hit);
  return arith::ExtUIOp::create(b, getLoc(), b.getIntegerType(type.getIntOrFloatBitWidth()), hit);
}
