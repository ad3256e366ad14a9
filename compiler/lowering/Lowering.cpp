//===- Lowering.cpp - Common code of the lowering patterns ----------------===//
//
// Implements type conversion, sizes, generics, reductions and reshapes for the patterns of all
// families. It contains no pattern itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::lowering {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type storageType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

Type computeType(Type elementType) {
  if (elementType.isF16() || elementType.isBF16())
    return Float32Type::get(elementType.getContext());
  return storageType(elementType);
}

TensorConverter::TensorConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), storageType(type.getElementType()));
  });
}

Value widen(OpBuilder &b, Location loc, Value scalar) {
  Type to = computeType(scalar.getType());
  if (to == scalar.getType())
    return scalar;
  return arith::ExtFOp::create(b, loc, to, scalar);
}

Value narrow(OpBuilder &b, Location loc, Value scalar, Type to) {
  if (to == scalar.getType())
    return scalar;
  return arith::TruncFOp::create(b, loc, to, scalar);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

TypedAttr extremeValue(OpBuilder &b, Type elementType, bool isSmallest) {
  Type type = computeType(elementType);
  if (auto floatType = dyn_cast<FloatType>(type))
    return b.getFloatAttr(type, APFloat::getInf(floatType.getFloatSemantics(), isSmallest));
  unsigned width = type.getIntOrFloatBitWidth();
  if (elementType.isUnsignedInteger())
    return b.getIntegerAttr(type, isSmallest ? APInt::getZero(width) : APInt::getMaxValue(width));
  return b.getIntegerAttr(type, isSmallest ? APInt::getSignedMinValue(width)
                                           : APInt::getSignedMaxValue(width));
}

Value buildExtreme(OpBuilder &b, Location loc, Value x, Value y, bool isMax, Type elementType) {
  auto create = [&]<typename Max, typename Min>() -> Value {
    return isMax ? Max::create(b, loc, x, y).getResult() : Min::create(b, loc, x, y).getResult();
  };
  if (isa<FloatType>(x.getType()))
    return create.operator()<arith::MaximumFOp, arith::MinimumFOp>();
  if (elementType.isUnsignedInteger())
    return create.operator()<arith::MaxUIOp, arith::MinUIOp>();
  return create.operator()<arith::MaxSIOp, arith::MinSIOp>();
}

Type storedElement(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

void buildRegion(OpBuilder &b, Location loc, Region &region, TypeRange arguments,
                 BodyBuilder body) {
  OpBuilder::InsertionGuard guard(b);
  Block *block =
      b.createBlock(&region, region.end(), arguments, SmallVector<Location>(arguments.size(), loc));
  linalg_ext::YieldOp::create(b, loc, body(b, block->getArguments()));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static Value buildAtom(OpBuilder &b, Location loc, const DimExpr::Atom &atom,
                       kernel::FuncOp kernel) {
  if (atom.kind == DimExpr::AtomKind::Symbol) {
    for (auto [i, name] : llvm::enumerate(kernel.getSymbolsAttr().getAsValueRange<StringAttr>()))
      if (name == atom.name)
        return kernel.getArgument(i);
    llvm_unreachable("kernels name all their sizes");
  }
  Value lhs = buildSize(b, loc, *atom.lhs), rhs = buildSize(b, loc, *atom.rhs);
  switch (atom.kind) {
  case DimExpr::AtomKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  case DimExpr::AtomKind::Mod: {
    // The divisor is positive, and so is the remainder.
    Value quotient = arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    return arith::SubIOp::create(b, loc, lhs, arith::MulIOp::create(b, loc, quotient, rhs));
  }
  case DimExpr::AtomKind::Min:
    return arith::MinSIOp::create(b, loc, lhs, rhs);
  default:
    return arith::MaxSIOp::create(b, loc, lhs, rhs);
  }
}

Value buildSize(OpBuilder &b, Location loc, const DimExpr &size) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto kernel = b.getInsertionBlock()->getParentOp()->getParentOfType<kernel::FuncOp>();
  if (!kernel)
    kernel = cast<kernel::FuncOp>(b.getInsertionBlock()->getParentOp());
  Value sum;
  for (auto &[monomial, coefficient] : size.getTerms()) {
    Value product;
    for (const DimExpr::Atom &atom : monomial) {
      Value factor = buildAtom(b, loc, atom, kernel);
      product = product ? arith::MulIOp::create(b, loc, product, factor).getResult() : factor;
    }
    if (!product)
      product = constant(coefficient);
    else if (coefficient != 1)
      product = arith::MulIOp::create(b, loc, product, constant(coefficient));
    sum = sum ? arith::AddIOp::create(b, loc, sum, product).getResult() : product;
  }
  return sum ? sum : constant(0);
}

Value buildNumber(OpBuilder &b, Location loc, Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, int64_t(value)));
}

Value buildClamp(OpBuilder &b, Location loc, Value index, Value size) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, size, one);
  Value low = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, low, arith::ConstantIndexOp::create(b, loc, 0));
}

//===----------------------------------------------------------------------===//
// Generics
//===----------------------------------------------------------------------===//

Value buildEmpty(OpBuilder &b, Location loc, ArrayRef<DimExpr> shape, Type elementType) {
  SmallVector<OpFoldResult> sizes;
  for (const DimExpr &size : shape) {
    if (std::optional<int64_t> value = size.constant())
      sizes.push_back(b.getIndexAttr(*value));
    else
      sizes.push_back(buildSize(b, loc, size));
  }
  return tensor::EmptyOp::create(b, loc, sizes, elementType);
}

Value buildFill(OpBuilder &b, Location loc, Value value, ArrayRef<DimExpr> shape) {
  Value empty = buildEmpty(b, loc, shape, value.getType());
  return linalg::FillOp::create(b, loc, value, empty).getResult(0);
}

Value buildParallel(OpBuilder &b, Location loc, ValueRange inputs, ArrayRef<AffineMap> maps,
                    ArrayRef<DimExpr> shape, Type elementType, BodyBuilder body, bool widenInputs) {
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  Value empty = buildEmpty(b, loc, shape, elementType);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), inputs, empty, allMaps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange scalars) {
               SmallVector<Value> elements;
               for (Value scalar : scalars.drop_back())
                 elements.push_back(widenInputs ? widen(b, loc, scalar) : scalar);
               Value element = body(b, elements);
               linalg::YieldOp::create(b, loc, narrow(b, loc, element, elementType));
             })
      .getResult(0);
}

/// Returns an index as an expression over the loops of a body, or null.
static AffineExpr loopExpr(Value index) {
  Operation *op = index.getDefiningOp();
  if (auto loop = dyn_cast_or_null<linalg::IndexOp>(op))
    return getAffineDimExpr(loop.getDim(), index.getContext());
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return getAffineConstantExpr(*number, index.getContext());
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return {};
  AffineExpr lhs = loopExpr(op->getOperand(0)), rhs = loopExpr(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  return isa<arith::AddIOp>(op) ? lhs + rhs : lhs * rhs;
}

/// Returns what a slice reads, or std::nullopt. Where an index is just a loop that does not cover
/// the whole axis, linalg would infer the axis's size as the extent of the loop. Its index modulo
/// the size is the same, and kernels::indicesOf finds it again; a size that is not known is
/// rejected.
static std::optional<Read> readOfSlice(tensor::ExtractOp extract, ArrayRef<int64_t> loopSizes,
                                       AffineMap map) {
  SmallVector<AffineExpr> exprs;
  // For an empty slice, linalg would take the start as an index, which may be out of bounds.
  if (llvm::is_contained(loopSizes, 0))
    return std::nullopt;
  for (auto [index, size] :
       llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape())) {
    AffineExpr expr = loopExpr(index);
    if (!expr || !expr.isPureAffine())
      return std::nullopt;
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    bool isWhole = loop && loopSizes[loop.getDim()] == size;
    exprs.push_back(expr.replaceDims(map.getResults()));
    if (!isa<AffineDimExpr>(exprs.back()) || isWhole)
      continue;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    exprs.back() = exprs.back() % size;
  }
  return Read{extract.getTensor(), AffineMap::get(map.getNumDims(), 0, exprs, map.getContext())};
}

/// The operation if all that a loop nest does is to convert elements by it, or null.
static Operation *conversionIn(linalg::GenericOp generic, Value element) {
  Operation *conversion = element.getDefiningOp();
  bool isAll = isa_and_nonnull<CastOpInterface>(conversion) && generic.getNumDpsInputs() == 1 &&
               conversion->getNumOperands() == 1 &&
               conversion->getOperand(0) == generic.getBody()->getArgument(0);
  return isAll ? conversion : nullptr;
}

Read lookThrough(Read read) {
  while (auto generic = read.tensor.getDefiningOp<linalg::GenericOp>()) {
    Value element = generic.getBody()->getTerminator()->getOperand(0);
    if (generic.getNumReductionLoops() != 0 || generic->getNumResults() != 1 ||
        !generic.getIndexingMapsArray().back().isIdentity())
      break;
    std::optional<Read> source;
    if (generic.getNumDpsInputs() == 1 && element == generic.getBody()->getArgument(0))
      source = Read{generic->getOperand(0), generic.getIndexingMapsArray()[0].compose(read.map)};
    else if (auto extract = element.getDefiningOp<tensor::ExtractOp>())
      source = readOfSlice(extract, generic.getStaticLoopRanges(), read.map);
    else if (Operation *conversion = conversionIn(generic, element); conversion && !read.conversion)
      source = Read{generic->getOperand(0), generic.getIndexingMapsArray()[0].compose(read.map),
                    conversion};
    if (source && !source->conversion)
      source->conversion = read.conversion;
    if (!source)
      break;
    read = *source;
  }
  return read;
}

AffineMap broadcastMap(MLIRContext *context, ArrayRef<DimExpr> from, ArrayRef<DimExpr> to) {
  SmallVector<AffineExpr> exprs;
  size_t missing = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    bool isRepeated = from[i].isConstant(1) && !to[missing + i].isConstant(1);
    exprs.push_back(isRepeated ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(missing + i, context));
  }
  return AffineMap::get(to.size(), 0, exprs, context);
}

namespace {
/// The loops of a reduction: those of the operand, and one with one iteration for each axis that is
/// kept.
struct ReductionLoops {
  ReductionLoops(OpBuilder &b, ArrayRef<DimExpr> shape, ArrayRef<int64_t> axes, bool keepDims) {
    int64_t rank = shape.size(), loops = keepDims ? rank + axes.size() : rank, unit = rank;
    iterators.assign(loops, utils::IteratorType::parallel);
    for (int64_t axis : axes)
      iterators[axis] = utils::IteratorType::reduction;
    SmallVector<AffineExpr> keptDims;
    for (auto [i, size] : llvm::enumerate(shape)) {
      bool isReduced = iterators[i] == utils::IteratorType::reduction;
      if (isReduced && !keepDims)
        continue;
      kept.push_back(isReduced ? DimExpr(1) : size);
      keptDims.push_back(b.getAffineDimExpr(isReduced ? unit++ : i));
    }
    input = AffineMap::get(loops, 0, b.getMultiDimIdentityMap(rank).getResults(), b.getContext());
    result = AffineMap::get(loops, 0, keptDims, b.getContext());
  }

  SmallVector<utils::IteratorType> iterators;
  /// The shape of the result.
  Shape kept;
  AffineMap input, result;
};
} // namespace

/// Converts elements from their compute type to that of the result.
static Value narrowed(OpBuilder &b, Location loc, Value value, ArrayRef<DimExpr> shape, Type from,
                      Type to) {
  if (from == to)
    return value;
  return buildParallel(b, loc, value, b.getMultiDimIdentityMap(shape.size()), shape, to,
                       [](OpBuilder &, ValueRange scalars) { return scalars[0]; });
}

Value buildReduction(OpBuilder &b, Location loc, Value input, ArrayRef<DimExpr> shape,
                     ArrayRef<int64_t> axes, bool keepDims, TypedAttr neutral, Type elementType,
                     BodyBuilder body) {
  ReductionLoops loops(b, shape, axes, keepDims);
  AffineMap maps[] = {loops.input, loops.result};
  Value init = buildFill(b, loc, arith::ConstantOp::create(b, loc, neutral), loops.kept);
  Value reduced =
      linalg::GenericOp::create(b, loc, init.getType(), input, init, maps, loops.iterators,
                                [&](OpBuilder &b, Location loc, ValueRange scalars) {
                                  Value element = widen(b, loc, scalars[0]);
                                  linalg::YieldOp::create(b, loc, body(b, {element, scalars[1]}));
                                })
          .getResult(0);
  return narrowed(b, loc, reduced, loops.kept, neutral.getType(), elementType);
}

std::pair<Value, Value> buildArgReduction(OpBuilder &b, Location loc, Value input,
                                          ArrayRef<DimExpr> shape, ArrayRef<int64_t> axes,
                                          bool keepDims, TypedAttr worst, Type elementType,
                                          Type indexType, BodyBuilder isBetter) {
  ReductionLoops loops(b, shape, axes, keepDims);
  AffineMap maps[] = {loops.input, loops.result, loops.result};
  Value first = arith::ConstantOp::create(b, loc, b.getZeroAttr(indexType));
  Value inits[] = {buildFill(b, loc, arith::ConstantOp::create(b, loc, worst), loops.kept),
                   buildFill(b, loc, first, loops.kept)};
  SmallVector<Value> sizes;
  for (int64_t axis : axes)
    sizes.push_back(buildSize(b, loc, shape[axis]));
  auto reduction = linalg::GenericOp::create(
      b, loc, TypeRange(ValueRange(inits)), input, inits, maps, loops.iterators,
      [&](OpBuilder &b, Location loc, ValueRange scalars) {
        Value element = widen(b, loc, scalars[0]);
        Value index;
        for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
          Value along = linalg::IndexOp::create(b, loc, axis);
          if (index)
            along =
                arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, index, size), along);
          index = along;
        }
        if (!index)
          index = arith::ConstantIndexOp::create(b, loc, 0);
        index = arith::IndexCastOp::create(b, loc, indexType, index);
        Value better = isBetter(b, {element, scalars[1]});
        Value yielded[] = {arith::SelectOp::create(b, loc, better, element, scalars[1]),
                           arith::SelectOp::create(b, loc, better, index, scalars[2])};
        linalg::YieldOp::create(b, loc, yielded);
      });
  return {narrowed(b, loc, reduction.getResult(0), loops.kept, worst.getType(), elementType),
          reduction.getResult(1)};
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Returns the map from indices in `to` to indices in `from` if the shapes differ only in unit
/// dimensions.
static std::optional<AffineMap> unitReshapeMap(MLIRContext *context, ArrayRef<DimExpr> from,
                                               ArrayRef<DimExpr> to) {
  SmallVector<AffineExpr> exprs;
  size_t next = 0;
  auto skipUnits = [&] {
    while (next < to.size() && to[next].isConstant(1))
      ++next;
  };
  for (const DimExpr &size : from) {
    if (size.isConstant(1)) {
      exprs.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    skipUnits();
    if (next == to.size() || to[next] != size)
      return std::nullopt;
    exprs.push_back(getAffineDimExpr(next++, context));
  }
  skipUnits();
  if (next != to.size())
    return std::nullopt;
  return AffineMap::get(to.size(), 0, exprs, context);
}

/// Reads the element whose row-major position in `from` is the position of the loop indices in
/// `to`.
static Value buildLinearReshape(OpBuilder &b, Location loc, Value value, ArrayRef<DimExpr> from,
                                ArrayRef<DimExpr> to) {
  Type elementType = cast<RankedTensorType>(value.getType()).getElementType();
  SmallVector<Value> fromSizes, toSizes;
  for (const DimExpr &size : from)
    fromSizes.push_back(buildSize(b, loc, size));
  for (const DimExpr &size : to)
    toSizes.push_back(buildSize(b, loc, size));
  return buildParallel(
      b, loc, {}, {}, to, elementType,
      [&](OpBuilder &b, ValueRange) -> Value {
        Value position = arith::ConstantIndexOp::create(b, loc, 0);
        for (auto [i, size] : llvm::enumerate(toSizes)) {
          position = arith::MulIOp::create(b, loc, position, size);
          Value index = linalg::IndexOp::create(b, loc, i);
          position = arith::AddIOp::create(b, loc, position, index);
        }
        SmallVector<Value> indices(from.size());
        for (size_t i = from.size(); i-- > 1;) {
          indices[i] = arith::RemUIOp::create(b, loc, position, fromSizes[i]);
          position = arith::DivUIOp::create(b, loc, position, fromSizes[i]);
        }
        if (!indices.empty())
          indices[0] = position;
        return tensor::ExtractOp::create(b, loc, value, indices);
      },
      /*widenInputs=*/false);
}

Value buildReshape(OpBuilder &b, Location loc, Value value, ArrayRef<DimExpr> from,
                   ArrayRef<DimExpr> to) {
  if (from == to)
    return value;
  std::optional<AffineMap> map = unitReshapeMap(b.getContext(), from, to);
  if (!map)
    return buildLinearReshape(b, loc, value, from, to);
  Type elementType = cast<RankedTensorType>(value.getType()).getElementType();
  return buildParallel(
      b, loc, value, *map, to, elementType,
      [](OpBuilder &, ValueRange scalars) { return scalars[0]; }, /*widenInputs=*/false);
}

} // namespace tfc::lowering
