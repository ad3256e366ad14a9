#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type between the brackets of `list[..]`.
std::optional<ast::Type> Elaborator::elementOfListType(const ast::Type &type) {
  if (type.items.size() != 1 || type.items.front().kind != ast::IndexItemKind::Element)
    return std::nullopt;
  const ast::Expr *expr = type.items.front().value;
  ast::Type element;
  element.range = expr->range;
  if (const auto *index = dyn_cast<ast::IndexExpr>(expr)) {
    element.hasBrackets = true;
    element.items = index->items;
    expr = index->base;
  }
  element.baseRange = expr->range;
  if (const auto *dtype = dyn_cast<ast::DTypeExpr>(expr)) {
    element.dtype = dtype->dtype;
    return element;
  }
  const auto *name = dyn_cast<ast::NameExpr>(expr);
  if (!name)
    return std::nullopt;
  element.kind = ast::TypeKind::Named;
  element.name = name->name;
  return element;
}

/// As `unify`, for types of lists too.
bool Elaborator::unifyValue(const ast::Type &type, mlir::Type actual, UnifyPhase phase,
                            const Argument &argument, const std::string &what) {
  auto list = dyn_cast<dfg::ListType>(actual);
  if ((type.kind == ast::TypeKind::List) != bool(list)) {
    error(argument.range, "type-mismatch",
          what + " is " + typeText(type) + ", but got " + dfg::toText(actual));
    return false;
  }
  if (!list)
    return unify(type, {dfg::elementTypeOf(actual), dfg::shapeOf(actual)}, phase, argument, what);
  std::optional<ast::Type> element = elementOfListType(type);
  if (!element) {
    error(type.range, "not-a-tensor-type", "a list holds tensors, as in list[f32[4]]");
    return false;
  }
  mlir::Type tensor = list.getElementType();
  return unify(*element, {dfg::elementTypeOf(tensor), dfg::shapeOf(tensor)}, phase, argument,
               "an element of " + what);
}

Entity Elaborator::evalListType(const ast::IndexExpr &expr) {
  Entity element = expr.items.size() == 1 && expr.items.front().value
                       ? eval(expr.items.front().value)
                       : Entity(Nothing{});
  if (element.isPoison())
    return Poison();
  if (const TensorType *type = element.get<TensorType>())
    return Entity(ListType{*type});
  if (const mlir::Type *type = element.get<mlir::Type>())
    return Entity(ListType{{*type, {}}});
  return fail(expr.range, "not-a-tensor-type", "a list holds tensors, as in list[f32[4]]");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

mlir::Value Elaborator::listOf(const Entity &value) {
  const mlir::Value *list = value.get<mlir::Value>();
  return list && isa<dfg::ListType>(list->getType()) ? *list : mlir::Value();
}

mlir::Value Elaborator::toValue(const Entity &value, mlir::Type preferred, SourceRange at) {
  mlir::Value list = listOf(value);
  if (!list)
    return toTensor(value, preferred, at);
  return requireEntry(at) && requireVisible(list, at) ? list : mlir::Value();
}

mlir::Value Elaborator::createList(const TensorType &element, mlir::Value size, SourceRange at) {
  mlir::Builder b(context);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("shape", dfg::DimsAttr::get(context, element.shape)),
      b.getNamedAttr("dtype", mlir::TypeAttr::get(element.element))};
  return emit("list_create", {}, size, attributes, at);
}

mlir::Value Elaborator::readList(mlir::Value list, mlir::Value index, SourceRange at) {
  return emit("list_read", {}, {list, index}, {}, at);
}

mlir::Value Elaborator::writeList(mlir::Value list, mlir::Value index, mlir::Value value,
                                  SourceRange at) {
  return emit("list_write", {}, {list, index, value}, {}, at, "write");
}

mlir::Value Elaborator::unstack(mlir::Value tensor, SourceRange at) {
  return emit("list_unstack", {}, tensor, {}, at, "unstack");
}

mlir::Value Elaborator::stack(mlir::Value list, const dfg::DimExpr &size, SourceRange at) {
  mlir::NamedAttribute attribute(mlir::StringAttr::get(context, "size"),
                                 dfg::DimsAttr::get(context, {size}));
  return emit("list_stack", {}, list, attribute, at, "stack");
}

/// A position in a list: one i32 or i64.
mlir::Value Elaborator::evalPosition(const Argument &argument) {
  mlir::Type preferred =
      argument.value.is<dfg::DimExpr>() ? mlir::IntegerType::get(context, 32) : mlir::Type();
  mlir::Value index = toTensor(argument.value, preferred, argument.range);
  if (!index)
    return {};
  mlir::Type element = dfg::elementTypeOf(index.getType());
  bool isIndex = element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (isIndex && dfg::shapeOf(index.getType()).empty())
    return index;
  error(argument.range, "list-index",
        "a position in a list is one i32 or i64, but got " + dfg::toText(index.getType()));
  return {};
}

/// `list[f32[4]]()`, `list[f32[4]](8)`: empty, or of zeros.
Entity Elaborator::callListType(const ListType &type, Arguments &args, const ast::CallExpr &call) {
  bool isNamed = !args.empty() && args[0].label && args[0].label.text != "size";
  if (args.size() > 1 || isNamed)
    return fail(call.range, "wrong-count",
                "a list is made of nothing or of its size, as in list[f32[4]](8)");
  if (!requireEntry(call.range))
    return Poison();
  mlir::Value size = args.empty() ? builder.scalar(int64_t(0), mlir::IntegerType::get(context, 32),
                                                   locate(call.range))
                                  : evalPosition(args.front());
  if (!size)
    return Poison();
  mlir::Value list = createList(type.element, size, call.range);
  return list ? Entity(list) : Entity();
}

/// `l[i]`; a negative number counts from the end.
Entity Elaborator::indexList(const ast::IndexExpr &expr, mlir::Value list) {
  if (expr.items.size() != 1 || expr.items.front().kind != ast::IndexItemKind::Element)
    return fail(expr.range, "list-index", "a list has one position, as in l[i]");
  const ast::Expr *item = expr.items.front().value;
  Argument argument{{}, item, item->range, eval(item)};
  if (argument.value.isPoison())
    return Poison();
  mlir::Value index = evalPosition(argument);
  if (!index)
    return Poison();
  if (argument.value.is<int64_t>() && argument.value.as<int64_t>() < 0) {
    mlir::Value size = emit("list_size", {}, list, {}, expr.range);
    index = size ? emit("add", {}, {size, index}, {}, expr.range) : size;
  }
  mlir::Value value = index ? readList(list, index, expr.range) : mlir::Value();
  return value ? Entity(value) : Entity();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `stack(l, size: n)` and `concat(l, size: n)`, or the size that a declared type gives.
Entity Elaborator::stackList(Arguments &args, const ast::CallExpr &call, bool joins) {
  mlir::Value list = listOf(args.front().value);
  StringRef name = joins ? "concat" : "stack";
  dfg::Shape element = dfg::shapeOf(cast<dfg::ListType>(list.getType()).getElementType());
  std::optional<dfg::DimExpr> size;
  if (joins && element.empty())
    return fail(call.range, "list-size", "'concat' of a list needs elements with an axis");
  if (args.size() == 2 && args[1].label && args[1].label.text == "size") {
    size = args[1].value.asDim();
    if (!size)
      return fail(args[1].range, "not-static",
                  "'size' of '" + name + "' is known when the call starts, but got " +
                      args[1].value.describe());
  } else if (args.size() != 1) {
    return fail(call.range, "wrong-count", "'" + name + "' takes a list, and its size by name");
  } else if (expected && !expected->shape.empty()) {
    size = joins ? dfg::DimExpr::floorDiv(expected->shape.front(), element.front())
                 : expected->shape.front();
  }
  if (!size) {
    error(call.range, "list-size", "'" + name + "' needs to know how many elements the list has")
        .help("write " + name + "(" + sources.text(args.front().range) +
              ", size: n), or declare the type of what it is bound to");
    return Poison();
  }
  mlir::Value stacked = stack(list, *size, call.range);
  if (!stacked)
    return Poison();
  if (!joins)
    return Entity(stacked);
  element.front() = *size * element.front();
  mlir::NamedAttribute shape(mlir::StringAttr::get(context, "shape"),
                             dfg::DimsAttr::get(context, element));
  mlir::Value joined = emit("reshape", {}, stacked, shape, call.range, name);
  return joined ? Entity(joined) : Entity();
}

/// `gather(l, places)`, a tensor, or, with rows of `from`, `scatter(l, places, from)`, a list: a
/// loop over the places.
Entity Elaborator::moveElements(mlir::Value list, const Argument &indices, mlir::Value from,
                                const ast::CallExpr &call) {
  SourceRange at = call.range;
  mlir::Value places = toTensor(indices.value, {}, indices.range);
  if (!places)
    return Poison();
  dfg::Shape shape = dfg::shapeOf(places.getType());
  mlir::Type element = dfg::elementTypeOf(places.getType());
  if (shape.size() != 1 || !(element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return fail(indices.range, "list-index",
                "places in a list are i32[n] or i64[n], but got " + dfg::toText(places.getType()));
  auto held = cast<dfg::ListType>(list.getType()).getElementType();
  dfg::Shape rows = dfg::shapeOf(held);
  rows.insert(rows.begin(), shape.front());
  if (from && from.getType() != dfg::tensorOf(rows, held.getElementType()))
    return fail(call.args.back().range, "list-element",
                "'scatter' expects " + dfg::toText(dfg::tensorOf(rows, held.getElementType())) +
                    " for these places, but got " + dfg::toText(from.getType()));
  mlir::Type i32 = mlir::IntegerType::get(context, 32);
  mlir::Value zero = builder.scalar(int64_t(0), i32, locate(at));
  mlir::Value limit = builder.size(shape.front(), i32, locate(at));
  mlir::Value where = unstack(places, at), what = from ? unstack(from, at) : list;
  mlir::Value start =
      from ? list : createList({held.getElementType(), dfg::shapeOf(held)}, limit, at);
  if (!where || !what || !start)
    return Poison();
  dfg::WhileOp loop = builder.beginWhile({zero, start}, locate(at));
  mlir::Block &condition = loop.getConditionBlock(), &body = loop.getBodyBlock();
  builder.toEnd(condition);
  builder.condition(emit("less", {}, {condition.getArgument(0), limit}, {}, at), locate(at));
  builder.toEnd(body);
  mlir::Value step = body.getArgument(0);
  mlir::Value place = readList(where, step, at);
  mlir::Value value = readList(what, from ? step : place, at);
  mlir::Value next = writeList(body.getArgument(1), from ? place : step, value, at);
  mlir::Value one = builder.scalar(int64_t(1), i32, locate(at));
  mlir::Value following = emit("add", {}, {step, one}, {}, at);
  loop = builder.finishWhile(loop, {}, {following, next}, shape.front(), "");
  mlir::Value result = loop.getResult(1);
  if (!from)
    result = stack(result, shape.front(), at);
  return result ? Entity(result) : Entity();
}

/// `split(l, x)`: the parts of `x` along its first axis that have the type of the list's elements.
Entity Elaborator::splitIntoList(mlir::Value list, const Argument &tensor,
                                 const ast::CallExpr &call) {
  auto held = cast<dfg::ListType>(list.getType()).getElementType();
  mlir::Value x = toTensor(tensor.value, held.getElementType(), tensor.range);
  if (!x)
    return Poison();
  dfg::Shape part = dfg::shapeOf(held), whole = dfg::shapeOf(x.getType());
  bool fits = !part.empty() && part.size() == whole.size() &&
              dfg::elementTypeOf(x.getType()) == held.getElementType() &&
              ArrayRef(part).drop_front() == ArrayRef(whole).drop_front();
  dfg::DimExpr count = fits ? dfg::DimExpr::floorDiv(whole.front(), part.front()) : 0;
  if (!fits || count * part.front() != whole.front())
    return fail(tensor.range, "list-element",
                "'split' cannot make elements " + dfg::toText(held) + " of " +
                    dfg::toText(x.getType()));
  part.insert(part.begin(), count);
  mlir::NamedAttribute shape(mlir::StringAttr::get(context, "shape"),
                             dfg::DimsAttr::get(context, part));
  mlir::Value parts = emit("reshape", {}, x, shape, call.range, "split");
  mlir::Value result = parts ? unstack(parts, call.range) : mlir::Value();
  return result ? Entity(result) : Entity();
}

/// The functions of lists; nothing if `name` is none of them or no list is given.
std::optional<Entity> Elaborator::callOnList(StringRef name, Arguments &args,
                                             const ast::CallExpr &call) {
  if (name == "unstack") {
    if (args.size() != 1 || args.front().label)
      return fail(call.range, "wrong-count", "'unstack' takes one tensor");
    mlir::Value tensor = toTensor(args.front().value, {}, args.front().range);
    mlir::Value list = tensor ? unstack(tensor, call.range) : mlir::Value();
    return list ? Entity(list) : Entity();
  }
  mlir::Value list = args.empty() || args.front().label ? mlir::Value() : listOf(args[0].value);
  if (!list)
    return std::nullopt;
  if (!toValue(args.front().value, {}, args.front().range))
    return Entity();
  if (name == "stack" || name == "concat")
    return stackList(args, call, name == "concat");
  size_t wanted = name == "size"                                            ? 1
                  : name == "append" || name == "gather" || name == "split" ? 2
                  : name == "write" || name == "scatter"                    ? 3
                                                                            : 0;
  if (wanted == 0)
    return std::nullopt;
  if (args.size() != wanted || any_of(args, [](const Argument &arg) { return bool(arg.label); }))
    return fail(call.range, "wrong-count",
                "'" + name + "' of a list takes " + Twine(wanted) + " arguments");
  mlir::Value result;
  mlir::Type element = cast<dfg::ListType>(list.getType()).getElementType().getElementType();
  if (name == "size") {
    result = emit("list_size", args, list, {}, call.range);
  } else if (name == "gather") {
    return moveElements(list, args[1], {}, call);
  } else if (name == "split") {
    return splitIntoList(list, args[1], call);
  } else if (name == "scatter") {
    mlir::Value from = toTensor(args[2].value, element, args[2].range);
    return from ? moveElements(list, args[1], from, call) : Entity();
  } else {
    mlir::Value value = toTensor(args.back().value, element, args.back().range);
    mlir::Value index = !value             ? value
                        : name == "append" ? emit("list_size", {}, list, {}, call.range)
                                           : evalPosition(args[1]);
    if (index)
      capture(args.back().range, args, "list_write", name, [&] {
        mlir::FailureOr<mlir::Operation *> op =
            builder.create("list_write", {list, index, value}, {}, locate(call.range));
        if (mlir::succeeded(op))
          result = (*op)->getResult(0);
        return mlir::succeeded(op);
      });
  }
  return result ? Entity(result) : Entity();
}

} // namespace tfc::text
