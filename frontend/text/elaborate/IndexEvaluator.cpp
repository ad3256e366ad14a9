// Evaluates subscripts, whose meaning depends on whether a tensor, a group, a list or a type is
// indexed.
#include "frontend/text/elaborate/IndexEvaluator.h"

#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

Entity IndexEvaluator::evalIndex(const ast::IndexExpr &expr) {
  if (isa<ast::ListTypeExpr>(expr.base))
    return typeEvaluator.evalListType(expr);
  Entity base = evaluator.eval(expr.base);
  if (base.isPoison())
    return Poison();
  if (const mlir::Type *element = base.get<mlir::Type>())
    return evalTypeIndex(expr, *element);
  if (const Group *group = base.asGroup())
    return indexGroup(expr, *group);
  if (mlir::Value list = listOf(base))
    return tensorEmitter.toValue(base, {}, expr.base->range) ? listEmitter.indexList(expr, list)
                                                             : Entity();
  mlir::Value tensor = tensorEmitter.toTensor(base, {}, expr.base->range);
  return tensor ? indexTensor(expr, tensor) : Entity();
}

Entity IndexEvaluator::evalTypeIndex(const ast::IndexExpr &expr, mlir::Type element) {
  std::optional<dfg::Shape> shape = typeEvaluator.evalShape(expr.items);
  if (!shape)
    return Poison();
  return Entity(TensorType{element, std::move(*shape)});
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The position denoted by an index, counted from the end if negative.
static int64_t clampIndex(int64_t index, int64_t size) {
  if (index < 0)
    index += size;
  return std::clamp<int64_t>(index, 0, size);
}

Entity IndexEvaluator::indexGroup(const ast::IndexExpr &expr, const Group &group) {
  if (expr.items.size() != 1)
    return reporter.fail(expr.range, "wrong-count", "a group has one index");
  const ast::IndexItem &item = expr.items.front();
  int64_t size = group.elements.size();
  if (item.kind == ast::IndexItemKind::Rest)
    return reporter.fail(item.range, "misplaced", "a group has no axes");
  if (item.kind == ast::IndexItemKind::Element) {
    std::optional<int64_t> index = staticStage.evalStaticInt(item.value);
    if (!index)
      return Poison();
    int64_t place = *index < 0 ? *index + size : *index;
    if (place < 0 || place >= size)
      return reporter.fail(item.range, "index-range",
                           "the group has {} values, so there is no index {}", size, *index);
    return group.elements[place];
  }
  int64_t start = 0, stop = size, step = 1;
  for (auto [part, target] :
       {std::pair(item.value, &start), std::pair(item.stop, &stop), std::pair(item.step, &step)}) {
    if (!part)
      continue;
    std::optional<int64_t> value = staticStage.evalStaticInt(part);
    if (!value)
      return Poison();
    *target = part == item.step ? *value : clampIndex(*value, size);
  }
  if (step <= 0)
    return reporter.fail(item.range, "bad-step", "the step of a slice must be positive");
  std::vector<Entity> elements;
  for (int64_t i = start; i < stop; i += step) {
    elements.push_back(group.elements[i]);
    if (step > stop)
      break;
  }
  return Entity::group(std::move(elements));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// One axis of a slice, and whether it is dropped.
struct IndexEvaluator::AxisSlice {
  dfg::DimExpr start = 0, limit = 0;
  int64_t step = 1;
  bool isDropped = false;
  /// The index of `x[i]` if it is a run-time value: taken from the whole axis.
  mlir::Value index;
};

/// The expression as messages name it.
std::string IndexEvaluator::nameOf(const ast::IndexExpr &expr) const {
  return context.sources.shortText(expr.range, "x[i]");
}

/// A negative constant counts from the end.
static dfg::DimExpr fromEnd(const dfg::DimExpr &place, const dfg::DimExpr &size) {
  std::optional<int64_t> constant = place.constant();
  return constant && *constant < 0 ? size + place : place;
}

/// The scalar by which `x[i]` takes one element at run time; null after an error.
mlir::Value IndexEvaluator::runTimeIndex(const Entity &value, const ast::Expr *expr) {
  mlir::Value index = tensorEmitter.toTensor(value, {}, expr->range);
  if (!index)
    return {};
  mlir::Type element = dfg::elementTypeOf(index.getType());
  bool isIndex = element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (isIndex && dfg::shapeOf(index.getType()).empty())
    return index;
  Diagnostic &diagnostic = reporter.error(
      expr->range, "operand-kind",
      "an index is a number, or a scalar of type i32 or i64, but got {}", value.describe());
  if (isIndex)
    diagnostic.help("gather(x, i, axis: 0) takes the elements at all indices in i");
  else if (element.isInteger(1))
    diagnostic.help("boolean_mask(x, mask) takes the slices where mask is true");
  return {};
}

/// The index after a check whose message is about the author's tensor, not about a slice of it.
mlir::Value IndexEvaluator::checkedIndex(const ast::IndexExpr &expr, mlir::Value index,
                                         mlir::Type table, int64_t axis) {
  mlir::Builder b(context.mlir);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("shape", dfg::DimsAttr::get(context.mlir, dfg::shapeOf(table))),
      b.getNamedAttr("dtype", mlir::TypeAttr::get(dfg::elementTypeOf(table))),
      b.getNamedAttr("axis", b.getI64IntegerAttr(axis))};
  return tensorEmitter.emit("check_indices", {}, index, attributes, expr.range, nameOf(expr));
}

/// Takes the elements at run-time indices of `sliced`, a slice of a `table` in which the dropped
/// axes are gone.
Entity IndexEvaluator::gatherIndices(const ast::IndexExpr &expr, ArrayRef<AxisSlice> slices,
                                     mlir::Value sliced, mlir::Type table) {
  int64_t axis = 0;
  for (auto [tableAxis, slice] : enumerate(slices)) {
    axis += !slice.isDropped && !slice.index;
    mlir::Value index = slice.index;
    if (index && sliced.getType() != table)
      index = checkedIndex(expr, index, table, tableAxis);
    if (!slice.index)
      continue;
    mlir::NamedAttribute attribute(
        mlir::StringAttr::get(context.mlir, "axis"),
        mlir::IntegerAttr::get(mlir::IntegerType::get(context.mlir, 64), axis));
    Argument operand{{}, expr.base, expr.base->range, Entity(sliced)};
    sliced = index ? tensorEmitter.emit("gather", operand, {sliced, index}, attribute, expr.range,
                                        nameOf(expr))
                   : mlir::Value();
    if (!sliced)
      return Poison();
  }
  return Entity(sliced);
}

/// `x[place]`: restricts `slice`, which covers an axis, to one element.
bool IndexEvaluator::sliceElement(const ast::IndexItem &item, int64_t axis, mlir::Type type,
                                  AxisSlice &slice) {
  Entity value = evaluator.eval(item.value);
  if (value.isTensor()) {
    slice.index = runTimeIndex(value, item.value);
    return slice.index != nullptr;
  }
  std::optional<dfg::DimExpr> place = typeEvaluator.asSize(value, item.value);
  if (!place)
    return false;
  dfg::DimExpr size = slice.limit;
  slice.start = fromEnd(*place, size);
  slice.limit = slice.start + dfg::DimExpr(1);
  slice.isDropped = true;
  if (slice.start.constant().value_or(0) >= 0 && (size - slice.start).constant().value_or(1) > 0)
    return true;
  reporter.fail(item.range, "index-range", "index {} is outside of axis {} of {}", place->str(),
                axis, dfg::toText(type));
  return false;
}

/// `x[start:limit:step]`: restricts `slice`, which covers an axis.
bool IndexEvaluator::sliceRange(const ast::IndexItem &item, AxisSlice &slice) {
  dfg::DimExpr size = slice.limit;
  for (auto [part, target] :
       {std::pair(item.value, &slice.start), std::pair(item.stop, &slice.limit)}) {
    if (!part)
      continue;
    std::optional<dfg::DimExpr> place = typeEvaluator.evalSize(part);
    if (!place)
      return false;
    *target = fromEnd(*place, size);
  }
  if (!item.step)
    return true;
  std::optional<int64_t> step = staticStage.evalStaticInt(item.step);
  if (!step)
    return false;
  if (*step <= 0)
    reporter.fail(item.range, "bad-step", "the step of a slice must be positive");
  // A step beyond the length of any axis is equivalent, and sums with it do not overflow.
  slice.step = std::min(*step, dfg::kMaxTensorBytes);
  return *step > 0;
}

/// Evaluates the items for each axis of a tensor; returns false after an error.
bool IndexEvaluator::slicesOf(const ast::IndexExpr &expr, mlir::Type type,
                              SmallVectorImpl<AxisSlice> &slices) {
  dfg::Shape shape = dfg::shapeOf(type);
  auto isRest = [](const ast::IndexItem &item) { return item.kind == ast::IndexItemKind::Rest; };
  size_t rest = count_if(expr.items, isRest), fixed = expr.items.size() - rest;
  if (rest > 1 || fixed > shape.size()) {
    reporter.fail(expr.range, "wrong-count", "too many indices for {}", dfg::toText(type));
    return false;
  }

  auto addWhole = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      AxisSlice &slice = slices.emplace_back();
      slice.limit = shape[slices.size() - 1];
    }
  };
  for (const ast::IndexItem &item : expr.items) {
    if (isRest(item)) {
      addWhole(shape.size() - fixed);
      continue;
    }
    int64_t axis = slices.size();
    addWhole(1);
    bool isElement = item.kind == ast::IndexItemKind::Element;
    if (isElement ? !sliceElement(item, axis, type, slices.back())
                  : !sliceRange(item, slices.back()))
      return false;
  }
  addWhole(shape.size() - slices.size());
  return true;
}

/// Emits the `slice` of a tensor, unless all of it is taken; null after an error.
mlir::Value IndexEvaluator::emitSlice(const ast::IndexExpr &expr, ArrayRef<AxisSlice> slices,
                                      mlir::Value tensor) {
  bool isWhole = true;
  SmallVector<dfg::DimExpr> starts, sizes;
  SmallVector<int64_t> steps;
  for (auto [slice, size] : zip(slices, dfg::shapeOf(tensor.getType()))) {
    isWhole &= slice.start.isConstant(0) && slice.limit == size && slice.step == 1;
    starts.push_back(slice.start);
    dfg::DimExpr length = slice.limit - slice.start + dfg::DimExpr(slice.step - 1);
    sizes.push_back(dfg::DimExpr::floorDiv(length, dfg::DimExpr(slice.step)));
    steps.push_back(slice.step);
  }
  if (isWhole)
    return tensor;
  mlir::Builder b(context.mlir);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("starts", dfg::DimsAttr::get(context.mlir, starts)),
      b.getNamedAttr("sizes", dfg::DimsAttr::get(context.mlir, sizes)),
      b.getNamedAttr("steps", b.getDenseI64ArrayAttr(steps))};
  Argument operand{{}, expr.base, expr.base->range, Entity(tensor)};
  return tensorEmitter.emit("slice", operand, tensor, attributes, expr.range, nameOf(expr));
}

Entity IndexEvaluator::indexTensor(const ast::IndexExpr &expr, mlir::Value tensor) {
  SmallVector<AxisSlice> slices;
  if (!slicesOf(expr, tensor.getType(), slices))
    return Poison();
  mlir::Value result = emitSlice(expr, slices, tensor);
  if (!result)
    return Poison();
  dfg::Shape sliced = dfg::shapeOf(result.getType());
  SmallVector<dfg::DimExpr> kept;
  for (auto [slice, size] : zip(slices, sliced))
    if (!slice.isDropped)
      kept.push_back(size);
  if (kept.size() != sliced.size()) {
    mlir::NamedAttribute attribute(mlir::StringAttr::get(context.mlir, "shape"),
                                   dfg::DimsAttr::get(context.mlir, kept));
    result = tensorEmitter.emit("reshape", {}, result, attribute, expr.range);
  }
  return result ? gatherIndices(expr, slices, result, tensor.getType()) : Entity();
}

} // namespace tfc::text
