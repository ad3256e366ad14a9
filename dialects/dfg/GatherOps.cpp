//===- GatherOps.cpp - Elements at computed positions ---------------------===//
//
// Implements reads and updates at positions that a tensor holds. They are one family, because the
// gradient of a read is an update.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/ScanOps.h"
#include "dialects/dfg/TakeAlongAxis.h"

using namespace mlir;
using namespace tfc::dfg;

/// Builds the condition that the indices are inside of one axis of `x`.
static DataCheck buildAxisCheck(OpBuilder &b, Operation *op, Value indices, Value x, int64_t axis) {
  int64_t normal = *normalizeAxis(axis, shapeOf(x.getType()).size());
  IndexRange range = {indices, normal, shapeOf(x.getType())[normal]};
  return buildIndexCheck(b, op->getLoc(), range, "index", x.getType());
}

/// The positions 0 to count - 1 as i64.
static Value positions(OpBuilder &b, Location loc, const DimExpr &count) {
  return IotaOp::create(b, loc, DimsAttr::get(b.getContext(), {count}),
                        TypeAttr::get(b.getI64Type()));
}

static Value skipOutside(OpBuilder &b, Location loc, Value x, Value indices) {
  return GatherOp::create(b, loc, x, indices, b.getI64IntegerAttr(0),
                          OutsideAttr::get(b.getContext(), Outside::Skip));
}

/// Zeros of type `type` with rows added at the indices; rows with indices out of range are ignored.
static Value addRows(OpBuilder &b, Location loc, RankedTensorType type, Value indices, Value rows) {
  return ScatterAddOp::create(b, loc, filled(b, loc, type, 0.0), indices, rows,
                              OutsideAttr::get(b.getContext(), Outside::Skip));
}

/// `value` with the `count` axes from `from` on moved so that they start at `to`.
static Value moveAxes(OpBuilder &b, Value value, int64_t from, int64_t count, int64_t to) {
  if (from == to)
    return value;
  SmallVector<int64_t> moved = llvm::to_vector(llvm::seq(from, from + count)), permutation;
  for (int64_t axis = 0, rank = shapeOf(value.getType()).size(); axis < rank; ++axis)
    if (axis < from || axis >= from + count)
      permutation.push_back(axis);
  permutation.insert(permutation.begin() + to, moved.begin(), moved.end());
  return TransposeOp::create(b, value.getLoc(), value, b.getDenseI64ArrayAttr(permutation));
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType(), indices = adaptor.getIndices().getType();
  Shape shape = shapeOf(type), places = shapeOf(indices);
  FailureOr<int64_t> axis = checkAxis(location, "gather", adaptor.getAxis(), shape.size(), type);
  if (failed(axis) || failed(checkIndices(location, "gather", indices)))
    return failure();
  Shape result(ArrayRef(shape).take_front(*axis));
  result.append(places);
  result.append(shape.begin() + *axis + 1, shape.end());
  results.push_back(tensorOf(result, elementTypeOf(type)));
  return success();
}

bool GatherOp::takesRows() {
  return *normalizeAxis(getAxis(), shapeOf(getX().getType()).size()) == 0;
}

/// Row k of the gradient belongs to row i[k] of x.
std::pair<Value, Value> GatherOp::buildRowGradient(OpBuilder &b, Value resultGrad) {
  DimExpr count = elementCount(shapeOf(getIndices().getType()));
  Shape rows = shapeOf(getX().getType());
  rows.front() = count;
  Value indices = reshapeTo(b, getIndices(), {count});
  return {CastOp::create(b, getLoc(), indices, b.getI64Type()), reshapeTo(b, resultGrad, rows)};
}

/// d gather(x, i) = zeros like x, with the rows of g added at i.
SmallVector<Value> GatherOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape shape = shapeOf(getX().getType());
  int64_t axis = *normalizeAxis(getAxis(), shape.size());
  int64_t count = shapeOf(getIndices().getType()).size();
  std::rotate(shape.begin(), shape.begin() + axis, shape.begin() + axis + 1);
  Value rows = moveAxes(b, resultGrads[0], axis, count, 0);
  auto type = tensorOf(shape, elementTypeOf(getX().getType()));
  Value sums = addRows(b, getLoc(), type, getIndices(), rows);
  return {moveAxes(b, sums, 0, 1, axis), Value()};
}

/// Takes elements of a vector.
std::optional<SizeTensor> GatherOp::evaluateSizes(SizeOperands operands,
                                                  DictionaryAttr attributes) {
  const SizeTensor &x = *operands[0], &indices = *operands[1];
  auto places = indices.getConstants();
  if (!places || x.getRank() != 1 || !normalizeAxis(Adaptor(ValueRange(), attributes).getAxis(), 1))
    return std::nullopt;
  Shape values;
  for (int64_t place : *places) {
    if (place < 0 || place >= x.shape.front())
      return std::nullopt;
    values.push_back(x.values[place]);
  }
  return makeSizes(x.elementType, indices.shape, std::move(values));
}

/// Returns true if `check_indices` has checked the indices already.
static bool areInRange(Value indices, const DimExpr &size) {
  auto checked = indices.getDefiningOp<CheckIndicesOp>();
  return checked && checked.getSize() == size;
}

std::optional<DataCheck> GatherOp::buildCheck(OpBuilder &b) {
  Shape shape = shapeOf(getX().getType());
  if (getOutside() == Outside::Skip ||
      areInRange(getIndices(), shape[*normalizeAxis(getAxis(), shape.size())]))
    return std::nullopt;
  return buildAxisCheck(b, *this, getIndices(), getX(), getAxis());
}

//===----------------------------------------------------------------------===//
// GatherNdOp
//===----------------------------------------------------------------------===//

/// The length of the index vectors; std::nullopt if it is not static or exceeds `rank`.
static std::optional<int64_t> indexLength(ArrayRef<DimExpr> indices, size_t rank) {
  if (indices.empty())
    return std::nullopt;
  std::optional<int64_t> length = indices.back().constant();
  return length && *length >= 1 && *length <= int64_t(rank) ? length : std::nullopt;
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType(), indices = adaptor.getIndices().getType();
  Shape shape = shapeOf(type), places = shapeOf(indices);
  if (failed(checkIndices(location, "gather_nd", indices)))
    return failure();
  std::optional<int64_t> length = indexLength(places, shape.size());
  if (!length)
    return emitErrorAbout(location, "gather_nd", "expects index vectors of length 1 to ",
                          shape.size(), " along the last axis, but got ", toText(indices), " for ",
                          toText(type), " [rank]");
  Shape result(ArrayRef(places).drop_back());
  result.append(shape.begin() + *length, shape.end());
  results.push_back(tensorOf(result, elementTypeOf(type)));
  return success();
}

/// Component `i` of the index vectors, for the axis of the same number.
static Term component(OpBuilder &b, Location loc, Value indices, int64_t i) {
  Shape shape = shapeOf(indices.getType());
  Shape starts(shape.size(), DimExpr(0)), sizes = shape;
  starts.back() = DimExpr(i);
  sizes.back() = DimExpr(1);
  Term vector(b, loc, indices);
  Term part = call<SliceOp>(vector, DimsAttr::get(b.getContext(), starts),
                            DimsAttr::get(b.getContext(), sizes), DenseI64ArrayAttr());
  return call<CastOp>(reshape(part, ArrayRef(shape).drop_back()), b.getI64Type());
}

/// Row-major positions, as i64, in `x` with its indexed axes flattened.
static Value flatPositions(OpBuilder &b, GatherNdOp op) {
  Location loc = op.getLoc();
  Shape shape = shapeOf(op.getX().getType());
  int64_t length = *indexLength(shapeOf(op.getIndices().getType()), shape.size());
  Term flat = component(b, loc, op.getIndices(), 0);
  for (int64_t i = 1; i < length; ++i)
    flat = flat * flat.with(sizeAs(b, loc, shape[i], b.getI64Type())) +
           component(b, loc, op.getIndices(), i);
  return flat;
}

static Shape flattenedShape(GatherNdOp op) {
  Shape shape = shapeOf(op.getX().getType());
  int64_t length = *indexLength(shapeOf(op.getIndices().getType()), shape.size());
  Shape flat = {elementCount(ArrayRef(shape).take_front(length))};
  flat.append(shape.begin() + length, shape.end());
  return flat;
}

/// d gather_nd(x, i) = zeros like x, with the slices of g added at i.
SmallVector<Value> GatherNdOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  auto type = tensorOf(flattenedShape(*this), elementTypeOf(getX().getType()));
  Value sums = addRows(b, getLoc(), type, flatPositions(b, *this), resultGrads[0]);
  return {reshapeTo(b, sums, shapeOf(getX().getType())), Value()};
}

SmallVector<Value> GatherNdOp::decompose(OpBuilder &b) {
  return {skipOutside(b, getLoc(), reshapeTo(b, getX(), flattenedShape(*this)),
                      flatPositions(b, *this))};
}

std::optional<DataCheck> GatherNdOp::buildCheck(OpBuilder &b) {
  Shape shape = shapeOf(getX().getType());
  int64_t length = *indexLength(shapeOf(getIndices().getType()), shape.size());
  SmallVector<IndexRange> ranges;
  for (int64_t i = 0; i < length; ++i)
    ranges.push_back({component(b, getLoc(), getIndices(), i), i, shape[i]});
  return buildIndexCheck(b, getLoc(), ranges, "index", getX().getType());
}

//===----------------------------------------------------------------------===//
// CheckIndicesOp
//===----------------------------------------------------------------------===//

LogicalResult CheckIndicesOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  Type indices = adaptor.getIndices().getType();
  Shape shape = adaptor.getShape().getExprs();
  Type table = tensorOf(shape, adaptor.getDtype().value_or(IntegerType::get(context, 32)));
  if (failed(checkIndices(location, "check_indices", indices)) ||
      failed(checkAxis(location, "check_indices", adaptor.getAxis(), shape.size(), table)))
    return failure();
  results.push_back(indices);
  return success();
}

DimExpr CheckIndicesOp::getSize() {
  Shape shape = getShape().getExprs();
  return shape[*normalizeAxis(getAxis(), shape.size())];
}

SmallVector<Value> CheckIndicesOp::decompose(OpBuilder &) { return {getIndices()}; }

std::optional<DataCheck> CheckIndicesOp::buildCheck(OpBuilder &b) {
  Shape shape = getShape().getExprs();
  IndexRange range = {getIndices(), *normalizeAxis(getAxis(), shape.size()), getSize()};
  Type table = getDtype() ? Type(tensorOf(shape, *getDtype())) : Type();
  return buildIndexCheck(b, getLoc(), range, getWhat(), table);
}

//===----------------------------------------------------------------------===//
// TakeAlongAxisOp
//===----------------------------------------------------------------------===//

LogicalResult TakeAlongAxisOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType(), indices = adaptor.getIndices().getType();
  Shape shape = shapeOf(type), places = shapeOf(indices);
  FailureOr<int64_t> axis =
      checkAxis(location, "take_along_axis", adaptor.getAxis(), shape.size(), type);
  if (failed(axis) || failed(checkIndices(location, "take_along_axis", indices)))
    return failure();
  Shape expected = shape;
  if (places.size() == shape.size())
    expected[*axis] = places[*axis];
  if (places != expected)
    return emitErrorAbout(location, "take_along_axis", "expects indices of the sizes of ",
                          toText(type), " but for axis ", *axis, ", but got ", toText(indices),
                          " [unequal-dimensions]");
  results.push_back(tensorOf(places, elementTypeOf(type)));
  return success();
}

/// With `axis` as the last one and the others flattened: positions in the flattened `x`, as i64.
static Value rowPositions(OpBuilder &b, Location loc, Value x, Value indices, int64_t axis) {
  Shape shape = shapeOf(x.getType());
  Value last = moveAxes(b, indices, axis, 1, shape.size() - 1);
  Shape places = shapeOf(last.getType());
  DimExpr rows = elementCount(ArrayRef(places).drop_back());
  Term index =
      call<CastOp>(Term(b, loc, reshapeTo(b, last, {rows, places.back()})), b.getI64Type());
  Term size = index.with(sizeAs(b, loc, shape[axis], b.getI64Type()));
  Term start = reshape(index.with(positions(b, loc, rows)), {rows, DimExpr(1)}) * size;
  return start + index;
}

Value tfc::dfg::takeAlongAxis(OpBuilder &b, Location loc, Value x, Value places, int64_t axis) {
  Shape shape = shapeOf(x.getType()), result = shapeOf(places.getType());
  int64_t last = shape.size() - 1;
  Value flat = reshapeTo(b, moveAxes(b, x, axis, 1, last), {elementCount(shape)});
  Value taken = skipOutside(b, loc, flat, rowPositions(b, loc, x, places, axis));
  std::rotate(result.begin() + axis, result.begin() + axis + 1, result.end());
  return moveAxes(b, reshapeTo(b, taken, result), last, 1, axis);
}

Value tfc::dfg::takeAlongAxisGradient(OpBuilder &b, Location loc, Value x, Value places,
                                      int64_t axis, Value grad) {
  Shape shape = shapeOf(x.getType());
  int64_t last = shape.size() - 1;
  Value rows = rowPositions(b, loc, x, places, axis);
  Value g = reshapeTo(b, moveAxes(b, grad, axis, 1, last), shapeOf(rows.getType()));
  auto type = tensorOf({elementCount(shape)}, elementTypeOf(x.getType()));
  Value sums = addRows(b, loc, type, rows, g);
  std::rotate(shape.begin() + axis, shape.begin() + axis + 1, shape.end());
  return moveAxes(b, reshapeTo(b, sums, shape), last, 1, axis);
}

SmallVector<Value> TakeAlongAxisOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getX().getType()).size());
  return {takeAlongAxisGradient(b, getLoc(), getX(), getIndices(), axis, resultGrads[0]), Value()};
}

SmallVector<Value> TakeAlongAxisOp::decompose(OpBuilder &b) {
  int64_t axis = *normalizeAxis(getAxis(), shapeOf(getX().getType()).size());
  return {takeAlongAxis(b, getLoc(), getX(), getIndices(), axis)};
}

std::optional<DataCheck> TakeAlongAxisOp::buildCheck(OpBuilder &b) {
  return buildAxisCheck(b, *this, getIndices(), getX(), getAxis());
}

//===----------------------------------------------------------------------===//
// ScatterAddOp, ScatterUpdateOp
//===----------------------------------------------------------------------===//

LogicalResult tfc::dfg::inferScatter(std::optional<Location> location, StringRef op, Dtypes dtypes,
                                     Type operand, Type indices, Type updates,
                                     SmallVectorImpl<Type> &results) {
  Shape shape = shapeOf(operand), expected = shapeOf(indices);
  if (failed(checkIndices(location, op, indices)))
    return failure();
  if (shape.empty())
    return emitErrorAbout(location, op, "expects a tensor with rows, but got ", toText(operand),
                          " [rank]");
  if (failed(checkDtypes(location, op, dtypes, operand)))
    return failure();
  if (elementTypeOf(operand) != elementTypeOf(updates))
    return emitErrorAbout(location, op, "expects operands of one dtype, but got ", toText(operand),
                          " and ", toText(updates), " [dtype]");
  expected.append(shape.begin() + 1, shape.end());
  if (shapeOf(updates) != expected)
    return emitErrorAbout(location, op, "expects updates of type ",
                          toText(tensorOf(expected, elementTypeOf(operand))), ", but got ",
                          toText(updates), " [unequal-dimensions]");
  results.push_back(operand);
  return success();
}

/// d scatter_add(x, i, u) = g, gather(g, i).
SmallVector<Value> ScatterAddOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {resultGrads[0], Value(), skipOutside(b, getLoc(), resultGrads[0], getIndices())};
}

std::optional<DataCheck> ScatterAddOp::buildCheck(OpBuilder &b) {
  if (getOutside() == Outside::Skip)
    return std::nullopt;
  return buildAxisCheck(b, *this, getIndices(), getX(), 0);
}

/// d scatter_update(x, i, u) = g with the rows at i set to 0, and gather(g, i) for the updates that
/// were not replaced by a later one.
SmallVector<Value> ScatterUpdateOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Location loc = getLoc();
  auto skip = OutsideAttr::get(b.getContext(), Outside::Skip);
  Term g(b, loc, resultGrads[0]);
  Term zeros = g.with(filled(b, loc, cast<RankedTensorType>(getUpdates().getType()), 0.0));
  Term rest = call<ScatterUpdateOp>(g, getIndices(), zeros, skip);

  Shape places = shapeOf(getIndices().getType());
  DimExpr count = elementCount(places);
  Value order = reshapeTo(b, positions(b, loc, count), places);
  auto type = tensorOf({shapeOf(getX().getType())[0]}, b.getI64Type());
  Value owner =
      ScatterUpdateOp::create(b, loc, filled(b, loc, type, 0.0), getIndices(), order, skip);
  Term isLast = call<EqualOp>(g.with(skipOutside(b, loc, owner, getIndices())), order);
  Shape spread = places;
  spread.append(shapeOf(getX().getType()).size() - 1, DimExpr(1));
  Term rows = g.with(skipOutside(b, loc, g, getIndices()));
  return {rest, Value(), select(reshape(isLast, spread), rows, g.number(0.0))};
}

std::optional<DataCheck> ScatterUpdateOp::buildCheck(OpBuilder &b) {
  if (getOutside() == Outside::Skip)
    return std::nullopt;
  return buildAxisCheck(b, *this, getIndices(), getX(), 0);
}

//===----------------------------------------------------------------------===//
// ArgsortOp, CoalesceOp
//===----------------------------------------------------------------------===//

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Shape shape = shapeOf(type);
  if (failed(checkDtypes(location, "argsort", Dtypes::Numeric, type)) ||
      failed(checkAxis(location, "argsort", adaptor.getAxis(), shape.size(), type)))
    return failure();
  results.push_back(tensorOf(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult CoalesceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type indices = adaptor.getIndices().getType(), rows = adaptor.getRows().getType();
  if (failed(checkIndices(location, "coalesce", indices)) ||
      failed(checkDtypes(location, "coalesce", Dtypes::Numeric, rows)))
    return failure();
  if (shapeOf(indices).size() != 1 || shapeOf(rows).empty() ||
      shapeOf(rows)[0] != shapeOf(indices)[0])
    return emitErrorAbout(location, "coalesce", "expects one index per row, but got ",
                          toText(indices), " and ", toText(rows), " [unequal-dimensions]");
  results.append({indices, rows});
  return success();
}

/// Sorts the indices, numbers the runs of equal ones, and adds each row to its run.
SmallVector<Value> CoalesceOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  DimExpr count = shapeOf(getIndices().getType())[0];
  auto countDims = DimsAttr::get(b.getContext(), {count});
  auto start = DimsAttr::get(b.getContext(), {DimExpr(1)});
  auto skip = OutsideAttr::get(b.getContext(), Outside::Skip);

  Term order = Term(b, loc, ArgsortOp::create(b, loc, getIndices(), b.getI64IntegerAttr(0)));
  Term sorted = order.with(skipOutside(b, loc, getIndices(), order));
  // Element i of `previous` is element i - 1 of `sorted`. The first run starts at position 0,
  // whatever its index.
  Term previous =
      call<PlaceOp>(sorted, start, countDims, DenseI64ArrayAttr(), b.getF64FloatAttr(0.0));
  Term isInside = greater(order.with(positions(b, loc, count)), 0.0);
  Term isNew = call<LogicalAndOp>(isInside, call<NotEqualOp>(sorted, previous));
  Term run = call<CumsumOp>(call<CastOp>(isNew, b.getI64Type()), b.getI64IntegerAttr(0),
                            b.getBoolAttr(false), b.getBoolAttr(false));
  auto indexType = cast<RankedTensorType>(getIndices().getType());
  auto rowType = cast<RankedTensorType>(getRows().getType());
  Term unique =
      call<ScatterUpdateOp>(sorted.with(filled(b, loc, indexType, -1.0)), run, sorted, skip);
  Value sums = addRows(b, loc, rowType, run, skipOutside(b, loc, getRows(), order));
  return {unique, sums};
}
