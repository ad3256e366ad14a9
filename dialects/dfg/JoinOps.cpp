//===- JoinOps.cpp - Tensors joined from parts and cut into parts ---------===//
//
// Implements the operations of ViewOps.td with several operands or results: concatenation, stacks
// and splits.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

/// Checks that there are operands, all of one dtype and rank.
static LogicalResult checkAlike(std::optional<Location> location, StringRef op, ValueRange xs) {
  if (xs.empty())
    return emitErrorAbout(location, op, "expects at least one tensor [operands]");
  Type first = xs[0].getType();
  for (Value x : xs.drop_front()) {
    if (elementTypeOf(x.getType()) != elementTypeOf(first))
      return emitErrorAbout(location, op, "expects tensors of one dtype, but got ", toText(first),
                            " and ", toText(x.getType()), " [dtype]");
    if (shapeOf(x.getType()).size() != shapeOf(first).size())
      return emitErrorAbout(location, op, "expects tensors of one rank, but got ", toText(first),
                            " and ", toText(x.getType()), " [rank]");
  }
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(checkAlike(location, "concat", adaptor.getXs())))
    return failure();
  Type first = adaptor.getXs()[0].getType();
  Shape shape = shapeOf(first);
  FailureOr<int64_t> axis = checkAxis(location, "concat", adaptor.getAxis(), shape.size(), first);
  if (failed(axis))
    return failure();
  for (Value x : adaptor.getXs().drop_front()) {
    Shape other = shapeOf(x.getType());
    shape[*axis] = shape[*axis] + other[*axis];
    other[*axis] = shape[*axis];
    auto unequal = llvm::mismatch(shape, other);
    if (unequal.first != shape.end())
      return emitDetailedError(location, {.unproven = {{*unequal.first, *unequal.second}}},
                               quotedName(location, "concat"), " expects equal sizes but for axis ",
                               *axis, ", but got ", toText(first), " and ", toText(x.getType()),
                               " [unequal-dimensions]");
  }
  results.push_back(tensorOf(shape, elementTypeOf(first)));
  return success();
}

/// Drops empty parts, and folds to the part if there is only one.
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getType()).size());
  SmallVector<Value> parts = llvm::filter_to_vector(
      getXs(), [&](Value x) { return !shapeOf(x.getType())[axis].isConstant(0); });
  if (parts.empty())
    parts.push_back(getXs().front());
  if (parts.size() == 1)
    return parts.front();
  if (parts.size() == getXs().size())
    return {};
  getXsMutable().assign(parts);
  return getResult();
}

/// Parts of `x` along `axis`, one after the other.
static SmallVector<Value> cut(OpBuilder &b, Location loc, Value x, int64_t axis,
                              ArrayRef<DimExpr> sizes) {
  Shape shape = shapeOf(x.getType());
  Shape starts(shape.size(), DimExpr(0));
  SmallVector<Value> parts;
  for (const DimExpr &size : sizes) {
    shape[axis] = size;
    parts.push_back(SliceOp::create(b, loc, x, DimsAttr::get(b.getContext(), starts),
                                    DimsAttr::get(b.getContext(), shape), DenseI64ArrayAttr()));
    starts[axis] = starts[axis] + size;
  }
  return parts;
}

/// d(concat xs) = the parts of g.
SmallVector<Value> ConcatOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getType()).size());
  Shape sizes;
  for (Value x : getXs())
    sizes.push_back(shapeOf(x.getType())[axis]);
  return cut(b, getLoc(), resultGrads[0], axis, sizes);
}

/// Concatenates along an axis after the first one, whose slices are interleaved.
static std::optional<SizeTensor> interleave(SizeOperands operands, int64_t axis) {
  ArrayRef<int64_t> first = operands.front()->shape;
  SmallVector<int64_t> shape(first);
  shape[axis] = 0;
  for (const SizeTensor *operand : operands) {
    ArrayRef<int64_t> own = operand->shape;
    if (operand->elementType != operands.front()->elementType || own.size() != first.size() ||
        own.take_front(axis) != first.take_front(axis) ||
        own.drop_front(axis + 1) != first.drop_front(axis + 1))
      return std::nullopt;
    shape[axis] += own[axis];
  }
  std::optional<int64_t> rows = countSizes(first.take_front(axis));
  if (!countSizes(shape))
    return std::nullopt;
  Shape values;
  for (int64_t row = 0; rows && row < *rows; ++row)
    for (const SizeTensor *operand : operands) {
      size_t width = operand->values.size() / *rows;
      llvm::append_range(values, ArrayRef(operand->values).slice(row * width, width));
    }
  return makeSizes(operands.front()->elementType, shape, std::move(values));
}

std::optional<SizeTensor> ConcatOp::evaluateSizes(SizeOperands operands,
                                                  DictionaryAttr attributes) {
  std::optional<int64_t> axis =
      operands.empty()
          ? std::nullopt
          : normalizeAxis(Adaptor(ValueRange(), attributes).getAxis(), operands.front()->getRank());
  if (!axis)
    return std::nullopt;
  return *axis == 0 ? concatSizes(operands) : interleave(operands, *axis);
}

//===----------------------------------------------------------------------===//
// StackOp
//===----------------------------------------------------------------------===//

LogicalResult StackOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(checkAlike(location, "stack", adaptor.getXs())))
    return failure();
  Type first = adaptor.getXs()[0].getType();
  for (Value x : adaptor.getXs())
    if (x.getType() != first)
      return emitErrorAbout(location, "stack", "expects tensors of one type, but got ",
                            toText(first), " and ", toText(x.getType()), " [unequal-dimensions]");
  Shape shape = shapeOf(first);
  FailureOr<int64_t> axis =
      checkAxis(location, "stack", adaptor.getAxis(), shape.size() + 1, first);
  if (failed(axis))
    return failure();
  shape.insert(shape.begin() + *axis, DimExpr(int64_t(adaptor.getXs().size())));
  results.push_back(tensorOf(shape, elementTypeOf(first)));
  return success();
}

/// d(stack xs) = the parts of g.
SmallVector<Value> StackOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getType()).size());
  SmallVector<Value> parts =
      cut(b, getLoc(), resultGrads[0], axis, Shape(getXs().size(), DimExpr(1)));
  for (Value &part : parts)
    part = reshapeTo(b, part, shapeOf(getXs()[0].getType()));
  return parts;
}

SmallVector<Value> StackOp::decompose(OpBuilder &b) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getType()).size());
  Shape shape = shapeOf(getXs()[0].getType());
  shape.insert(shape.begin() + axis, DimExpr(1));
  SmallVector<Value> parts;
  for (Value x : getXs())
    parts.push_back(reshapeTo(b, x, shape));
  return {ConcatOp::create(b, getLoc(), parts, b.getI64IntegerAttr(axis))};
}

std::optional<SizeTensor> StackOp::evaluateSizes(SizeOperands operands, DictionaryAttr attributes) {
  if (operands.empty())
    return std::nullopt;
  int64_t rank = operands.front()->getRank();
  auto axis = normalizeAxis(Adaptor(ValueRange(), attributes).getAxis(), rank + 1);
  auto hasRank = [&](const SizeTensor *operand) { return operand->getRank() == rank; };
  if (!axis || !llvm::all_of(operands, hasRank))
    return std::nullopt;
  if (*axis == 0)
    return stackSizes(operands);
  // Each operand is a slice along a new axis.
  auto slices = llvm::map_to_vector(operands, [&](const SizeTensor *operand) {
    SizeTensor slice = *operand;
    slice.shape.insert(slice.shape.begin() + *axis, 1);
    return slice;
  });
  SmallVector<const SizeTensor *> parts;
  for (const SizeTensor &slice : slices)
    parts.push_back(&slice);
  return interleave(parts, *axis);
}

//===----------------------------------------------------------------------===//
// SplitOp
//===----------------------------------------------------------------------===//

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type), sizes;
  FailureOr<int64_t> axis = checkAxis(location, "split", adaptor.getAxis(), shape.size(), type);
  if (failed(axis))
    return failure();
  std::optional<uint64_t> sections = adaptor.getSections();
  if (sections.has_value() == adaptor.getSizes().has_value())
    return emitErrorAbout(location, "split", "expects either sections or sizes [split]");
  if (sections && (*sections == 0 || *sections > 4096))
    return emitErrorAbout(location, "split", "expects 1 to 4096 sections, but got ",
                          int64_t(*sections), " [split]");
  if (sections)
    sizes.assign(*sections, DimExpr::floorDiv(shape[*axis], DimExpr(int64_t(*sections))));
  else
    sizes = adaptor.getSizes()->getExprs();
  DimExpr total(0);
  for (const DimExpr &size : sizes)
    total = total + size;
  if (total != shape[*axis] && sections)
    return emitOptionalError(location, "cannot prove that axis ", *axis, " of ", toText(type),
                             " is divisible by ", int64_t(*sections), ", as ",
                             quotedName(location, "split"), " needs [unequal-dimensions]");
  if (total != shape[*axis])
    return emitErrorAbout(location, "split", "expects sizes that add up to ", shape[*axis].str(),
                          ", but got ", total.str(), " [unequal-dimensions]");
  for (const DimExpr &size : sizes) {
    shape[*axis] = size;
    results.push_back(tensorOf(shape, elementTypeOf(type)));
  }
  return success();
}

/// d(split x) = the gradients of the parts, joined.
SmallVector<Value> SplitOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  SmallVector<Value> parts;
  for (auto [grad, part] : llvm::zip(resultGrads, getParts()))
    parts.push_back(grad ? grad : filled(b, getLoc(), cast<RankedTensorType>(part.getType()), 0.0));
  return {ConcatOp::create(b, getLoc(), parts, getAxisAttr())};
}

SmallVector<Value> SplitOp::decompose(OpBuilder &b) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getX().getType()).size());
  Shape sizes;
  for (Value part : getParts())
    sizes.push_back(shapeOf(part.getType())[axis]);
  return cut(b, getLoc(), getX(), axis, sizes);
}
