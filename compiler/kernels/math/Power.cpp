// Expands powers and remainders of f32, and computes them in f64, because f32 has too few bits for
// them.

#include "compiler/kernels/math/FloatBuilder.h"
#include "compiler/kernels/math/Functions.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace tfc;
using namespace tfc::kernels;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.693147180559945309417;
/// 1.5 * 2^52: adding it to a number rounds that to an integer, which is in the low bits of the
/// sum.
static constexpr double kRounder = 6755399441055744.0;
static constexpr int64_t kRounderBits = 0x4338000000000000;

static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

//===--- powers -----------------------------------------------------------===//

/// log2 of a positive number with a relative error of 2^-38; its limits for 0 and infinity.
static Value buildLog2(FloatBuilder &f, Value x) {
  Value bits = f.bits(x);
  // The exponent is chosen such that the mantissa is between sqrt(1/2) and sqrt(2).
  Value shifted = f.ints<arith::SubIOp>(bits, f.integer(0x3fe6a09e667f3bcd));
  Value e = f.ints<arith::ShRSIOp>(shifted, f.integer(52));
  Value m = f.fromBits(f.ints<arith::SubIOp>(bits, f.ints<arith::ShLIOp>(e, f.integer(52))));
  Value s = f.div(f.sub(m, f.constant(1.0)), f.add(m, f.constant(1.0)));
  Value s2 = f.mul(s, s);
  // ln m = 2 artanh s.
  Value p =
      f.polynomial(s2, {2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value y = f.mulAdd(f.mul(s, p), f.constant(kLog2E), f.toFloat(e));
  y = f.select(f.equal(x, f.constant(0.0)), f.constant(-kInfinity), y);
  return f.select(f.equal(x, f.constant(kInfinity)), x, y);
}

/// 2^x if it is representable in f32, else a number that rounds to the limit in f32.
static Value buildExp2(FloatBuilder &f, Value x) {
  Value limited = f.clamp(x, -200.0, 200.0), rounder = f.constant(kRounder);
  Value sum = f.add(limited, rounder);
  Value n = f.ints<arith::SubIOp>(f.bits(sum), f.integer(kRounderBits));
  Value r = f.mul(f.sub(limited, f.sub(sum, rounder)), f.constant(kLn2));
  Value p = f.polynomial(r, {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                             1.0 / 6, 0.5, 1.0, 1.0});
  return f.mul(p, f.powerOfTwo(n));
}

/// Applies the signs and special values of C's pow to `y`, the power of the magnitude of `x`.
static Value finishPower(OpBuilder &b, Location loc, FloatBuilder &f, Value x, Value exponent,
                         Value y) {
  auto isWhole = [&](Value v) { return f.equal(v, math::RoundEvenOp::create(b, loc, v)); };
  Value zero = f.constant(0.0), one = f.constant(1.0), infinity = f.constant(kInfinity);
  Value no = arith::ConstantOp::create(b, loc, b.getZeroAttr(f.boolType()));
  Value whole = isWhole(exponent), halfWhole = isWhole(f.mul(exponent, f.constant(0.5)));
  Value odd = f.select(halfWhole, no, whole);
  y = f.select(odd, f.copySign(y, x), y);
  Value isNegative = f.ints<arith::AndIOp>(f.less(x, zero), f.less(f.neg(infinity), x));
  y = f.select(f.select(whole, no, isNegative), f.constant(kNan), y);
  Value unordered = f.ints<arith::OrIOp>(f.isNan(x), f.isNan(exponent));
  y = f.select(unordered, f.constant(kNan), y);
  Value onCircle =
      f.ints<arith::AndIOp>(f.equal(f.abs(x), one), f.equal(f.abs(exponent), infinity));
  Value isOne = f.ints<arith::OrIOp>(f.equal(x, one), f.equal(exponent, zero));
  return f.select(f.ints<arith::OrIOp>(isOne, onCircle), one, y);
}

namespace {

struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Location loc = op.getLoc();
    Type wide = withElement(op.getType(), rewriter.getF64Type());
    FloatBuilder f(rewriter, loc, op.getType()), d(rewriter, loc, wide);
    Value base = arith::ExtFOp::create(rewriter, loc, wide, f.abs(op.getLhs()));
    Value exponent = arith::ExtFOp::create(rewriter, loc, wide, op.getRhs());
    Value power = buildExp2(d, d.mul(buildLog2(d, base), exponent));
    Value y = arith::TruncFOp::create(rewriter, loc, op.getType(), power);
    rewriter.replaceOp(op, finishPower(rewriter, loc, f, op.getLhs(), op.getRhs(), y));
    return success();
  }
};

//===--- remainders -------------------------------------------------------===//

/// x - trunc(x / y) y, which is exact in f64 if the quotient has at most 28 bits.
struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() || kernel::isFromLibrary(op))
      return failure();
    Location loc = op.getLoc();
    Type wide = withElement(op.getType(), rewriter.getF64Type());
    FloatBuilder f(rewriter, loc, op.getType()), d(rewriter, loc, wide);
    Value x = arith::ExtFOp::create(rewriter, loc, wide, op.getLhs());
    Value y = arith::ExtFOp::create(rewriter, loc, wide, op.getRhs());
    Value quotient = math::TruncOp::create(rewriter, loc, d.div(x, y));
    Value fits = f.ints<arith::AndIOp>(d.less(d.abs(quotient), d.constant(0x1p28)),
                                       d.less(d.abs(y), d.constant(kInfinity)));
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      fits = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::AND, fits);
    auto branch = scf::IfOp::create(rewriter, loc, op.getType(), fits, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value rest = arith::TruncFOp::create(rewriter, loc, op.getType(), d.sub(x, d.mul(quotient, y)));
    scf::YieldOp::create(rewriter, loc, f.copySign(rest, op.getLhs()));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    auto exact = arith::RemFOp::create(rewriter, loc, op.getLhs(), op.getRhs());
    kernel::setFromLibrary(exact);
    scf::YieldOp::create(rewriter, loc, exact.getResult());
    rewriter.replaceOp(op, branch.getResult(0));
    return success();
  }
};

} // namespace

void tfc::kernels::populatePowerPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPower, ExpandRemainder>(patterns.getContext());
}
