// Creates lists of tensors and the operations on them. A list is a run-time value; groups, which
// exist only during elaboration, are in Entity.cpp.
#include "frontend/text/elaborate/ListEmitter.h"

#include "frontend/text/elaborate/ErrorCapture.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

mlir::Value ListEmitter::createList(const TensorType &element, mlir::Value size, SourceRange at) {
  mlir::Builder b(context.mlir);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("shape", dfg::DimsAttr::get(context.mlir, element.shape)),
      b.getNamedAttr("dtype", mlir::TypeAttr::get(element.element))};
  return tensorEmitter.emit("list_create", {}, size, attributes, at);
}

mlir::Value ListEmitter::readList(mlir::Value list, mlir::Value index, SourceRange at,
                                  StringRef name) {
  return tensorEmitter.emit("list_read", {}, {list, index}, {}, at, name);
}

mlir::Value ListEmitter::writeList(mlir::Value list, mlir::Value index, mlir::Value value,
                                   SourceRange at, StringRef name) {
  return tensorEmitter.emit("list_write", {}, {list, index, value}, {}, at, name);
}

mlir::Value ListEmitter::unstack(mlir::Value tensor, SourceRange at) {
  return tensorEmitter.emit("list_unstack", {}, tensor, {}, at, "unstack");
}

mlir::Value ListEmitter::stack(mlir::Value list, const dfg::DimExpr &size, SourceRange at) {
  mlir::NamedAttribute attribute(mlir::StringAttr::get(context.mlir, "size"),
                                 dfg::DimsAttr::get(context.mlir, {size}));
  return tensorEmitter.emit("list_stack", {}, list, attribute, at, "stack");
}

/// A position in a list: one i32 or i64.
mlir::Value ListEmitter::evalPosition(const Argument &argument) {
  mlir::Type preferred =
      argument.value.is<dfg::DimExpr>() ? mlir::IntegerType::get(context.mlir, 32) : mlir::Type();
  mlir::Value index = tensorEmitter.toTensor(argument.value, preferred, argument.range);
  if (!index)
    return {};
  mlir::Type element = dfg::elementTypeOf(index.getType());
  bool isIndex = element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (isIndex && dfg::shapeOf(index.getType()).empty())
    return index;
  reporter.error(argument.range, "list-index", "a position in a list is one i32 or i64, but got {}",
                 dfg::toText(index.getType()));
  return {};
}

/// `list[f32[4]]()`, `list[f32[4]](8)`: empty, or of zeros.
Entity ListEmitter::callListType(const ListType &type, Arguments &args, const ast::CallExpr &call) {
  bool isNamed = !args.empty() && args[0].label && args[0].label.text != "size";
  if (args.size() > 1 || isNamed)
    return reporter.fail(call.range, "wrong-count",
                         "a list takes no argument or its size, as in list[f32[4]](8)");
  if (!tensorEmitter.requireEntry(call.range))
    return Poison();
  mlir::Value size =
      args.empty() ? context.builder.scalar(int64_t(0), mlir::IntegerType::get(context.mlir, 32),
                                            reporter.locate(call.range))
                   : evalPosition(args.front());
  if (!size)
    return Poison();
  mlir::Value list = createList(type.element, size, call.range);
  return list ? Entity(list) : Entity();
}

/// `l[i]`; a negative number counts from the end.
Entity ListEmitter::indexList(const ast::IndexExpr &expr, mlir::Value list) {
  if (expr.items.size() != 1 || expr.items.front().kind != ast::IndexItemKind::Element)
    return reporter.fail(expr.range, "list-index", "a list has one position, as in l[i]");
  const ast::Expr *item = expr.items.front().value;
  Argument argument{{}, item, item->range, evaluator.eval(item)};
  if (argument.value.isPoison())
    return Poison();
  mlir::Value index = evalPosition(argument);
  if (!index)
    return Poison();
  if (argument.value.is<int64_t>() && argument.value.as<int64_t>() < 0) {
    mlir::Value size = tensorEmitter.emit("list_size", {}, list, {}, expr.range);
    index = size ? tensorEmitter.emit("add", {}, {size, index}, {}, expr.range) : size;
  }
  std::string name = context.sources.shortText(expr.range, "l[i]");
  mlir::Value value = index ? readList(list, index, expr.range, name) : mlir::Value();
  return value ? Entity(value) : Entity();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The size in `stack(l, size: n)` and `concat(l, size: n)`, or the one that a declared type
/// implies; std::nullopt after an error.
std::optional<dfg::DimExpr> ListEmitter::evalSize(mlir::Value list, ArrayRef<Argument> args,
                                                  bool joins, const ast::CallExpr &call) {
  StringRef name = joins ? "concat" : "stack";
  if (args.size() == 2) {
    std::optional<dfg::DimExpr> size = args[1].value.asDim();
    if (!size)
      reporter.error(args[1].range, "not-static",
                     "'size' of '{}' must be known when the call starts, but got {}", name,
                     args[1].value.describe());
    return size;
  }
  if (context.expected && !context.expected->shape.empty()) {
    const dfg::DimExpr &size = context.expected->shape.front();
    dfg::Shape element = dfg::shapeOf(cast<dfg::ListType>(list.getType()).getElementType());
    return joins ? dfg::DimExpr::floorDiv(size, element.front()) : size;
  }
  reporter.error(call.range, "list-size", "'{}' needs to know how many elements the list has", name)
      .help("write {}({}, size: n), or declare the type of what it is bound to", name,
            context.sources.text(args.front().range));
  return std::nullopt;
}

Entity ListEmitter::callStack(mlir::Value list, ArrayRef<Argument> args,
                              const ast::CallExpr &call) {
  std::optional<dfg::DimExpr> size = evalSize(list, args, /*joins=*/false, call);
  mlir::Value stacked = size ? stack(list, *size, call.range) : mlir::Value();
  return stacked ? Entity(stacked) : Entity();
}

/// Stacks the elements and merges the new axis with their first one.
Entity ListEmitter::callConcat(mlir::Value list, ArrayRef<Argument> args,
                               const ast::CallExpr &call) {
  dfg::Shape element = dfg::shapeOf(cast<dfg::ListType>(list.getType()).getElementType());
  if (element.empty())
    return reporter.fail(call.range, "list-size", "'concat' of a list needs elements with an axis");
  std::optional<dfg::DimExpr> size = evalSize(list, args, /*joins=*/true, call);
  mlir::Value stacked = size ? stack(list, *size, call.range) : mlir::Value();
  if (!stacked)
    return Poison();
  element.front() = *size * element.front();
  mlir::NamedAttribute shape(mlir::StringAttr::get(context.mlir, "shape"),
                             dfg::DimsAttr::get(context.mlir, element));
  mlir::Value joined = tensorEmitter.emit("reshape", {}, stacked, shape, call.range, "concat");
  return joined ? Entity(joined) : Entity();
}

/// A loop over the positions `indices` that sets them to the rows of `from`, or, without `from`,
/// stacks the elements there.
Entity ListEmitter::moveElements(mlir::Value list, const Argument &indices, mlir::Value from,
                                 const ast::CallExpr &call) {
  SourceRange at = call.range;
  mlir::Value places = tensorEmitter.toTensor(indices.value, {}, indices.range);
  if (!places)
    return Poison();
  dfg::Shape shape = dfg::shapeOf(places.getType());
  mlir::Type element = dfg::elementTypeOf(places.getType());
  if (shape.size() != 1 || !(element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return reporter.fail(indices.range, "list-index",
                         "positions in a list are i32[n] or i64[n], but got {}",
                         dfg::toText(places.getType()));
  auto held = cast<dfg::ListType>(list.getType()).getElementType();
  dfg::Shape rows = dfg::shapeOf(held);
  rows.insert(rows.begin(), shape.front());
  if (from && from.getType() != dfg::tensorOf(rows, held.getElementType()))
    return reporter.fail(call.args.back().range, "list-element",
                         "'scatter' expects {} for these positions, but got {}",
                         dfg::toText(dfg::tensorOf(rows, held.getElementType())),
                         dfg::toText(from.getType()));
  mlir::Type i32 = mlir::IntegerType::get(context.mlir, 32);
  mlir::Value zero = context.builder.scalar(int64_t(0), i32, reporter.locate(at));
  mlir::Value limit = context.builder.size(shape.front(), i32, reporter.locate(at));
  mlir::Value where = unstack(places, at), what = from ? unstack(from, at) : list;
  mlir::Value start =
      from ? list : createList({held.getElementType(), dfg::shapeOf(held)}, limit, at);
  if (!where || !what || !start)
    return Poison();
  dfg::WhileOp loop = context.builder.beginWhile({zero, start}, reporter.locate(at));
  mlir::Block &condition = loop.getConditionBlock(), &body = loop.getBodyBlock();
  context.builder.toEnd(condition);
  context.builder.condition(tensorEmitter.emitCount("less", {condition.getArgument(0), limit}, at),
                            reporter.locate(at));
  context.builder.toEnd(body);
  mlir::Value step = body.getArgument(0);
  StringRef name = from ? "scatter" : "gather";
  mlir::Value place = readList(where, step, at);
  mlir::Value value = readList(what, from ? step : place, at, name);
  mlir::Value next = writeList(body.getArgument(1), from ? place : step, value, at, name);
  mlir::Value one = context.builder.scalar(int64_t(1), i32, reporter.locate(at));
  mlir::Value following = tensorEmitter.emitCount("add", {step, one}, at);
  loop = context.builder.finishWhile(loop, {}, {following, next}, shape.front(), std::nullopt);
  mlir::Value result = loop.getResult(1);
  if (!from)
    result = stack(result, shape.front(), at);
  return result ? Entity(result) : Entity();
}

/// `gather(l, places)`.
Entity ListEmitter::callGather(mlir::Value list, ArrayRef<Argument> args,
                               const ast::CallExpr &call) {
  return moveElements(list, args[1], {}, call);
}

/// `scatter(l, places, rows)`.
Entity ListEmitter::callScatter(mlir::Value list, ArrayRef<Argument> args,
                                const ast::CallExpr &call) {
  mlir::Value from = evalElement(list, args[2]);
  return from ? moveElements(list, args[1], from, call) : Entity();
}

/// `split(l, x)`: the parts of `x` along its first axis that have the type of the list's elements.
Entity ListEmitter::callSplit(mlir::Value list, ArrayRef<Argument> args,
                              const ast::CallExpr &call) {
  const Argument &tensor = args[1];
  auto held = cast<dfg::ListType>(list.getType()).getElementType();
  mlir::Value x = tensorEmitter.toTensor(tensor.value, held.getElementType(), tensor.range);
  if (!x)
    return Poison();
  dfg::Shape part = dfg::shapeOf(held), whole = dfg::shapeOf(x.getType());
  bool fits = !part.empty() && part.size() == whole.size() &&
              dfg::elementTypeOf(x.getType()) == held.getElementType() &&
              ArrayRef(part).drop_front() == ArrayRef(whole).drop_front();
  dfg::DimExpr count = fits ? dfg::DimExpr::floorDiv(whole.front(), part.front()) : 0;
  if (!fits || count * part.front() != whole.front())
    return reporter.fail(tensor.range, "list-element", "'split' cannot make elements {} from {}",
                         dfg::toText(held), dfg::toText(x.getType()));
  part.insert(part.begin(), count);
  mlir::NamedAttribute shape(mlir::StringAttr::get(context.mlir, "shape"),
                             dfg::DimsAttr::get(context.mlir, part));
  mlir::Value parts = tensorEmitter.emit("reshape", {}, x, shape, call.range, "split");
  mlir::Value result = parts ? unstack(parts, call.range) : mlir::Value();
  return result ? Entity(result) : Entity();
}

Entity ListEmitter::callUnstack(const Argument &tensor, const ast::CallExpr &call) {
  mlir::Value value = tensorEmitter.toTensor(tensor.value, {}, tensor.range);
  mlir::Value list = value ? unstack(value, call.range) : mlir::Value();
  return list ? Entity(list) : Entity();
}

Entity ListEmitter::callSize(mlir::Value list, ArrayRef<Argument> args, const ast::CallExpr &call) {
  mlir::Value size = tensorEmitter.emit("list_size", args, list, {}, call.range);
  return size ? Entity(size) : Entity();
}

mlir::Value ListEmitter::evalElement(mlir::Value list, const Argument &argument) {
  mlir::Type element = cast<dfg::ListType>(list.getType()).getElementType().getElementType();
  return tensorEmitter.toTensor(argument.value, element, argument.range);
}

Entity ListEmitter::setElement(mlir::Value list, mlir::Value index, mlir::Value value,
                               ArrayRef<Argument> args, StringRef name, const ast::CallExpr &call) {
  mlir::Value result;
  if (index)
    errorCapture.capture(args.back().range, args, "list_write", [&] {
      mlir::FailureOr<mlir::Operation *> op = context.builder.create(
          "list_write", {list, index, value}, {}, reporter.locate(call.range, name));
      if (mlir::succeeded(op))
        result = (*op)->getResult(0);
      return mlir::succeeded(op);
    });
  return result ? Entity(result) : Entity();
}

Entity ListEmitter::callAppend(mlir::Value list, ArrayRef<Argument> args,
                               const ast::CallExpr &call) {
  mlir::Value value = evalElement(list, args[1]);
  mlir::Value end =
      value ? tensorEmitter.emit("list_size", {}, list, {}, call.range) : mlir::Value();
  return setElement(list, end, value, args, "append", call);
}

Entity ListEmitter::callWrite(mlir::Value list, ArrayRef<Argument> args,
                              const ast::CallExpr &call) {
  mlir::Value value = evalElement(list, args[2]);
  mlir::Value index = value ? evalPosition(args[1]) : mlir::Value();
  return setElement(list, index, value, args, "write", call);
}

} // namespace tfc::text
