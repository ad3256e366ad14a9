// Fuses multiplications with the additions that use them.

#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static bool mayContract(arith::FastMathFlags flags) {
  return arith::bitEnumContainsAny(flags, arith::FastMathFlags::contract);
}

/// The multiplication that an operand of an addition is, if nothing else uses it.
static arith::MulFOp productOf(Value operand) {
  auto product = operand.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() && mayContract(product.getFastmath()) ? product : nullptr;
}

static bool canFuse(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return (element.isF32() || element.isF64()) &&
         mayContract(cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue());
}

static void fuse(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  arith::MulFOp product = productOf(left);
  Value other = product ? right : left;
  if (!product)
    product = productOf(right);
  if (!product)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value factor = product.getLhs();
  if (isa<arith::SubFOp>(op)) {
    Value &negated = other == right ? other : factor;
    negated = arith::NegFOp::create(b, loc, negated);
  }
  Value fused = math::FmaOp::create(b, loc, factor, product.getRhs(), other);
  op->getResult(0).replaceAllUsesWith(fused);
  op->erase();
  product->erase();
}

void tfc::kernels::fuseMultiplyAdds(Operation *function) {
  SmallVector<Operation *> sums;
  function->walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op) && canFuse(op))
      sums.push_back(op);
  });
  llvm::for_each(sums, fuse);
}
