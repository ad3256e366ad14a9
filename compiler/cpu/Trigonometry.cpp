#include "compiler/cpu/FloatBuilder.h"
#include "compiler/cpu/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// Up to here the quarter turns times each part of pi / 2 are exact.
static constexpr double kLargestArgument = 8192.0;
/// pi / 2 in three parts of few bits.
static constexpr double kHalfPi[] = {1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8};
static constexpr double kTwoOverPi = 0.636619772367581343076;
/// 1.5 * 2^23: what is added to it is rounded to an integer, which its last bits hold.
static constexpr double kRounder = 12582912.0;
/// Marks operations that are left to the library.
static constexpr StringLiteral kExact = "tfc.exact";

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

namespace {

/// Computes a sine or cosine by a polynomial unless a lane's argument is too large for it.
template <typename Op, int32_t Quarters> struct ExpandTurned : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() || op->hasAttr(kExact))
      return failure();
    Location loc = op.getLoc();
    FloatBuilder f(rewriter, loc, op.getType());
    Value x = op.getOperand();
    Value fits = f.less(f.abs(x), f.constant(kLargestArgument));
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      fits = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::AND, fits);
    auto branch = scf::IfOp::create(rewriter, loc, op.getType(), fits, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value y = buildTurned(f, x, Quarters);
    if (Quarters == 0) // also keeps the sign of zero
      y = f.select(f.less(f.abs(x), f.constant(1e-4)), x, y);
    scf::YieldOp::create(rewriter, loc, y);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    auto exact = Op::create(rewriter, loc, x);
    exact->setAttr(kExact, rewriter.getUnitAttr());
    scf::YieldOp::create(rewriter, loc, exact.getResult());
    rewriter.replaceOp(op, branch.getResult(0));
    return success();
  }
};

} // namespace

void tfc::cpu::populateTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTurned<math::SinOp, 0>, ExpandTurned<math::CosOp, 1>>(patterns.getContext());
}
