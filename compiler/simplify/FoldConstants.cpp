//===- FoldConstants.cpp - Elementwise operations on constants ------------===//
//
// Folds an operation with the same value in every element through its scalar computation, so that a
// single folder serves all operations. Denormals are flushed to zero, as in a call.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Returns `value` rounded to the floating-point type `to`.
static APFloat rounded(APFloat value, FloatType to) {
  bool losesInfo;
  value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

/// Returns `value`, or a zero of the same sign if it is denormal.
static Attribute flushed(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  if (!number || !number.getValue().isDenormal())
    return value;
  const llvm::fltSemantics &semantics = number.getValue().getSemantics();
  return FloatAttr::get(number.getType(),
                        APFloat::getZero(semantics, number.getValue().isNegative()));
}

/// Returns the element of a splat as the scalar that a kernel computes with.
static TypedAttr toScalar(DenseElementsAttr splat) {
  Type type = splat.getElementType();
  Builder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    FloatType wide = floatType.getWidth() < 32 ? b.getF32Type() : floatType;
    return cast<TypedAttr>(
        flushed(b.getFloatAttr(wide, rounded(splat.getSplatValue<APFloat>(), wide))));
  }
  return b.getIntegerAttr(b.getIntegerType(type.getIntOrFloatBitWidth()),
                          splat.getSplatValue<APInt>());
}

/// Returns a splat of `type` with the given scalar of a kernel.
static DenseElementsAttr fromScalar(Attribute scalar, RankedTensorType type) {
  if (auto floatType = dyn_cast<FloatType>(type.getElementType()))
    return DenseElementsAttr::get(type, rounded(cast<FloatAttr>(scalar).getValue(), floatType));
  return DenseElementsAttr::get(type, cast<IntegerAttr>(scalar).getValue());
}

/// Folds the operations of `block` in order and returns the value of `result`, or null if some
/// operation does not fold.
static Attribute foldBlock(Block &block, Value result) {
  DenseMap<Value, Attribute> values;
  for (Operation &op : block) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    SmallVector<OpFoldResult> folded;
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant)))
      folded.push_back(constant);
    else if (failed(op.fold(operands, folded)) || folded.size() != op.getNumResults())
      return {};
    for (auto [value, fold] : llvm::zip(op.getResults(), folded)) {
      auto attr = dyn_cast<Attribute>(fold);
      values[value] = attr ? flushed(attr) : values.lookup(cast<Value>(fold));
      if (!values[value])
        return {};
    }
  }
  return values.lookup(result);
}

namespace {
struct FoldElementwise : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ScalarOpInterface op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return failure();
    SmallVector<TypedAttr> scalars;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr value;
      if (!matchPattern(operand, m_Constant(&value)) || !value.isSplat())
        return failure();
      scalars.push_back(toScalar(value));
    }
    Block block;
    OpBuilder b(getContext());
    b.setInsertionPointToEnd(&block);
    SmallVector<Value> arguments;
    for (TypedAttr scalar : scalars)
      arguments.push_back(arith::ConstantOp::create(b, op.getLoc(), scalar));
    Attribute result = foldBlock(block, op.buildScalar(b, arguments));
    if (!result)
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, fromScalar(result, type));
    return success();
  }
};

struct FoldConstantsPass : tfc::impl::FoldConstantsBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldElementwise>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
