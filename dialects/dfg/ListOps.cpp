//===- ListOps.cpp - Sequences of tensors ---------------------------------===//
//
// Implements operations on lists. A list is a value, so a write returns a new list and has a
// gradient like other operations.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Build.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Errors.h"

using namespace mlir;
using namespace tfc::dfg;

static ListType listType(Type type) { return cast<ListType>(type); }

static RankedTensorType countType(MLIRContext *context) {
  return tensorOf({}, IntegerType::get(context, 32));
}

/// Checks that `value` can be an element of `list`.
static LogicalResult checkElement(std::optional<Location> location, StringRef op, Type list,
                                  Type value) {
  RankedTensorType element = listType(list).getElementType();
  if (element == value)
    return success();
  return emitErrorAbout(location, op, "expects an element ", toText(element),
                        " for a list of them, but got ", toText(value), " [list-element]");
}

/// Checks that elements of `list` can be added.
static LogicalResult checkNumbers(std::optional<Location> location, StringRef op, Type list) {
  if (!elementTypeOf(listType(list).getElementType()).isInteger(1))
    return success();
  return emitErrorAbout(location, op, "expects a list of numbers, but got ", toText(list),
                        " [dtype]");
}

static Value zeroElement(OpBuilder &b, Value list) {
  return filled(b, list.getLoc(), listType(list.getType()).getElementType(), 0.0);
}

/// A list of zeros as long as `list`.
static Value zerosLike(OpBuilder &b, Value list) {
  RankedTensorType element = listType(list.getType()).getElementType();
  Value size = ListSizeOp::create(b, list.getLoc(), list);
  return ListCreateOp::create(b, list.getLoc(), size,
                              DimsAttr::get(b.getContext(), shapeOf(element)),
                              TypeAttr::get(element.getElementType()));
}

/// Builds the condition 0 <= index < size, or <= size if the list may grow.
static DataCheck buildIsInside(OpBuilder &b, Value list, Value index, bool mayGrow) {
  Location loc = index.getLoc();
  Type dtype = elementTypeOf(index.getType());
  Value length = ListSizeOp::create(b, loc, list), size = length;
  if (size.getType() != index.getType())
    size = CastOp::create(b, loc, size, TypeAttr::get(dtype));
  Value isLow = GreaterEqualOp::create(b, loc, index, scalarLike(b, index, 0.0));
  Value isHigh = mayGrow ? LessEqualOp::create(b, loc, index, size).getResult()
                         : LessOp::create(b, loc, index, size).getResult();
  Message message(b, loc);
  message.text("got position ").number(index).text(" of a list of ").number(length);
  return {LogicalAndOp::create(b, loc, isLow, isHigh), message.text(" elements")};
}

//===----------------------------------------------------------------------===//
// ListCreateOp
//===----------------------------------------------------------------------===//

LogicalResult ListCreateOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type dtype = adaptor.getDtype().value_or(Float32Type::get(context));
  Shape shape = adaptor.getShape().getExprs();
  for (const DimExpr &size : shape)
    if (isNonNegative(size) == false)
      return emitErrorAbout(location, "list_create",
                            "expects sizes that are not negative, but got ", size.str(), " [size]");
  results.push_back(ListType::get(context, tensorOf(shape, dtype)));
  return success();
}

//===----------------------------------------------------------------------===//
// ListSizeOp
//===----------------------------------------------------------------------===//

LogicalResult ListSizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                           SmallVectorImpl<Type> &results) {
  results.push_back(countType(context));
  return success();
}

//===----------------------------------------------------------------------===//
// ListReadOp
//===----------------------------------------------------------------------===//

LogicalResult ListReadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  results.push_back(listType(adaptor.getList().getType()).getElementType());
  return success();
}

std::optional<DataCheck> ListReadOp::buildCheck(OpBuilder &b) {
  return buildIsInside(b, getList(), getIndex(), /*mayGrow=*/false);
}

/// d(l[i]) = zeros with g at i.
SmallVector<Value> ListReadOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  return {ListAddOp::create(b, getLoc(), zerosLike(b, getList()), getIndex(), resultGrads.front()),
          Value()};
}

//===----------------------------------------------------------------------===//
// ListWriteOp
//===----------------------------------------------------------------------===//

LogicalResult ListWriteOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getList().getType());
  return checkElement(location, "list_write", results.front(), adaptor.getValue().getType());
}

std::optional<DataCheck> ListWriteOp::buildCheck(OpBuilder &b) {
  return buildIsInside(b, getList(), getIndex(), /*mayGrow=*/true);
}

/// The element's gradient is g[i]; that of the old list is g with zeros there. If the list grew,
/// the gradient is one element longer than the operand, whose gradient is its prefix.
SmallVector<Value> ListWriteOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value g = resultGrads.front();
  Value value = ListReadOp::create(b, getLoc(), g, getIndex());
  Value list = ListWriteOp::create(b, getLoc(), g, getIndex(), zeroElement(b, g));
  return {list, Value(), value};
}

//===----------------------------------------------------------------------===//
// ListAddOp
//===----------------------------------------------------------------------===//

LogicalResult ListAddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getList().getType());
  if (failed(checkNumbers(location, "list_add", results.front())))
    return failure();
  return checkElement(location, "list_add", results.front(), adaptor.getValue().getType());
}

std::optional<DataCheck> ListAddOp::buildCheck(OpBuilder &b) {
  return buildIsInside(b, getList(), getIndex(), /*mayGrow=*/false);
}

/// The list's gradient is g, that of the element g[i].
SmallVector<Value> ListAddOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value g = resultGrads.front();
  return {g, Value(), ListReadOp::create(b, getLoc(), g, getIndex())};
}

SmallVector<Value> ListAddOp::decompose(OpBuilder &b) {
  Value old = ListReadOp::create(b, getLoc(), getList(), getIndex());
  Value sum = AddOp::create(b, getLoc(), old, getValue());
  return {ListWriteOp::create(b, getLoc(), getList(), getIndex(), sum)};
}

//===----------------------------------------------------------------------===//
// ListSumOp
//===----------------------------------------------------------------------===//

LogicalResult ListSumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type lhs = adaptor.getLhs().getType(), rhs = adaptor.getRhs().getType();
  if (lhs != rhs)
    return emitErrorAbout(location, "list_sum", "expects lists of one type, but got ", toText(lhs),
                          " and ", toText(rhs), " [list-element]");
  results.push_back(lhs);
  return checkNumbers(location, "list_sum", lhs);
}

/// d(a + b) = g, g.
SmallVector<Value> ListSumOp::buildOperandGradients(OpBuilder &, ValueRange resultGrads) {
  return {resultGrads.front(), resultGrads.front()};
}

/// A loop over the right list that adds to the left one. A read past the end of a list returns
/// zero.
SmallVector<Value> ListSumOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value size = ListSizeOp::create(b, loc, getRhs());
  Value zero = scalarLike(b, size, 0.0), one = scalarLike(b, size, 1.0);
  auto loop = WhileOp::create(b, loc, ValueRange{zero, getLhs()});
  OpBuilder::InsertionGuard guard(b);
  Block &condition = loop.getConditionBlock(), &body = loop.getBodyBlock();
  b.setInsertionPointToEnd(&condition);
  ConditionOp::create(b, loc, LessOp::create(b, loc, condition.getArgument(0), size));
  b.setInsertionPointToEnd(&body);
  Value index = body.getArgument(0), list = body.getArgument(1);
  Value sum = AddOp::create(b, loc, ListReadOp::create(b, loc, list, index),
                            ListReadOp::create(b, loc, getRhs(), index));
  Value next = AddOp::create(b, loc, index, one);
  YieldOp::create(b, loc, ValueRange{next, ListWriteOp::create(b, loc, list, index, sum)});
  return {loop.getResult(1)};
}

//===----------------------------------------------------------------------===//
// ListStackOp
//===----------------------------------------------------------------------===//

LogicalResult ListStackOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getSize().getSizes().size() != 1)
    return emitErrorAbout(location, "list_stack", "expects one size, but got ",
                          adaptor.getSize().getSizes().size(), " [attribute]");
  RankedTensorType element = listType(adaptor.getList().getType()).getElementType();
  Shape shape = shapeOf(element);
  shape.insert(shape.begin(), adaptor.getSize().getExprs().front());
  results.push_back(tensorOf(shape, element.getElementType()));
  return success();
}

std::optional<DataCheck> ListStackOp::buildCheck(OpBuilder &b) {
  if (getPrefix())
    return std::nullopt;
  // The number of elements fits i32, but not every size that it is compared with.
  Type i64 = b.getI64Type();
  DimExpr size = getSize().getExprs().front();
  Value length = ListSizeOp::create(b, getLoc(), getList());
  length = CastOp::create(b, getLoc(), length, TypeAttr::get(i64));
  Value holds = EqualOp::create(b, getLoc(), length, sizeAs(b, getLoc(), size, i64));
  Message message(b, getLoc());
  message.text("expects a list of " + size.str() + " elements, but got ").number(length);
  return DataCheck{holds, message.namesIn(size)};
}

/// d(stack(l)) = unstack(g), and zeros for elements that were omitted.
SmallVector<Value> ListStackOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Value g = ListUnstackOp::create(b, getLoc(), resultGrads.front());
  if (getPrefix())
    g = ListSumOp::create(b, getLoc(), zerosLike(b, getList()), g);
  return {g};
}

//===----------------------------------------------------------------------===//
// ListUnstackOp
//===----------------------------------------------------------------------===//

LogicalResult ListUnstackOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &results) {
  Shape shape = shapeOf(adaptor.getX().getType());
  if (shape.empty())
    return emitErrorAbout(location, "list_unstack", "expects at least one axis, but got ",
                          toText(adaptor.getX().getType()), " [rank]");
  shape.erase(shape.begin());
  results.push_back(
      ListType::get(context, tensorOf(shape, elementTypeOf(adaptor.getX().getType()))));
  return success();
}

/// The size of a list is an i32.
Numbers ListUnstackOp::getNumbers() {
  return {{sizeOfAxis(getX().getType(), 0), IntegerType::get(getContext(), 32)}};
}

/// d(unstack(x)) = stack(g). The gradient of a list that grew has more elements than x.
SmallVector<Value> ListUnstackOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Shape shape = shapeOf(getX().getType());
  auto size = DimsAttr::get(b.getContext(), {shape.front()});
  return {ListStackOp::create(b, getLoc(), resultGrads.front(), size, /*prefix=*/true)};
}
