//===- ContractionOps.cpp - Sums of products ------------------------------===//
//
// Implements `matmul`: its shapes with broadcast batches and transposed operands, and its
// gradients. The general `contract` is in ConvolutionOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Build.h"
#include "dialects/dfg/Errors.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

/// The first sizes of batches, from the back, that are neither equal nor 1.
static std::optional<std::pair<DimExpr, DimExpr>> unequalBatch(ArrayRef<DimExpr> a,
                                                               ArrayRef<DimExpr> b) {
  for (size_t i = 3; i <= std::min(a.size(), b.size()); ++i)
    if (const DimExpr &x = a.end()[-i], &y = b.end()[-i]; !broadcastShapes(x, y))
      return std::pair(x, y);
  return std::nullopt;
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type lhs = adaptor.getLhs().getType(), rhs = adaptor.getRhs().getType();
  Shape a = shapeOf(lhs), b = shapeOf(rhs);
  if (a.size() < 2 || b.size() < 2)
    return emitErrorAbout(location, "matmul", "expects operands of rank 2 or more, but got ",
                          toText(lhs), " and ", toText(rhs), " [rank]");
  if (elementTypeOf(lhs) != elementTypeOf(rhs))
    return emitErrorAbout(location, "matmul", "expects operands of one dtype, but got ",
                          toText(lhs), " and ", toText(rhs), " [dtype]");
  if (failed(checkDtypes(location, "matmul", Dtypes::Numeric, lhs)))
    return failure();
  if (adaptor.getTransposeLhs())
    std::swap(a.end()[-1], a.end()[-2]);
  if (adaptor.getTransposeRhs())
    std::swap(b.end()[-1], b.end()[-2]);
  const DimExpr &columns = a.end()[-1], &rows = b.end()[-2];
  if (!(columns - rows).constant())
    return emitUnproven(location, columns, rows, quotedName(location, "matmul"), " on ",
                        toText(lhs), " and ", toText(rhs), " needs [inner-dimensions]");
  if (columns != rows)
    return emitDetailedError(location, {.isForAllSizes = true}, quotedName(location, "matmul"),
                             " expects the inner dimensions to match, but got ", toText(lhs),
                             " and ", toText(rhs), " [inner-dimensions]");
  std::optional<Shape> batch = broadcastShapes(ArrayRef(a).drop_back(2), ArrayRef(b).drop_back(2));
  if (!batch)
    return emitDetailedError(location, {.unproven = unequalBatch(a, b)},
                             quotedName(location, "matmul"),
                             " expects batch dimensions that are equal or 1, but got ", toText(lhs),
                             " and ", toText(rhs), " [unequal-dimensions]");
  batch->append({a.end()[-2], b.end()[-1]});
  results.push_back(tensorOf(*batch, elementTypeOf(lhs)));
  return success();
}

/// All rows of all matrices as one matrix.
static Value mergeRows(OpBuilder &b, Value x) {
  Shape shape = shapeOf(x.getType());
  DimExpr rows(1);
  for (const DimExpr &size : ArrayRef(shape).drop_back())
    rows = rows * size;
  return reshapeTo(b, x, {rows, shape.back()});
}

/// d(A B) = g B', A' g, where ' is the transpose; the flags determine which operands are read
/// transposed.
SmallVector<Value> MatmulOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value g = resultGrads[0], lhs = getLhs();
  bool isLhsT = getTransposeLhs(), isRhsT = getTransposeRhs();
  auto multiply = [&](Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) -> Value {
    return MatmulOp::create(b, getLoc(), lhs, rhs, transposeLhs, transposeRhs);
  };
  Value lhsGrad =
      isLhsT ? multiply(getRhs(), g, isRhsT, true) : multiply(g, getRhs(), false, !isRhsT);
  // Merge all rows into one matrix: a single product instead of the sum of one product per matrix
  // of the batch.
  if (!isLhsT && shapeOf(getRhs().getType()).size() == 2 && shapeOf(lhs.getType()).size() > 2) {
    lhs = mergeRows(b, lhs);
    g = mergeRows(b, g);
  }
  Value rhsGrad = isRhsT ? multiply(g, lhs, true, isLhsT) : multiply(lhs, g, !isLhsT, false);
  return {lhsGrad, rhsGrad};
}
