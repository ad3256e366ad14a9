// Expands sine, cosine and arctangents of f32 into polynomials. Large arguments of sine and cosine
// are left to the library.

#include "compiler/kernels/math/FloatBuilder.h"
#include "compiler/kernels/math/Functions.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace tfc;
using namespace tfc::kernels;

/// Up to this argument, the products of the number of quarter turns and the parts of pi / 2 are
/// exact.
static constexpr double kLargestArgument = 8192.0;
/// pi / 2 in parts of few bits, so that their products with the number of quarter turns are exact,
/// and a remainder, which is all that is left of arguments near a multiple of pi / 2.
static constexpr double kHalfPi[] = {1.5703125, 4.837512969970703125e-4, 7.549533620476723e-08,
                                     2.5633440682570896e-12};
static constexpr double kTwoOverPi = 0.636619772367581343076;
/// 1.5 * 2^23: adding it to a number rounds that to an integer, which is in the low bits of the
/// sum.
static constexpr double kRounder = 12582912.0;

/// The sine of x plus `quarters` quarter turns, for |x| <= kLargestArgument.
static Value buildTurned(FloatBuilder &f, Value x, int32_t quarters) {
  Value rounder = f.constant(kRounder);
  Value sum = f.mulAdd(x, f.constant(kTwoOverPi), rounder);
  Value turns = f.sub(sum, rounder);
  Value r = x;
  for (double part : kHalfPi)
    r = f.mulAdd(turns, f.constant(-part), r);
  Value quarter = f.ints<arith::AddIOp>(f.bits(sum), f.integer(quarters));

  Value r2 = f.mul(r, r);
  Value p = f.polynomial(r2, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  Value sine = f.mulAdd(f.mul(r, r2), p, r);
  Value q = f.polynomial(r2, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  Value cosine = f.mulAdd(r2, f.constant(-0.5), f.constant(1.0));
  cosine = f.mulAdd(f.mul(r2, r2), q, cosine);

  Value odd = f.ints<arith::AndIOp>(quarter, f.integer(1));
  Value y = f.select(f.equalInts(odd, f.integer(0)), sine, cosine);
  Value half = f.ints<arith::AndIOp>(quarter, f.integer(2));
  Value sign = f.ints<arith::ShLIOp>(half, f.integer(30));
  return f.fromBits(f.ints<arith::XOrIOp>(f.bits(y), sign));
}

/// The angle of the point (b, a), where neither is negative. From three sixteenths of a turn on, it
/// is computed from the angle of (a, -b), from one sixteenth on from that of (a + b, a - b), so
/// that the argument of the polynomial is at most tan(pi / 8).
static Value buildAngle(FloatBuilder &f, Value a, Value b) {
  Value isLarge = f.less(f.mul(b, f.constant(2.414213562373095)), a);
  Value isMiddle = f.less(f.mul(b, f.constant(0.414213562373095)), a);
  Value over = f.select(isLarge, f.neg(b), f.select(isMiddle, f.sub(a, b), a));
  Value under = f.select(isLarge, a, f.select(isMiddle, f.add(a, b), b));
  Value turn = f.select(isLarge, f.constant(1.57079632679489662),
                        f.select(isMiddle, f.constant(0.785398163397448310), f.constant(0.0)));
  Value r = f.div(over, under), r2 = f.mul(r, r);
  Value p =
      f.polynomial(r2, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return f.add(turn, f.mulAdd(f.mul(r, r2), p, r));
}

static Value buildAtan(FloatBuilder &f, Value x) {
  return f.copySign(buildAngle(f, f.abs(x), f.constant(1.0)), x);
}

static Value buildAtan2(FloatBuilder &f, Value y, Value x) {
  Value zero = f.constant(0.0), one = f.constant(1.0);
  Value infinity = f.constant(std::numeric_limits<double>::infinity());
  Value a = f.abs(y), b = f.abs(x);
  // First the axes and the diagonals at infinity, then sums that would overflow and differences
  // that would be flushed to zero.
  auto both = [&](Value limit) {
    return f.ints<arith::AndIOp>(f.equal(a, limit), f.equal(b, limit));
  };
  Value areZero = both(zero), areInfinite = both(infinity);
  a = f.select(areInfinite, one, a);
  b = f.select(f.ints<arith::OrIOp>(areZero, areInfinite), one, b);
  Value large = f.constant(1e38), small = f.constant(1e-19);
  Value shrinks = f.ints<arith::OrIOp>(f.less(large, a), f.less(large, b));
  Value grows = f.ints<arith::AndIOp>(f.less(a, small), f.less(b, small));
  Value factor = f.select(shrinks, f.constant(0.25), f.select(grows, f.constant(0x1p60), one));
  Value angle = buildAngle(f, f.mul(a, factor), f.mul(b, factor));
  Value isLeft = f.less(f.copySign(one, x), zero);
  angle = f.select(isLeft, f.sub(f.constant(3.14159265358979323846), angle), angle);
  return f.copySign(angle, y);
}

namespace {

struct ExpandAtan : OpRewritePattern<math::AtanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AtanOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, buildAtan(f, op.getOperand()));
    return success();
  }
};

struct ExpandAtan2 : OpRewritePattern<math::Atan2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Atan2Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, buildAtan2(f, op.getLhs(), op.getRhs()));
    return success();
  }
};

/// Computes a sine or cosine by a polynomial, or by the library in lanes whose argument is too
/// large: the value of a lane does not depend on the other lanes.
template <typename Op, int32_t Quarters> struct ExpandTurned : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() || kernel::isFromLibrary(op))
      return failure();
    Location loc = op.getLoc();
    FloatBuilder f(rewriter, loc, op.getType());
    Value x = op.getOperand();
    Value y = buildTurned(f, x, Quarters);
    if (Quarters == 0) // also keeps the sign of zero
      y = f.select(f.less(f.abs(x), f.constant(1e-4)), x, y);
    Value fits = f.less(f.abs(x), f.constant(kLargestArgument)), allFit = fits;
    if (isa<VectorType>(op.getType()))
      allFit = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::AND, fits);
    auto branch = scf::IfOp::create(rewriter, loc, op.getType(), allFit, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, y);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    auto exact = Op::create(rewriter, loc, x);
    kernel::setFromLibrary(exact);
    scf::YieldOp::create(rewriter, loc, f.select(fits, y, exact.getResult()));
    rewriter.replaceOp(op, branch.getResult(0));
    return success();
  }
};

} // namespace

void tfc::kernels::populateTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTurned<math::SinOp, 0>, ExpandTurned<math::CosOp, 1>, ExpandAtan, ExpandAtan2>(
      patterns.getContext());
}
