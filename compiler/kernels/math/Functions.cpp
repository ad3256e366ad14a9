// Expands exponentials, logarithms, the hyperbolic tangent and the error function of f32 into
// polynomials.

#include "compiler/kernels/math/Functions.h"
#include "compiler/kernels/math/FloatBuilder.h"
#include <limits>

using namespace mlir;
using namespace tfc::kernels;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kLog2E = 1.44269504088896340736;
static constexpr double kLn2 = 0.693147180559945309417;
/// ln 2 in two parts: the first has few bits, so that its product with a small integer is exact.
static constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;

//===--- exponentials -----------------------------------------------------===//

/// e^r - 1 for |r| <= ln(2) / 2.
static Value expm1Small(FloatBuilder &f, Value r) {
  Value p = f.polynomial(r, {1.98527617612853646e-4, 1.39304355252534151e-3, 8.33336077630519867e-3,
                             4.16664853692054749e-2, 0.166666671633720398, 0.5});
  return f.mulAdd(f.mul(r, r), p, r);
}

/// 1.5 * 2^23: adding it to a small number rounds that to an integer, which is in the low bits of
/// the sum.
static constexpr double kRounder = 12582912.0;
static constexpr int32_t kRounderBits = 0x4b400000;

/// Returns the integer that was added to the rounder. NaN becomes some number, where a conversion
/// would be undefined.
static Value roundedInt(FloatBuilder &f, Value sum) {
  return f.ints<arith::SubIOp>(f.bits(sum), f.integer(kRounderBits));
}

/// x - n ln 2, where n is x / ln 2 rounded.
static Value reduceByLn2(FloatBuilder &f, Value x, Value &n) {
  Value rounder = f.constant(kRounder);
  Value sum = f.mulAdd(x, f.constant(kLog2E), rounder);
  n = roundedInt(f, sum);
  Value whole = f.sub(sum, rounder);
  Value r = f.mulAdd(whole, f.constant(-kLn2High), x);
  return f.mulAdd(whole, f.constant(-kLn2Low), r);
}

/// Returns y * 2^n for -252 <= n <= 254, in two steps, so that results that overflow or are
/// denormal are correct.
static Value scale(FloatBuilder &f, Value y, Value n) {
  Value half = f.ints<arith::ShRSIOp>(n, f.integer(1));
  Value rest = f.ints<arith::SubIOp>(n, half);
  return f.mul(f.mul(y, f.powerOfTwo(half)), f.powerOfTwo(rest));
}

static Value buildExp(FloatBuilder &f, Value x) {
  Value n, r = reduceByLn2(f, f.clamp(x, -104.5, 89.0), n);
  return scale(f, f.add(expm1Small(f, r), f.constant(1.0)), n);
}

static Value buildExp2(FloatBuilder &f, Value x) {
  Value limited = f.clamp(x, -151.0, 129.0), rounder = f.constant(kRounder);
  Value sum = f.add(limited, rounder);
  Value r = f.mul(f.sub(limited, f.sub(sum, rounder)), f.constant(kLn2));
  return scale(f, f.add(expm1Small(f, r), f.constant(1.0)), roundedInt(f, sum));
}

/// Computes 2^n (e^r - 1) + (2^n - 1) with half of 2^n, which cannot overflow.
static Value buildExpM1(FloatBuilder &f, Value x) {
  Value n, r = reduceByLn2(f, f.clamp(x, -18.0, 89.0), n);
  Value half = f.powerOfTwo(f.ints<arith::SubIOp>(n, f.integer(1)));
  Value y = f.mulAdd(half, expm1Small(f, r), f.sub(half, f.constant(0.5)));
  y = f.add(y, y);
  Value tiny = f.less(f.abs(x), f.constant(1e-7));
  return f.select(tiny, x, y);
}

//===--- logarithms -------------------------------------------------------===//

/// ln(m) for x = m 2^e with m between sqrt(1/2) and sqrt(2), as the sum of two parts.
struct Logarithm {
  Value high, low, exponent;
};

static Logarithm splitLog(FloatBuilder &f, Value x) {
  Value denormal = f.less(x, f.constant(1.17549435e-38));
  Value big = f.select(denormal, f.mul(x, f.constant(8388608.0)), x);
  // Subtracting the bits of sqrt(1/2) selects the exponent of m.
  Value bits = f.bits(big);
  Value shifted = f.ints<arith::SubIOp>(bits, f.integer(0x3f3504f3));
  Value e = f.ints<arith::ShRSIOp>(shifted, f.integer(23));
  Value m = f.fromBits(f.ints<arith::SubIOp>(bits, f.ints<arith::ShLIOp>(e, f.integer(23))));
  Value exponent = f.toFloat(e);
  exponent = f.select(denormal, f.sub(exponent, f.constant(23.0)), exponent);
  Value t = f.sub(m, f.constant(1.0));
  Value t2 = f.mul(t, t);
  Value p = f.polynomial(t, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                             1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                             3.3333331174e-1});
  Value low = f.mulAdd(t2, f.constant(-0.5), f.mul(f.mul(t, t2), p));
  return {t, low, exponent};
}

/// Returns `y`, except for the limits of a logarithm at 0 and infinity, and NaN for negative
/// numbers and NaN.
static Value limitLog(FloatBuilder &f, Value x, Value y) {
  Value zero = f.constant(0.0);
  y = f.select(f.equal(x, zero), f.constant(-kInfinity), y);
  y = f.select(f.less(x, zero), f.constant(kNan), y);
  y = f.select(f.equal(x, f.constant(kInfinity)), x, y);
  return f.select(f.isNan(x), x, y);
}

static Value logOf(FloatBuilder &f, Value x) {
  Logarithm l = splitLog(f, x);
  Value y = f.add(l.high, f.mulAdd(l.exponent, f.constant(kLn2Low), l.low));
  return f.mulAdd(l.exponent, f.constant(kLn2High), y);
}

static Value buildLog(FloatBuilder &f, Value x) { return limitLog(f, x, logOf(f, x)); }

/// A logarithm with another base: (high + low) * scale + exponent * unit, with both factors in two
/// parts.
static Value scaledLog(FloatBuilder &f, Value x, double scaleHigh, double scaleLow, double unitHigh,
                       double unitLow) {
  Logarithm l = splitLog(f, x);
  Value high = f.constant(scaleHigh);
  Value y = f.mul(l.low, f.constant(scaleHigh + scaleLow));
  y = f.mulAdd(l.high, f.constant(scaleLow), y);
  y = f.mulAdd(l.exponent, f.constant(unitLow), y);
  y = f.mulAdd(l.high, high, y);
  return limitLog(f, x, f.mulAdd(l.exponent, f.constant(unitHigh), y));
}

static Value buildLog2(FloatBuilder &f, Value x) {
  return scaledLog(f, x, 1.4375, kLog2E - 1.4375, 1.0, 0.0);
}

static Value buildLog10(FloatBuilder &f, Value x) {
  return scaledLog(f, x, 0.43359375, 4.3429448190325182765e-1 - 0.43359375, 0.30078125,
                   3.0102999566398119521e-1 - 0.30078125);
}

/// ln(u) x / (u - 1) with u = 1 + x: the rounding errors of u cancel.
static Value buildLog1p(FloatBuilder &f, Value x) {
  Value one = f.constant(1.0);
  Value u = f.add(x, one);
  Value y = f.mul(logOf(f, u), f.div(x, f.sub(u, one)));
  y = limitLog(f, u, y);
  return f.select(f.equal(u, one), x, y);
}

//===--- hyperbolic tangent and error function ----------------------------===//

// Both are x times a quotient of polynomials in x^2. Where x is clamped, the quotient is well above
// 1 regardless of rounding, so the result is exactly 1 from there on.

static Value buildTanh(FloatBuilder &f, Value x) {
  Value t = f.clamp(x, -9.8, 9.8);
  Value t2 = f.mul(t, t);
  Value p =
      f.polynomial(t2, {1.331909072e-08, 2.058349673e-05, 3.494035453e-03, 1.337971836e-01, 1.0});
  Value q =
      f.polynomial(t2, {7.762027394e-07, 3.283094265e-04, 2.587107755e-02, 4.671303332e-01, 1.0});
  return f.clamp(f.div(f.mul(t, p), q), -1.0, 1.0);
}

static Value buildErf(FloatBuilder &f, Value x) {
  Value t = f.clamp(x, -4.2, 4.2);
  Value t2 = f.mul(t, t);
  Value p = f.polynomial(t2, {2.041972266e-06, 2.848084259e-04, 3.779601073e-03, 5.279026181e-02,
                              1.907836348e-01, 1.128379107});
  Value q = f.polynomial(t2, {3.800408012e-05, 1.165210735e-03, 1.499742083e-02, 1.142574400e-01,
                              5.024102926e-01, 1.0});
  return f.clamp(f.div(f.mul(t, p), q), -1.0, 1.0);
}

namespace {

/// Replaces an operation on f32 by the result of `Build` for its operand.
template <typename Op, Value (*Build)(FloatBuilder &, Value)>
struct ExpandFunction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, Build(f, op.getOperand()));
    return success();
  }
};

} // namespace

void tfc::kernels::populateFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFunction<math::ExpOp, buildExp>, ExpandFunction<math::Exp2Op, buildExp2>,
               ExpandFunction<math::ExpM1Op, buildExpM1>, ExpandFunction<math::LogOp, buildLog>,
               ExpandFunction<math::Log2Op, buildLog2>, ExpandFunction<math::Log10Op, buildLog10>,
               ExpandFunction<math::Log1pOp, buildLog1p>, ExpandFunction<math::TanhOp, buildTanh>,
               ExpandFunction<math::ErfOp, buildErf>>(patterns.getContext());
}
