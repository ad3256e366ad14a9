#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"
#include <cmath>

using namespace llvm;

namespace tfc::text {

Entity Elaborator::zipGroups(ArrayRef<Argument> args, SourceRange at) {
  std::vector<const Group *> groups;
  for (const Argument &arg : args) {
    const Group *group = arg.value.asGroup();
    if (!group)
      return fail(arg.range, "not-a-group", "expected a group, but got " + arg.value.describe());
    if (!groups.empty() && groups.front()->elements.size() != group->elements.size())
      return fail(at, "wrong-count",
                  "'zip' expects groups of one length, but got " +
                      Twine(groups.front()->elements.size()) + " and " +
                      Twine(group->elements.size()) + " values");
    groups.push_back(group);
  }
  if (!groups.empty() && !spend(4 * groups.size() * groups.front()->elements.size(), at))
    return Poison();
  std::vector<Entity> tuples;
  for (size_t i = 0; !groups.empty() && i < groups.front()->elements.size(); ++i) {
    std::vector<Entity> tuple;
    for (const Group *group : groups)
      tuple.push_back(group->elements[i]);
    tuples.push_back(Entity::group(std::move(tuple)));
  }
  return Entity::group(std::move(tuples));
}

Entity Elaborator::addAll(ArrayRef<Argument> args, SourceRange at) {
  const Group *group = args.size() == 1 ? args.front().value.asGroup() : nullptr;
  if (!group)
    return fail(at, "not-a-group", "'add_n' expects one group of tensors");
  if (group->elements.empty())
    return fail(at, "empty-group", "'add_n' of an empty group has no type");
  mlir::Type preferred;
  for (const Entity &element : group->elements)
    if (mlir::Type type = elementOf(element); type && element.is<mlir::Value>())
      preferred = type;
  Entity sum = group->elements.front();
  if (group->elements.size() == 1) {
    mlir::Value value = toTensor(sum, preferred, at);
    return value ? Entity(value) : Entity();
  }
  for (const Entity &element : ArrayRef(group->elements).drop_front()) {
    if (std::optional<Entity> known = staticBinary(ast::BinaryOp::Add, sum, element, at)) {
      sum = *known;
      continue;
    }
    mlir::Value a = toTensor(sum, preferred, at), b = toTensor(element, preferred, at);
    if (!a || !b)
      return Poison();
    mlir::Value result = emit("add", {}, {a, b}, {}, at, "add_n");
    if (!result)
      return Poison();
    sum = Entity(result);
  }
  return sum;
}

/// The tensor type of a value, of a type, or of a sparse gradient.
static std::optional<TensorType> tensorTypeOf(const Entity &value) {
  mlir::Type type;
  if (const mlir::Value *tensor = value.get<mlir::Value>();
      tensor && isa<mlir::RankedTensorType>(tensor->getType()))
    type = tensor->getType();
  else if (Variable *const *variable = value.get<Variable *>())
    type = (*variable)->type;
  else if (const Constant *constant = value.get<Constant>())
    type = constant->value.getShapedType();
  else if (const Group *group = value.asGroup(); group && group->isSparse)
    type = group->sparseType;
  else if (const TensorType *tensorType = value.get<TensorType>())
    return *tensorType;
  if (!type)
    return std::nullopt;
  return TensorType{dfg::elementTypeOf(type), dfg::shapeOf(type)};
}

/// `shape`, `rank`, `dtype` and the questions about types.
std::optional<Entity> Elaborator::askType(StringRef name, const Argument &arg) {
  std::optional<TensorType> type = tensorTypeOf(arg.value);
  if (name == "is_float" || name == "is_int") {
    mlir::Type element = type ? type->element : mlir::Type();
    if (const mlir::Type *dtype = arg.value.get<mlir::Type>())
      element = *dtype;
    if (!element)
      return fail(arg.range, "operand-kind",
                  "'" + name + "' asks about a type or tensor, but got " + arg.value.describe());
    dfg::Dtypes family = name == "is_float" ? dfg::Dtypes::Float : dfg::Dtypes::Integer;
    return Entity(dfg::isIn(element, family));
  }
  if (name != "shape" && name != "rank" && name != "dtype")
    return std::nullopt;
  if (arg.value.isNumber() && name == "rank")
    return Entity(int64_t(0));
  if (arg.value.isNumber() && name == "shape")
    return Entity::group({});
  if (!type)
    return fail(arg.range, "operand-kind",
                "'" + name + "' asks about a tensor, but got " + arg.value.describe());
  if (name == "shape")
    return Entity::shape(type->shape);
  if (name == "rank")
    return Entity(static_cast<int64_t>(type->shape.size()));
  return Entity(type->element);
}

/// `int(x)` and `float(x)` of static numbers.
static std::optional<Entity> convertNumber(StringRef name, const Entity &value) {
  std::optional<double> number = value.asDouble();
  if (const bool *flag = value.get<bool>())
    number = *flag ? 1 : 0;
  if (!number)
    return name == "int" && value.is<dfg::DimExpr>() ? std::optional<Entity>(value) : std::nullopt;
  if (name == "float")
    return Entity(*number);
  if (value.is<int64_t>())
    return value;
  if (!(std::fabs(*number) < 9e18))
    return std::nullopt;
  return Entity(static_cast<int64_t>(*number));
}

/// The type in which an optimizer computes: f32 for the narrow floating types.
Entity Elaborator::widen(const Argument &arg) {
  const mlir::Type *element = arg.value.get<mlir::Type>();
  if (!element)
    return fail(arg.range, "operand-kind",
                "'wide' asks about an element type, but got " + arg.value.describe());
  bool isNarrow = isa<mlir::FloatType>(*element) && element->getIntOrFloatBitWidth() < 32;
  return isNarrow ? Entity(mlir::Type(mlir::Float32Type::get(context))) : Entity(*element);
}

/// A gradient of the same rows with other values; of a dense gradient just these.
Entity Elaborator::replaceValues(ArrayRef<Argument> args, SourceRange at) {
  if (args.size() != 2)
    return fail(at, "wrong-count", "'with_values' takes a gradient and values");
  const Group *old = args[0].value.asGroup();
  mlir::Value values = toTensor(args[1].value, {}, args[1].range);
  if (!values)
    return Poison();
  if (!old || !old->isSparse)
    return Entity(values);
  auto group = std::make_shared<Group>(*old);
  group->elements.back() = Entity(values);
  group->sparseType =
      cast<mlir::RankedTensorType>(old->sparseType).clone(dfg::elementTypeOf(values.getType()));
  return Entity(std::shared_ptr<const Group>(std::move(group)));
}

/// `cast(x, f16)`.
Entity Elaborator::callCastByName(Arguments &args, const ast::CallExpr &call) {
  const mlir::Type *element = args.size() == 2 ? args[1].value.get<mlir::Type>() : nullptr;
  bool isNamed = args.size() == 2 && args[1].label && args[1].label.text != "dtype";
  if (!element || isNamed)
    return fail(call.range, "wrong-count",
                "'cast' takes a tensor and an element type, as in cast(x, f16)");
  Arguments operand{args[0]};
  if (args[0].label && args[0].label.text == "x")
    operand.front().label = {};
  return callCast(*element, operand, call);
}

/// `constant(2.5)`, which takes the type that it meets, and `constant([[1.0, 2.0]])`.
Entity Elaborator::callConstant(ArrayRef<Argument> args, const ast::CallExpr &call) {
  bool isNamed = args.size() == 1 && args[0].label && args[0].label.text != "value";
  if (args.size() != 1 || isNamed)
    return fail(call.range, "wrong-count", "'constant' takes a number or a table of numbers");
  const Entity &value = args[0].value;
  if (value.isNumber() || value.is<bool>() || value.is<Constant>() || value.isPoison())
    return value;
  if (!value.asGroup())
    return fail(args[0].range, "not-static",
                "'constant' takes numbers known at compile time, but got " + value.describe());
  mlir::Value table = toTensor(value, expected ? expected->element : mlir::Type(), args[0].range);
  return table ? Entity(table) : Entity();
}

/// `ensure(x, f32[n, 4])`: the elements of `x` under other sizes, which each call compares.
Entity Elaborator::callEnsure(ArrayRef<Argument> args, const ast::CallExpr &call) {
  const TensorType *type = args.size() == 2 ? args[1].value.get<TensorType>() : nullptr;
  if (!type || args[0].label || args[1].label)
    return fail(call.range, "wrong-count",
                "'ensure' takes a tensor and its type, as in ensure(x, f32[n, 4])");
  mlir::Value tensor = toTensor(args[0].value, type->element, args[0].range);
  if (!tensor)
    return Poison();
  mlir::Type wanted = dfg::tensorOf(type->shape, type->element);
  dfg::Shape shape = dfg::shapeOf(tensor.getType());
  bool canHold =
      shape.size() == type->shape.size() && dfg::elementTypeOf(tensor.getType()) == type->element;
  for (size_t i = 0; canHold && i < shape.size(); ++i)
    canHold = (shape[i] - type->shape[i]).constant().value_or(0) == 0;
  if (!canHold)
    return fail(args[0].range, "type-mismatch",
                "'ensure' expects a tensor that can be " + dfg::toText(wanted) + ", but got " +
                    dfg::toText(tensor.getType()));
  if (tensor.getType() == wanted)
    return Entity(tensor);
  // `n` of `m` elements from place `n - m` on lie inside only if n is neither below m nor above.
  SmallVector<dfg::DimExpr> starts;
  for (auto [size, want] : zip(shape, type->shape))
    starts.push_back(want - size);
  mlir::Builder b(context);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("starts", dfg::DimsAttr::get(context, starts)),
      b.getNamedAttr("sizes", dfg::DimsAttr::get(context, type->shape)),
      b.getNamedAttr("steps", b.getDenseI64ArrayAttr(SmallVector<int64_t>(shape.size(), 1)))};
  Argument operand{{}, args[0].expr, args[0].range, Entity(tensor)};
  mlir::Value result = emit("slice", operand, tensor, attributes, call.range);
  return result ? Entity(result) : Entity();
}

Entity Elaborator::callBuiltin(StringRef name, Arguments &args, const ast::CallExpr &call) {
  if (std::optional<Entity> folded = staticMath(name, args, call.range))
    return *folded;
  if (std::optional<Entity> onQueue = callOnQueue(name, args, call))
    return *onQueue;
  if (std::optional<Entity> onList = callOnList(name, args, call))
    return *onList;
  if (name == "zip")
    return zipGroups(args, call.range);
  if (name == "add_n")
    return addAll(args, call.range);
  if (name == "variables")
    return callVariables(args, call);
  if (name == "trainable")
    return callTrainable(args, call);
  if (name == "gradients")
    return callGradients(args, call);
  if (name == "load")
    return callLoad(args, call);
  if (name == "with_values")
    return replaceValues(args, call.range);
  if (name == "cast")
    return callCastByName(args, call);
  if (name == "constant")
    return callConstant(args, call);
  if (name == "bounded")
    return callBounded(args, call);
  if (name == "ensure")
    return callEnsure(args, call);
  if (name == "assign" || name == "assign_add" || name == "assign_sub")
    return callAssign(name, args, call);
  if (const dfg::OpSignature *op = dfg::lookupOp(name); op && name != "read")
    return callOp(*op, args, call);

  if (args.size() != 1 || args.front().label)
    return fail(call.range, "wrong-count", "'" + name + "' takes one argument");
  const Argument &arg = args.front();
  if (std::optional<Entity> answer = askType(name, arg))
    return *answer;
  if (name == "is_known") {
    const dfg::DimExpr *size = arg.value.get<dfg::DimExpr>();
    return Entity(size ? size->constant().has_value() : arg.value.isStatic());
  }
  if (name == "is_sparse")
    return Entity(arg.value.asGroup() && arg.value.asGroup()->isSparse);
  if (name == "len" && arg.value.asGroup())
    return Entity(static_cast<int64_t>(arg.value.asGroup()->elements.size()));
  if (name == "wide")
    return widen(arg);
  if (name == "values" && arg.value.asGroup() && arg.value.asGroup()->isSparse)
    return arg.value.asGroup()->elements.back();
  if (name == "read" || name == "values") {
    mlir::Value value = toTensor(arg.value, {}, arg.range);
    return value ? Entity(value) : Entity();
  }
  if (name == "int" || name == "float")
    if (std::optional<Entity> number = convertNumber(name, arg.value))
      return *number;
  return fail(arg.range, "operand-kind",
              "'" + name + "' does not apply to " + arg.value.describe());
}

} // namespace tfc::text
