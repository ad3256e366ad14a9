// Expands exponentials and logarithms of f64 into polynomials. Those of f32 are in Functions.cpp.

#include "compiler/kernels/math/FloatBuilder.h"
#include "compiler/kernels/math/Functions.h"
#include <limits>

using namespace mlir;
using namespace tfc::kernels;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kLog2E = 1.44269504088896340736;
/// ln 2 in two parts: the first has few bits, so that its product with a small integer is exact.
static constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
/// 1.5 * 2^52: adding it to a number rounds that to an integer, which is in the low bits of the
/// sum.
static constexpr double kRounder = 6755399441055744.0;
static constexpr int64_t kRounderBits = 0x4338000000000000;

/// e^x = 2^n e^r with n = x / ln 2 rounded, and the series of e^r. The product with 2^n is computed
/// in two steps, because 2^n may not be representable although the product is.
static Value buildExp(FloatBuilder &f, Value x) {
  Value limited = f.clamp(x, -746.0, 710.0), rounder = f.constant(kRounder);
  Value sum = f.mulAdd(limited, f.constant(kLog2E), rounder);
  Value n = f.ints<arith::SubIOp>(f.bits(sum), f.integer(kRounderBits));
  Value whole = f.sub(sum, rounder);
  Value r = f.mulAdd(whole, f.constant(-kLn2High), limited);
  r = f.mulAdd(whole, f.constant(-kLn2Low), r);
  Value p = f.polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                             1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                             1.0 / 6, 0.5});
  Value y = f.add(f.mulAdd(f.mul(r, r), p, r), f.constant(1.0));
  Value half = f.ints<arith::ShRSIOp>(n, f.integer(1));
  Value rest = f.ints<arith::SubIOp>(n, half);
  return f.mul(f.mul(y, f.powerOfTwo(half)), f.powerOfTwo(rest));
}

/// ln(2^e (1 + t)) with s = t / (2 + t): e ln 2 + t - (t^2 / 2 - s (t^2 / 2 + R(s^2))), as in
/// fdlibm.
static Value buildLog(FloatBuilder &f, Value x) {
  Value isDenormal = f.less(x, f.constant(2.2250738585072014e-308));
  Value big = f.select(isDenormal, f.mul(x, f.constant(0x1p54)), x);
  Value bits = f.bits(big);
  // The exponent is chosen such that 1 + t is between sqrt(1/2) and sqrt(2).
  Value shifted = f.ints<arith::SubIOp>(bits, f.integer(0x3fe6a09e667f3bcd));
  Value e = f.ints<arith::ShRSIOp>(shifted, f.integer(52));
  Value m = f.fromBits(f.ints<arith::SubIOp>(bits, f.ints<arith::ShLIOp>(e, f.integer(52))));
  Value exponent = f.toFloat(e);
  exponent = f.select(isDenormal, f.sub(exponent, f.constant(54.0)), exponent);
  Value t = f.sub(m, f.constant(1.0));
  Value s = f.div(t, f.add(t, f.constant(2.0))), s2 = f.mul(s, s);
  Value rest = f.mul(s2, f.polynomial(s2, {1.479819860511658591e-01, 1.531383769920937332e-01,
                                           1.818357216161805012e-01, 2.222219843214978396e-01,
                                           2.857142874366239149e-01, 3.999999999940941908e-01,
                                           6.666666666666735130e-01}));
  Value half = f.mul(f.mul(t, t), f.constant(0.5));
  Value low = f.mulAdd(exponent, f.constant(kLn2Low), f.mul(s, f.add(half, rest)));
  Value y = f.mulAdd(exponent, f.constant(kLn2High), f.sub(t, f.sub(half, low)));
  Value zero = f.constant(0.0);
  y = f.select(f.equal(x, zero), f.constant(-kInfinity), y);
  y = f.select(f.less(x, zero), f.constant(kNan), y);
  y = f.select(f.equal(x, f.constant(kInfinity)), x, y);
  return f.select(f.isNan(x), x, y);
}

namespace {

/// Replaces an operation on f64 by the result of `Build` for its operand.
template <typename Op, Value (*Build)(FloatBuilder &, Value)>
struct ExpandWide : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, Build(f, op.getOperand()));
    return success();
  }
};

} // namespace

void tfc::kernels::populateWidePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandWide<math::ExpOp, buildExp>, ExpandWide<math::LogOp, buildLog>>(
      patterns.getContext());
}
