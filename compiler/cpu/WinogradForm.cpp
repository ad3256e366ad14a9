// Recognition of convolutions that are computed by transforms, and the transform of weights.

#include "compiler/cpu/WinogradForm.h"
#include "compiler/kernels/ContractionForm.h"
#include "dialects/dfg/ElementData.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <vector>

using namespace mlir;
using namespace tfc;
using namespace tfc::cpu;

/// The transform of taps for the points 0, 1, -1, 2, -2 and infinity.
static constexpr double kOfTaps[kTileSize][kTaps] = {{1. / 4, 0, 0},
                                                     {-1. / 6, -1. / 6, -1. / 6},
                                                     {-1. / 6, 1. / 6, -1. / 6},
                                                     {1. / 24, 1. / 12, 1. / 6},
                                                     {1. / 24, -1. / 12, 1. / 6},
                                                     {0, 0, 1}};
/// Its left inverse.
static constexpr float kToTaps[kTaps][kTileSize] = {
    {4, 0, 0, 0, 0, 0}, {0, -3, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 1}};

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns true if the body adds the product of all inputs to the output.
static bool sumsProducts(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto isArgument = [&](Value value, unsigned number) {
    return value == body->getArgument(number);
  };
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  unsigned last = op.getNumDpsInputs();
  if (!sum || (!isArgument(sum.getLhs(), last) && !isArgument(sum.getRhs(), last)))
    return false;
  Value product = isArgument(sum.getLhs(), last) ? sum.getRhs() : sum.getLhs();
  while (--last > 0) {
    auto multiply = product.getDefiningOp<arith::MulFOp>();
    if (!multiply || !isArgument(multiply.getRhs(), last))
      return false;
    product = multiply.getLhs();
  }
  return isArgument(product, 0);
}

/// Returns true for a tensor of f32 of a known shape.
static bool isFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

std::optional<ImageConvolution> tfc::cpu::matchConvolution(linalg::GenericOp op) {
  if (op.getNumLoops() != 7 || op.getNumReductionLoops() != 3 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !sumsProducts(op))
    return std::nullopt;
  AffineExpr n, y, x, f, a, b, k;
  bindDims(op.getContext(), n, y, x, f, a, b, k);
  auto map = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(7, 0, indices, op.getContext());
  };
  SmallVector<AffineMap> maps{map({n, y + a, x + b, k}), map({a, b, k, f}), map({n, y, x, f})};
  ImageConvolution c;
  c.image = op.getDpsInputOperand(0)->get();
  c.weights = op.getDpsInputOperand(1)->get();
  if (op.getIndexingMapsArray() != maps || !isFloats(c.image) || !isFloats(c.weights) ||
      !isFloats(op.getResult(0)))
    return std::nullopt;
  auto image = cast<RankedTensorType>(c.image.getType());
  auto weights = cast<RankedTensorType>(c.weights.getType());
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  if (weights.getDimSize(0) != kTaps || weights.getDimSize(1) != kTaps)
    return std::nullopt;
  c.imageRows = image.getDimSize(1);
  c.imageColumns = image.getDimSize(2);
  c.channels = image.getDimSize(3);
  c.count = result.getDimSize(0);
  c.rows = result.getDimSize(1);
  c.columns = result.getDimSize(2);
  c.features = result.getDimSize(3);
  return c;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static DenseElementsAttr leftInverse(MLIRContext *context) {
  auto type = RankedTensorType::get({kTaps, kTileSize}, Float32Type::get(context));
  return DenseElementsAttr::get(type, ArrayRef(&kToTaps[0][0], kTaps * kTileSize));
}

/// The maps of the operands of recovered weights: (a, p), (b, q), (p, q, c, f) -> (a, b, c, f).
static SmallVector<AffineMap> mapsOfRecovery(MLIRContext *context) {
  AffineExpr a, b, c, f, p, q;
  bindDims(context, a, b, c, f, p, q);
  auto map = [&](ArrayRef<AffineExpr> indices) { return AffineMap::get(6, 0, indices, context); };
  return {map({a, p}), map({b, q}), map({p, q, c, f}), map({a, b, c, f})};
}

Value tfc::cpu::recoverWeights(OpBuilder &b, Location loc, Value transformed) {
  auto from = cast<RankedTensorType>(transformed.getType());
  auto type = RankedTensorType::get({kTaps, kTaps, from.getDimSize(2), from.getDimSize(3)},
                                    from.getElementType());
  Value inverse = arith::ConstantOp::create(b, loc, leftInverse(b.getContext()));
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(from.getElementType()));
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  loops.append(2, utils::IteratorType::reduction);
  auto body = [](OpBuilder &builder, Location at, ValueRange values) {
    Value product = arith::MulFOp::create(builder, at, values[0], values[1]);
    product = arith::MulFOp::create(builder, at, product, values[2]);
    Value sum = arith::AddFOp::create(builder, at, values[3], product);
    linalg::YieldOp::create(builder, at, sum);
  };
  return linalg::GenericOp::create(b, loc, type, ValueRange{inverse, inverse, transformed}, init,
                                   mapsOfRecovery(b.getContext()), loops, body)
      .getResult(0);
}

Value tfc::cpu::recoveredFrom(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 3 || op.getNumDpsInits() != 1 ||
      op.getIndexingMapsArray() != mapsOfRecovery(op.getContext()) || !sumsProducts(op))
    return nullptr;
  DenseElementsAttr inverse = leftInverse(op.getContext());
  for (unsigned input : {0u, 1u}) {
    DenseElementsAttr value;
    if (!matchPattern(op.getDpsInputOperand(input)->get(), m_Constant(&value)) || value != inverse)
      return nullptr;
  }
  auto argument = dyn_cast<BlockArgument>(op.getDpsInputOperand(2)->get());
  auto kernel = argument ? dyn_cast<kernel::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  bool isConstant = kernel && argument.hasOneUse() &&
                    argument.getArgNumber() >= kernel.getNumSizes() &&
                    kernel.isConstant(argument.getArgNumber() - kernel.getNumSizes());
  return isConstant ? argument : nullptr;
}

bool tfc::cpu::recoversWeights(linalg::GenericOp op) {
  return recoveredFrom(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto reader = dyn_cast<linalg::GenericOp>(user);
           std::optional<ImageConvolution> c = reader ? matchConvolution(reader) : std::nullopt;
           return c && c->weights == op.getResult(0);
         });
}

std::optional<ImageConvolution> tfc::cpu::matchTransformed(linalg::GenericOp op) {
  std::optional<ImageConvolution> c = matchConvolution(op);
  auto recovery = c ? c->weights.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  Value transformed = recovery ? recoveredFrom(recovery) : Value();
  if (!transformed)
    return std::nullopt;
  c->weights = transformed;
  return c;
}

/// Transforms the taps of one channel and feature, which are `matrix` elements apart, as are the
/// transformed ones.
static void transformTaps(const float *taps, int64_t matrix, float *to) {
  double half[kTileSize][kTaps];
  for (int64_t p = 0; p < kTileSize; ++p)
    for (int64_t b = 0; b < kTaps; ++b) {
      half[p][b] = 0;
      for (int64_t a = 0; a < kTaps; ++a)
        half[p][b] += kOfTaps[p][a] * static_cast<double>(taps[(a * kTaps + b) * matrix]);
    }
  for (int64_t p = 0; p < kTileSize; ++p)
    for (int64_t q = 0; q < kTileSize; ++q) {
      double sum = 0;
      for (int64_t b = 0; b < kTaps; ++b)
        sum += kOfTaps[q][b] * half[p][b];
      to[(p * kTileSize + q) * matrix] = static_cast<float>(sum);
    }
}

ElementsAttr tfc::cpu::transformWeights(ElementsAttr weights) {
  auto from = cast<RankedTensorType>(weights.getType());
  int64_t channels = from.getDimSize(2), features = from.getDimSize(3);
  int64_t matrix = channels * features;
  auto type =
      RankedTensorType::get({kTileSize, kTileSize, channels, features}, from.getElementType());
  return dfg::rewriteElements(weights, type, [&](ArrayRef<char> bytes, char *to) {
    std::vector<float> taps(kTaps * kTaps * matrix), all(kTileElements * matrix);
    memcpy(taps.data(), bytes.data(), taps.size() * sizeof(float));
    for (int64_t i = 0; i < matrix; ++i)
      transformTaps(&taps[i], matrix, &all[i]);
    memcpy(to, all.data(), all.size() * sizeof(float));
  });
}
