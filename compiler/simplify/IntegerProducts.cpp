//===- IntegerProducts.cpp - Products of quantised tensors ----------------===//
//
// Computes products and convolutions of quantised tensors in integers. A product of the factors
// scale * (x - zero) and scale' * w, where w is constant, is the sum of x * w minus zero times the
// sum of w, multiplied by both scales: integers are summed exactly, and one multiplication of the
// result is left. A quantisation of such a result divides its factors by its own scale, so that
// there is no division. Padding is the zero point, and views, concatenations and maxima of
// quantised tensors read their integers. Integers with a sign are stored with 128 added, since
// processors multiply bytes without a sign by bytes with one.
//
// Runs when operations have their devices, after the identities of the graph, which give
// convolutions their layout.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/OnCpu.h"
#include "compiler/simplify/Passes.h"
#include "compiler/simplify/QuantizedProduct.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/WindowOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_INTEGERPRODUCTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// The number that is added to integers with a sign, and the largest one without.
static constexpr int64_t kSignOffset = 128, kLargestByte = 255;
/// The most operations between a product and a quantisation of its result.
static constexpr int kMaxVisits = 64;
/// Integers up to this size are exact in f32.
static constexpr int64_t kExactFloat = int64_t(1) << 24;

/// Added to a number that is less than 2^22, this leaves the nearest integer in the lowest bits of
/// the sum, ties to even: the distance of floats there is 1.
static constexpr double kRounding = 0x1.8p23, kLargestRounded = 0x1p22;
static constexpr int64_t kRoundingBits = 0x4b400000;

namespace {
/// A tensor as integers without a sign: `scale * (x - zero)`.
struct Bytes {
  Value x;
  double scale = 1, zero = 0;
};

class Rewriter {
public:
  void run(Operation *op);
  bool hasChanged() const { return changed; }

private:
  std::optional<Bytes> bytesOf(Value value, bool isMaximized = false);
  Value readBytes(Operation *view, const Bytes &source, bool isMaximized);
  void offsetSign(CastOp op);
  void simplifyQuantization(CastOp op);
  Value scaled(Value value, double factor, OpBuilder &b);
  Value fromRegister(const Dequantized &value, double factor, OpBuilder &b);
  bool rewrite(const Product &product);
  double boundOf(Value value) const;

  void erase(Operation *op) {
    erased.insert(op);
    op->erase();
  }

  /// Values of f32 that are integers.
  DenseSet<Value> integers;
  /// Bounds of sums.
  DenseMap<Value, double> bounds;
  /// For quantisations, the bits of the rounded number, and the zero point.
  DenseMap<Operation *, std::pair<Value, double>> rounded;
  DenseSet<Operation *> erased;
  bool changed = false;
  /// The device of the operation that is being simplified.
  Attribute device;
  /// The product whose kernel computes the quantisation that is being simplified.
  Operation *home = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Replaces a product of dequantised factors by one of integers.
bool Rewriter::rewrite(const Product &product) {
  Operation *op = product.op;
  Value factors[] = {op->getOperand(1 - product.weightsOperand),
                     op->getOperand(product.weightsOperand)};
  Type element = elementTypeOf(op->getResult(0).getType());
  // Sums of i32 wrap, before and after.
  bool wraps = element.isInteger(32);
  if (!element.isF32() && !(wraps && product.isMatrix))
    return false;
  std::optional<QuantizedWeights> weights = QuantizedWeights::match(factors[1]);
  std::optional<Channels> channels =
      weights ? Channels::of(product, *weights) : std::optional<Channels>();
  bool fits = channels && llvm::all_of(weights->elements, [](int32_t w) {
                return w >= -kSignOffset && w < kSignOffset;
              });
  std::optional<Bytes> bytes = fits ? bytesOf(factors[0]) : std::nullopt;
  if (!bytes)
    return false;

  // The bias, if all of it is a multiple of the unit of the sums.
  std::vector<float> scales;
  for (float scale : channels->scales)
    scales.push_back(float(bytes->scale) * scale);
  auto add = op->hasOneUse() ? dyn_cast<AddOp>(*op->user_begin()) : AddOp();
  bool isLeft = add && add.getLhs() == op->getResult(0);
  Value addend = add ? (isLeft ? add.getRhs() : add.getLhs()) : Value();
  std::optional<std::vector<float>> bias;
  std::optional<std::vector<int64_t>> levels;
  if (add && !wraps && shapeOf(add.getType()) == shapeOf(op->getResult(0).getType()))
    bias = constantElements<float>(addend, channels->shape);
  if (bias)
    levels = levelsOf(*bias, scales);

  std::vector<int64_t> offsets;
  int64_t largest = 0;
  for (auto [i, sum] : llvm::enumerate(channels->sums)) {
    int64_t offset = (levels ? (*levels)[i] : 0) - int64_t(bytes->zero) * sum;
    offsets.push_back(offset);
    largest = std::max(largest, channels->magnitudes[i] * kLargestByte + std::abs(offset));
  }
  if (!wraps && largest >= (product.isMatrix ? int64_t(1) << 31 : kExactFloat))
    return false;

  PlacementListener listener(op);
  OpBuilder b(op, &listener);
  Location loc = op->getLoc();
  Type type = product.isMatrix ? Type(b.getI32Type()) : b.getF32Type();
  Value w = weightsConstant(b, loc, cast<RankedTensorType>(factors[1].getType()), weights->elements,
                            !product.isMatrix);
  Value operands[2];
  operands[1 - product.weightsOperand] = CastOp::create(b, loc, bytes->x, type);
  operands[product.weightsOperand] = product.isMatrix ? CastOp::create(b, loc, w, type) : w;
  Operation *integer = b.clone(*op);
  integer->setOperands(operands);
  Value sum = integer->getResult(0);
  sum.setType(cast<RankedTensorType>(sum.getType()).clone(type));
  if (llvm::any_of(offsets, [](int64_t offset) { return offset != 0; }))
    sum = AddOp::create(b, loc, sum, channelConstant(b, loc, channels->shape, type, offsets));
  Value result = sum;
  if (!wraps) {
    bounds[sum] = double(largest);
    if (product.isMatrix)
      sum = CastOp::create(b, loc, sum, b.getF32Type());
    else
      integers.insert(sum);
    result = MulOp::create(b, loc, sum,
                           channelConstant(b, loc, channels->shape, b.getF32Type(), scales));
  }
  if (levels) {
    add.getResult().replaceAllUsesWith(result);
    add.erase();
  } else if (bias) {
    add->setOperand(isLeft ? 1 : 0,
                    channelConstant(b, loc, channels->shape, b.getF32Type(), *bias));
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  changed = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Quantised operands that pass through views, concatenations and pooling
//===----------------------------------------------------------------------===//

/// Returns the tensor as integers without a sign if one number scales all of them.
std::optional<Bytes> Rewriter::bytesOf(Value value, bool isMaximized) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getAttr(kDeviceAttr) != device)
    return std::nullopt;
  if (std::optional<Dequantized> found = Dequantized::match(value)) {
    std::optional<double> scale = found->scale ? splatOf(found->scale) : 1.0;
    std::optional<double> zero = found->zero ? splatOf(found->zero) : 0.0;
    auto [least, most] = rangeOf(elementTypeOf(found->x.getType()));
    if (!scale || !zero || !(*scale > 0) || *zero < least || *zero > most)
      return std::nullopt;
    if (elementTypeOf(found->x.getType()).isUnsignedInteger())
      return Bytes{found->x, *scale, *zero};
    // Others than quantisations, such as inputs.
    PlacementListener listener(op);
    OpBuilder b(value.getContext(), &listener);
    b.setInsertionPointAfterValue(found->x);
    Location loc = found->x.getLoc();
    Value wide = CastOp::create(b, loc, found->x, b.getI32Type());
    wide = AddOp::create(b, loc, wide, scalarLike(b, wide, kSignOffset));
    Value x =
        CastOp::create(b, loc, wide, IntegerType::get(b.getContext(), 8, IntegerType::Unsigned));
    return Bytes{x, *scale, *zero + kSignOffset};
  }
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    SmallVector<Value> parts;
    std::optional<Bytes> common;
    for (Value part : concat.getXs()) {
      std::optional<Bytes> bytes = bytesOf(part, isMaximized);
      if (!bytes || (common && (common->scale != bytes->scale || common->zero != bytes->zero)))
        return std::nullopt;
      common = bytes;
      parts.push_back(bytes->x);
    }
    OpBuilder b(op);
    common->x = ConcatOp::create(b, op->getLoc(), parts, concat.getAxisAttr());
    copyPlacement(op, common->x.getDefiningOp());
    return common;
  }
  bool isView = op->hasTrait<ViewRole>() || op->hasTrait<SelectionRole>() ||
                op->hasTrait<ParallelRole>() || isa<MaxOp>(op);
  if (!isView || op->getNumOperands() != 1)
    return std::nullopt;
  std::optional<Bytes> source = bytesOf(op->getOperand(0), isMaximized || isa<MaxOp>(op));
  if (!source)
    return std::nullopt;
  source->x = readBytes(op, *source, isMaximized);
  return source->x ? source : std::nullopt;
}

/// transpose(place(x)) = place(transpose(x)): the layout in which a product reads is stored.
static Value placeTransposed(OpBuilder &b, TransposeOp transpose, PlaceOp place) {
  SmallVector<DimExpr> starts, shape, sizes;
  SmallVector<int64_t> steps;
  Shape from = shapeOf(place.getX().getType());
  for (int64_t axis : transpose.getPermutationVector()) {
    starts.push_back(place.getStarts().getExprs()[axis]);
    shape.push_back(place.getShape().getExprs()[axis]);
    steps.push_back(place.getSteps() ? (*place.getSteps())[axis] : 1);
    sizes.push_back(from[axis]);
  }
  IRMapping mapping;
  mapping.map(transpose.getX(), place.getX());
  Operation *inner = b.clone(*transpose, mapping);
  inner->getResult(0).setType(tensorOf(sizes, elementTypeOf(place.getType())));
  MLIRContext *context = b.getContext();
  auto result = PlaceOp::create(b, place.getLoc(), inner->getResult(0),
                                DimsAttr::get(context, starts), DimsAttr::get(context, shape),
                                b.getDenseI64ArrayAttr(steps), place.getValueAttr());
  copyPlacement(transpose, result);
  return result;
}

/// The same view of integers. Elements that it adds are the zero point, or the least integer for
/// minus infinity if only the largest elements are used.
Value Rewriter::readBytes(Operation *view, const Bytes &source, bool isMaximized) {
  OpBuilder b(view);
  if (auto transpose = dyn_cast<TransposeOp>(view))
    if (auto place = source.x.getDefiningOp<PlaceOp>())
      return placeTransposed(b, transpose, place);
  IRMapping mapping;
  mapping.map(view->getOperand(0), source.x);
  StringRef name =
      PlaceOp::getValueAttrName(OperationName(PlaceOp::getOperationName(), view->getContext()));
  double fill = source.zero;
  if (auto value = view->getAttrOfType<FloatAttr>(name)) {
    double number = value.getValueAsDouble();
    bool isLeast = isMaximized && std::isinf(number) && number < 0;
    if (number != 0 && !isLeast)
      return {};
    fill = isLeast ? 0 : fill;
  }
  Operation *copy = b.clone(*view, mapping);
  if (isa<PlaceOp>(view) || view->hasAttr(name))
    copy->setAttr(name, b.getF64FloatAttr(fill));
  Value result = copy->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(elementTypeOf(source.x.getType())));
  return result;
}

//===----------------------------------------------------------------------===//
// Quantisations
//===----------------------------------------------------------------------===//

/// The last product that a value is computed from by elementwise operations; null if there is none.
static Operation *lastProduct(Value value) {
  Operation *last = nullptr;
  SmallVector<Value> work{value};
  for (int visits = 0; !work.empty() && visits < kMaxVisits; ++visits) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != value.getParentBlock())
      continue;
    if (op->hasTrait<ContractionRole>())
      last = !last || last->isBeforeInBlock(op) ? op : last;
    else if (isa<ScalarOpInterface>(op))
      llvm::append_range(work, op->getOperands());
  }
  return last;
}

/// Adds an offset to a quantisation to integers with a sign, where it is read as a number.
void Rewriter::offsetSign(CastOp op) {
  std::optional<Quantized> quantized = Quantized::match(op);
  SmallVector<CastOp> readers;
  for (Operation *user : op->getUsers())
    if (auto reader = dyn_cast<CastOp>(user); reader && reader.getDtype().isInteger(32))
      readers.push_back(reader);
  if (!quantized || readers.empty() || elementTypeOf(op.getType()).isUnsignedInteger())
    return;
  PlacementListener listener(op);
  OpBuilder b(op->getContext(), &listener);
  b.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  Value rounded = op.getX();
  if (auto sum = rounded.getDefiningOp<AddOp>())
    rounded = sum.getLhs();
  Value y = AddOp::create(b, loc, rounded, scalarLike(b, rounded, quantized->zero + kSignOffset));
  auto bytes =
      CastOp::create(b, loc, y, IntegerType::get(b.getContext(), 8, IntegerType::Unsigned));
  for (CastOp reader : readers) {
    OpBuilder at(reader, &listener);
    Value wide = CastOp::create(at, loc, bytes, at.getI32Type());
    for (Operation *user : llvm::to_vector(reader->getUsers())) {
      auto difference = dyn_cast<SubOp>(user);
      std::optional<double> zero = difference && difference.getLhs() == reader.getResult()
                                       ? splatOf(difference.getRhs())
                                       : std::nullopt;
      if (!zero)
        continue;
      OpBuilder before(user, &listener);
      Value all = scalarLike(before, wide, *zero + kSignOffset);
      difference.replaceAllUsesWith(SubOp::create(before, loc, wide, all).getResult());
      difference.erase();
    }
    if (!reader->use_empty()) {
      Value less = SubOp::create(at, loc, wide, scalarLike(at, wide, kSignOffset));
      reader.replaceAllUsesWith(less);
    }
    erase(reader);
  }
  changed = true;
  simplifyQuantization(bytes);
  if (op->use_empty())
    op.erase();
}

/// Returns a number that the elements do not exceed, without their signs; infinity if there is
/// none.
double Rewriter::boundOf(Value value) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (auto known = bounds.find(value); known != bounds.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    auto elements = constantElements<double>(value, shape);
    double most = elements ? 0 : kNone;
    for (double element : elements ? *elements : std::vector<double>())
      most = std::isnan(element) ? kNone : std::max(most, std::abs(element));
    return most;
  }
  Type element = elementTypeOf(value.getType());
  if (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() == 8)
    return kLargestByte;
  if (!op)
    return kNone;
  if (isa<AddOp, SubOp>(op))
    return boundOf(op->getOperand(0)) + boundOf(op->getOperand(1));
  if (isa<MulOp>(op))
    return boundOf(op->getOperand(0)) * boundOf(op->getOperand(1));
  if (auto clamp = dyn_cast<ClampOp>(op))
    return std::max(boundOf(clamp.getMin()), boundOf(clamp.getMax()));
  bool isNoLarger = isa<CastOp, ReluOp>(op) || op->hasTrait<SelectionRole>();
  return isNoLarger ? boundOf(op->getOperand(0)) : kNone;
}

/// The integer that `kRounding` left in the bits of a sum, plus a number, between two others.
static Value limited(OpBuilder &b, Value bits, double added, double least, double most) {
  Value sum =
      AddOp::create(b, bits.getLoc(), bits, scalarLike(b, bits, added - double(kRoundingBits)));
  return ClampOp::create(b, bits.getLoc(), sum, scalarLike(b, sum, least),
                         scalarLike(b, sum, most));
}

/// Quantising what was dequantised in the same way changes nothing; and results of products that
/// are quantised are only multiplied.
void Rewriter::simplifyQuantization(CastOp op) {
  std::optional<Quantized> quantized = Quantized::match(op);
  if (!quantized || !elementTypeOf(op.getType()).isUnsignedInteger())
    return;
  if (std::optional<Bytes> bytes = bytesOf(quantized->y);
      bytes && float(bytes->scale) == quantized->scale && bytes->zero == quantized->zero) {
    op.replaceAllUsesWith(bytes->x);
    op.erase();
    changed = true;
    return;
  }
  PlacementListener listener(op);
  OpBuilder b(op, &listener);
  Location loc = op.getLoc();
  home = lastProduct(quantized->y);
  Value y = scaled(quantized->y, 1 / double(quantized->scale), b);
  if (!y)
    return;
  if (boundOf(y) < kLargestRounded) {
    Value sum = AddOp::create(b, loc, y, scalarLike(b, y, kRounding));
    Value bits = BitcastOp::create(b, loc, sum, b.getI32Type());
    rounded[op] = {bits, quantized->zero};
    op->setOperand(0, limited(b, bits, quantized->zero, 0, kLargestByte));
    return;
  }
  y = RoundOp::create(b, loc, y);
  if (quantized->zero != 0)
    y = AddOp::create(b, loc, y, scalarLike(b, y, quantized->zero));
  op->setOperand(0, y);
}

/// A dequantised number that is read only where it was quantised, in the kernel of the last
/// product, does not become a byte in between. Returns null for others.
Value Rewriter::fromRegister(const Dequantized &value, double factor, OpBuilder &b) {
  std::optional<double> scale = splatOf(value.scale);
  std::optional<double> zero = value.zero ? splatOf(value.zero) : 0.0;
  auto found = rounded.find(value.x.getDefiningOp());
  if (!scale || !zero || found == rounded.end() || !value.x.hasOneUse() ||
      lastProduct(value.x) != home)
    return {};
  auto [bits, added] = found->second;
  Value number = limited(b, bits, added - *zero, -*zero, kLargestByte - *zero);
  number = CastOp::create(b, bits.getLoc(), number, b.getF32Type());
  return MulOp::create(b, bits.getLoc(), number, scalarLike(b, number, *scale * factor));
}

/// Returns `value * factor` by multiplying constants that it is computed with; null if there are
/// none. Factors are positive.
Value Rewriter::scaled(Value value, double factor, OpBuilder &b) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  Location loc = op->getLoc();
  auto constant = [&](Value number) -> Value {
    auto type = cast<RankedTensorType>(number.getType());
    auto elements = constantElements<float>(number, type.getShape());
    if (!elements)
      return {};
    if (std::optional<double> splat = splatOf(number); splat && type.getRank() == 0)
      return scalar(b, loc, b.getF32Type(), *splat * factor);
    SmallVector<float> numbers;
    for (float element : *elements)
      numbers.push_back(float(double(element) * factor));
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  };
  if (isa<ConstantOp>(op))
    return constant(value);
  if (auto product = dyn_cast<MulOp>(op)) {
    auto cast = product.getLhs().getDefiningOp<CastOp>();
    bool isInteger = (cast && isa<IntegerType>(elementTypeOf(cast.getX().getType()))) ||
                     integers.contains(product.getLhs());
    if (!isInteger || !product.getRhs().getDefiningOp<ConstantOp>())
      return {};
    if (std::optional<Dequantized> found = Dequantized::match(value))
      if (Value result = fromRegister(*found, factor, b))
        return result;
    Value number = constant(product.getRhs());
    return number ? Value(MulOp::create(b, loc, product.getLhs(), number)) : Value();
  }
  // These commute with a positive factor.
  bool commutes = isa<AddOp>(op) || isa<ReluOp, ClampOp>(op) || op->hasTrait<SelectionRole>();
  if (!commutes)
    return {};
  // Constants alone are not worth it.
  if (llvm::all_of(op->getOperands(),
                   [](Value operand) { return operand.getDefiningOp<ConstantOp>() != nullptr; }))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value mapped = scaled(operand, factor, b);
    if (!mapped)
      return {};
    mapping.map(operand, mapped);
  }
  return b.clone(*op, mapping)->getResult(0);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void Rewriter::run(Operation *op) {
  if (erased.contains(op) || !isOnCpu(op))
    return;
  device = op->getAttr(kDeviceAttr);
  if (auto cast = dyn_cast<CastOp>(op)) {
    if (elementTypeOf(cast.getType()).isUnsignedInteger())
      return simplifyQuantization(cast);
    return offsetSign(cast);
  }
  if (!op->hasTrait<ContractionRole>() || op->getNumOperands() != 2)
    return;
  for (unsigned weights : {1, 0})
    if (std::optional<Product> product = Product::match(op, weights))
      if (rewrite(*product))
        return;
}

namespace {
struct IntegerProductsPass : tfc::impl::IntegerProductsBase<IntegerProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<CastOp>(op) || op->hasTrait<ContractionRole>())
        ops.push_back(op);
    });
    Rewriter rewriter;
    for (Operation *op : ops)
      rewriter.run(op);
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
    if (!rewriter.hasChanged())
      return;
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
