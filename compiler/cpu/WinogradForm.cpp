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

llvm::SmallVector<ImageAxis, 2> ImageConvolution::axes() const {
  return hasRows ? SmallVector<ImageAxis, 2>{rows, columns} : SmallVector<ImageAxis, 2>{columns};
}

SmallVector<int64_t> ImageConvolution::transformedShape() const {
  SmallVector<int64_t> shape;
  for (const ImageAxis &axis : axes())
    shape.push_back(axis.tileSize());
  shape.append({channels, features});
  return shape;
}

/// The maps of image, weights and results: the loops are n, those of the axes, f, those of the
/// taps, and c.
static SmallVector<AffineMap> mapsOfConvolution(MLIRContext *context, unsigned axes) {
  unsigned loops = 2 * axes + 3;
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  SmallVector<AffineExpr> image{dim(0)}, weights, results{dim(0)};
  for (unsigned axis = 0; axis < axes; ++axis) {
    image.push_back(dim(1 + axis) + dim(axes + 2 + axis));
    weights.push_back(dim(axes + 2 + axis));
    results.push_back(dim(1 + axis));
  }
  image.push_back(dim(loops - 1));
  weights.append({dim(loops - 1), dim(axes + 1)});
  results.push_back(dim(axes + 1));
  return {AffineMap::get(loops, 0, image, context), AffineMap::get(loops, 0, weights, context),
          AffineMap::get(loops, 0, results, context)};
}

std::optional<ImageConvolution> tfc::cpu::matchConvolution(linalg::GenericOp op) {
  unsigned axes = (op.getNumLoops() - 3) / 2;
  if ((op.getNumLoops() != 5 && op.getNumLoops() != 7) || op.getNumReductionLoops() != axes + 1 ||
      op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getIndexingMapsArray() != mapsOfConvolution(op.getContext(), axes) || !sumsProducts(op))
    return std::nullopt;
  ImageConvolution c;
  c.image = op.getDpsInputOperand(0)->get();
  c.weights = op.getDpsInputOperand(1)->get();
  if (!isFloats(c.image) || !isFloats(c.weights) || !isFloats(op.getResult(0)))
    return std::nullopt;
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  ArrayRef<int64_t> image = shapeOf(c.image), weights = shapeOf(c.weights),
                    results = shapeOf(op.getResult(0));
  auto axisAt = [&](unsigned axis) {
    return ImageAxis{{results[1 + axis], weights[axis], /*tileResults=*/0}, image[1 + axis]};
  };
  c.hasRows = axes == 2;
  if (c.hasRows)
    c.rows = axisAt(0);
  c.columns = axisAt(axes - 1);
  c.count = results.front();
  c.channels = image.back();
  c.features = results.back();
  return c;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static DenseElementsAttr leftInverse(MLIRContext *context, int64_t taps, int64_t size) {
  auto type = RankedTensorType::get({taps, size}, Float32Type::get(context));
  dfg::WinogradMatrices matrices(taps, size - taps + 1);
  return DenseElementsAttr::get(type, ArrayRef(llvm::to_vector_of<float>(matrices.toTaps)));
}

/// The maps of the operands of recovered weights: (a, p), (b, q), (p, q, c, f) -> (a, b, c, f).
static SmallVector<AffineMap> mapsOfRecovery(MLIRContext *context, unsigned axes) {
  unsigned loops = 2 * axes + 2;
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  SmallVector<AffineMap> maps;
  SmallVector<AffineExpr> transformed, taps;
  for (unsigned axis = 0; axis < axes; ++axis) {
    AffineExpr tap = dim(axis), element = dim(axes + 2 + axis);
    maps.push_back(AffineMap::get(loops, 0, {tap, element}, context));
    transformed.push_back(element);
    taps.push_back(tap);
  }
  for (SmallVector<AffineExpr> *indices : {&transformed, &taps}) {
    indices->append({dim(axes), dim(axes + 1)});
    maps.push_back(AffineMap::get(loops, 0, *indices, context));
  }
  return maps;
}

Value tfc::cpu::recoverWeights(OpBuilder &b, Location loc, const ImageConvolution &convolution,
                               Value transformed) {
  SmallVector<Value> inputs;
  SmallVector<int64_t> shape;
  for (const ImageAxis &axis : convolution.axes()) {
    inputs.push_back(
        arith::ConstantOp::create(b, loc, leftInverse(b.getContext(), axis.taps, axis.tileSize())));
    shape.push_back(axis.taps);
  }
  unsigned axes = inputs.size();
  inputs.push_back(transformed);
  shape.append({convolution.channels, convolution.features});
  Type element = getElementTypeOrSelf(transformed.getType());
  auto type = RankedTensorType::get(shape, element);
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> loops(axes + 2, utils::IteratorType::parallel);
  loops.append(axes, utils::IteratorType::reduction);
  auto body = [](OpBuilder &builder, Location at, ValueRange values) {
    Value product = values.front();
    for (Value factor : values.drop_front().drop_back())
      product = arith::MulFOp::create(builder, at, product, factor);
    Value sum = arith::AddFOp::create(builder, at, values.back(), product);
    linalg::YieldOp::create(builder, at, sum);
  };
  return linalg::GenericOp::create(b, loc, type, inputs, init, mapsOfRecovery(b.getContext(), axes),
                                   loops, body)
      .getResult(0);
}

Value tfc::cpu::recoveredFrom(linalg::GenericOp op) {
  unsigned axes = op.getNumDpsInputs() - 1;
  if ((axes != 1 && axes != 2) || op.getNumDpsInits() != 1 ||
      op.getIndexingMapsArray() != mapsOfRecovery(op.getContext(), axes) || !sumsProducts(op))
    return nullptr;
  for (unsigned axis = 0; axis < axes; ++axis) {
    DenseElementsAttr value;
    if (!matchPattern(op.getDpsInputOperand(axis)->get(), m_Constant(&value)))
      return nullptr;
    int64_t taps = value.getType().getDimSize(0), size = value.getType().getDimSize(1);
    if (taps > size || size > dfg::WinogradMatrices::kMostSize ||
        value != leftInverse(op.getContext(), taps, size))
      return nullptr;
  }
  auto argument = dyn_cast<BlockArgument>(op.getDpsInputOperand(axes)->get());
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
  ArrayRef<int64_t> shape = cast<RankedTensorType>(transformed.getType()).getShape();
  if (c->hasRows)
    c->rows.tileResults = shape[0] - c->rows.taps + 1;
  c->columns.tileResults = shape[c->hasRows] - c->columns.taps + 1;
  return c;
}

/// Transforms the taps of one channel and feature, which are `matrix` elements apart, as are the
/// transformed ones.
static void transformTaps(const dfg::WinogradMatrices &rows, const dfg::WinogradMatrices &columns,
                          const float *taps, int64_t matrix, float *to) {
  SmallVector<double> half(rows.size * columns.taps);
  for (int64_t p = 0; p < rows.size; ++p)
    for (int64_t b = 0; b < columns.taps; ++b)
      for (int64_t a = 0; a < rows.taps; ++a)
        half[p * columns.taps + b] += rows.ofTaps[p * rows.taps + a] *
                                      static_cast<double>(taps[(a * columns.taps + b) * matrix]);
  for (int64_t p = 0; p < rows.size; ++p)
    for (int64_t q = 0; q < columns.size; ++q) {
      double sum = 0;
      for (int64_t b = 0; b < columns.taps; ++b)
        sum += columns.ofTaps[q * columns.taps + b] * half[p * columns.taps + b];
      to[(p * columns.size + q) * matrix] = static_cast<float>(sum);
    }
}

ElementsAttr tfc::cpu::transformWeights(const ImageConvolution &c, ElementsAttr weights) {
  auto from = cast<RankedTensorType>(weights.getType());
  int64_t matrix = c.channels * c.features;
  auto type = RankedTensorType::get(c.transformedShape(), from.getElementType());
  dfg::WinogradMatrices ofRows = c.rows.matrices(), ofColumns = c.columns.matrices();
  return dfg::rewriteElements(weights, type, [&](ArrayRef<char> bytes, char *to) {
    std::vector<float> taps(c.taps() * matrix), all(c.tileElements() * matrix);
    memcpy(taps.data(), bytes.data(), taps.size() * sizeof(float));
    for (int64_t i = 0; i < matrix; ++i)
      transformTaps(ofRows, ofColumns, &taps[i], matrix, &all[i]);
    memcpy(to, all.data(), all.size() * sizeof(float));
  });
}
