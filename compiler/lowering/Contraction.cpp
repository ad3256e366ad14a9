//===- Contraction.cpp - Sums of products to linalg -----------------------===//
//
// Lowers `matmul` and `contract` to generics that multiply and add, the form that compiler/kernels
// recognises as a product.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Labels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

/// Returns an element of an operand in the type that the product computes in.
static Value factorOf(OpBuilder &b, Location loc, const Read &operand, Value scalar) {
  if (!operand.conversion)
    return widen(b, loc, scalar);
  IRMapping mapping;
  mapping.map(operand.conversion->getOperand(0), scalar);
  return widen(b, loc, b.clone(*operand.conversion, mapping)->getResult(0));
}

/// Returns acc + a * b in the accumulator's type.
static Value buildMultiplyAdd(OpBuilder &b, Location loc, ArrayRef<Read> operands,
                              ValueRange scalars) {
  Value x = factorOf(b, loc, operands[0], scalars[0]);
  Value y = factorOf(b, loc, operands[1], scalars[1]);
  if (isa<FloatType>(x.getType())) {
    Value product = arith::MulFOp::create(b, loc, x, y);
    return arith::AddFOp::create(b, loc, scalars[2], product);
  }
  Value product = arith::MulIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, scalars[2], product);
}

/// Builds the sums of products of two operands, of shape `shape`, whose map is `output`. The
/// reduction loops are those that it does not use.
static Value buildProduct(OpBuilder &b, Location loc, ArrayRef<Read> operands, AffineMap output,
                          ArrayRef<DimExpr> shape, Type dtype) {
  AffineMap maps[] = {operands[0].map, operands[1].map, output};
  Value tensors[] = {operands[0].tensor, operands[1].tensor};
  SmallVector<utils::IteratorType> iterators(output.getNumDims(), utils::IteratorType::parallel);
  for (size_t loop = shape.size(); loop < iterators.size(); ++loop)
    iterators[loop] = utils::IteratorType::reduction;
  Type elementType = storageType(dtype), accumulator = computeType(elementType);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(accumulator));
  Value init = buildFill(b, loc, zero, shape);
  Value product =
      linalg::GenericOp::create(b, loc, init.getType(), tensors, init, maps, iterators,
                                [&](OpBuilder &b, Location loc, ValueRange scalars) {
                                  linalg::YieldOp::create(
                                      b, loc, buildMultiplyAdd(b, loc, operands, scalars));
                                })
          .getResult(0);
  if (accumulator == elementType)
    return product;
  return buildParallel(b, loc, product, b.getMultiDimIdentityMap(shape.size()), shape, elementType,
                       [](OpBuilder &, ValueRange scalars) { return scalars[0]; });
}

/// Lets a product read the sources of views and casts of its operands.
static void lookThroughViews(MutableArrayRef<Read> operands, AffineMap output) {
  for (Read &operand : operands) {
    // Each loop must remain an index of some tensor, from which linalg infers its extent.
    Read source = lookThrough(operand);
    SmallVector<AffineMap> all{output};
    for (const Read &other : operands)
      all.push_back(&other == &operand ? source.map : other.map);
    if (inversePermutation(concatAffineMaps(all, output.getContext())))
      operand = source;
  }
}

namespace {
/// Loops are (batch..., m, n, k), and k is reduced. Views become access maps. Batch axes that are
/// broadcast are read at index 0.
struct MatmulLowering : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Shape result = shapeOf(op.getType());
    int64_t batch = result.size() - 2, loops = batch + 3;
    AffineExpr m = rewriter.getAffineDimExpr(batch), n = rewriter.getAffineDimExpr(batch + 1),
               k = rewriter.getAffineDimExpr(batch + 2);
    auto operandMap = [&](Value operand, AffineExpr row, AffineExpr column, bool isTransposed) {
      Shape shape = shapeOf(operand.getType());
      AffineMap batchMap =
          broadcastMap(getContext(), ArrayRef(shape).drop_back(2), ArrayRef(result).drop_back(2));
      SmallVector<AffineExpr> exprs(batchMap.getResults());
      exprs.push_back(isTransposed ? column : row);
      exprs.push_back(isTransposed ? row : column);
      return AffineMap::get(loops, 0, exprs, getContext());
    };
    SmallVector<AffineExpr> outputs;
    for (int64_t i = 0; i < batch + 2; ++i)
      outputs.push_back(rewriter.getAffineDimExpr(i));
    AffineMap output = AffineMap::get(loops, 0, outputs, getContext());
    Read operands[] = {{adaptor.getLhs(), operandMap(op.getLhs(), m, k, op.getTransposeLhs())},
                       {adaptor.getRhs(), operandMap(op.getRhs(), k, n, op.getTransposeRhs())}};
    lookThroughViews(operands, output);
    rewriter.replaceOp(
        op, buildProduct(rewriter, loc, operands, output, result, elementTypeOf(op.getType())));
    return success();
  }
};

/// The loops of the result's axes come first, followed by the reduction loops in the order of the
/// first operand. Views become access maps.
struct ContractLowering : OpConversionPattern<ContractOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ContractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Einsum einsum;
    (void)readEinsum(std::nullopt, "contract", op.getLabels(), op->getOperandTypes(),
                     /*takesDiagonals=*/false, einsum);
    LabelNames loops = einsum.output;
    for (const LabelNames &names : einsum.inputs)
      for (const std::string &name : names)
        if (!llvm::is_contained(loops, name))
          loops.push_back(name);
    auto mapOf = [&](const LabelNames &names) {
      SmallVector<AffineExpr> exprs;
      for (const std::string &name : names)
        exprs.push_back(rewriter.getAffineDimExpr(llvm::find(loops, name) - loops.begin()));
      return AffineMap::get(loops.size(), 0, exprs, getContext());
    };
    Read operands[] = {{adaptor.getLhs(), mapOf(einsum.inputs[0])},
                       {adaptor.getRhs(), mapOf(einsum.inputs[1])}};
    AffineMap output = mapOf(einsum.output);
    lookThroughViews(operands, output);
    rewriter.replaceOp(op, buildProduct(rewriter, op.getLoc(), operands, output,
                                        shapeOf(op.getType()), elementTypeOf(op.getType())));
    return success();
  }
};
} // namespace

void tfc::lowering::populateContractionPatterns(TensorConverter &types,
                                                RewritePatternSet &patterns) {
  patterns.add<ContractLowering, MatmulLowering>(types, patterns.getContext());
}
