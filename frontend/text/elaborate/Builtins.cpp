// Implements the functions that the language itself provides. BuiltinTable.cpp has their names and
// parameters; other functions are operations or graph source.
#include "frontend/text/elaborate/Builtins.h"

#include "dialects/dfg/Devices.h"
#include "frontend/EqualSizes.h"
#include "frontend/TensorFile.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

Entity Builtins::callZip(const Call &c) {
  ArrayRef<Argument> args = c.args;
  SourceRange at = c.call.range;
  std::vector<const Group *> groups;
  for (const Argument &arg : args) {
    const Group *group = arg.value.asGroup();
    if (!group)
      return reporter.fail(arg.range, "not-a-group", "expected a group, but got {}",
                           arg.value.describe());
    if (!groups.empty() && groups.front()->elements.size() != group->elements.size())
      return reporter.fail(at, "wrong-count",
                           "'zip' expects groups of one length, but got {} and {} values",
                           groups.front()->elements.size(), group->elements.size());
    groups.push_back(group);
  }
  if (!groups.empty() && !meter.spend(4 * groups.size() * groups.front()->elements.size(), at))
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

Entity Builtins::callAddN(const Call &c) {
  SourceRange at = c.call.range;
  const Group *group = c.args.front().value.asGroup();
  if (!group)
    return reporter.fail(at, "not-a-group", "'add_n' expects one group of tensors");
  if (group->elements.empty())
    return reporter.fail(at, "empty-group", "'add_n' of an empty group has no type");
  mlir::Type preferred;
  for (const Entity &element : group->elements)
    if (mlir::Type type = elementOf(element); type && element.is<mlir::Value>())
      preferred = type;
  Entity sum = group->elements.front();
  if (group->elements.size() == 1) {
    mlir::Value value = tensorEmitter.toTensor(sum, preferred, at);
    return value ? Entity(value) : Entity();
  }
  for (const Entity &element : ArrayRef(group->elements).drop_front()) {
    if (std::optional<Entity> known =
            staticStage.staticBinary(ast::BinaryOp::Add, sum, element, at)) {
      sum = *known;
      continue;
    }
    mlir::Value a = tensorEmitter.toTensor(sum, preferred, at),
                b = tensorEmitter.toTensor(element, preferred, at);
    if (!a || !b)
      return Poison();
    mlir::Value result = tensorEmitter.emit("add", {}, {a, b}, {}, at, "add_n");
    if (!result)
      return Poison();
    sum = Entity(result);
  }
  return sum;
}

std::optional<TensorType> Builtins::evalType(const Call &c) {
  const Argument &arg = c.args.front();
  if (const TensorType *given = arg.value.get<TensorType>())
    return *given;
  if (std::optional<TensorType> type = tensorTypeOf(arg.value))
    return type;
  reporter.error(arg.range, "operand-kind", "'{}' takes a tensor, but got {}", c.name,
                 arg.value.describe());
  return std::nullopt;
}

Entity Builtins::callShape(const Call &c) {
  if (c.args.front().value.isNumber())
    return Entity::group({});
  std::optional<TensorType> type = evalType(c);
  return type ? Entity::shape(type->shape) : Entity();
}

Entity Builtins::callRank(const Call &c) {
  if (c.args.front().value.isNumber())
    return Entity(int64_t(0));
  std::optional<TensorType> type = evalType(c);
  return type ? Entity(static_cast<int64_t>(type->shape.size())) : Entity();
}

Entity Builtins::callDtype(const Call &c) {
  std::optional<TensorType> type = evalType(c);
  return type ? Entity(type->element) : Entity();
}

Entity Builtins::isOfFamily(const Call &c, dfg::Dtypes family) {
  const Argument &arg = c.args.front();
  if (const mlir::Type *element = arg.value.get<mlir::Type>())
    return Entity(dfg::isIn(*element, family));
  const TensorType *given = arg.value.get<TensorType>();
  std::optional<TensorType> type = given ? *given : tensorTypeOf(arg.value);
  if (type)
    return Entity(dfg::isIn(type->element, family));
  return reporter.fail(arg.range, "operand-kind", "'{}' takes a type or tensor, but got {}", c.name,
                       arg.value.describe());
}

Entity Builtins::callIsFloat(const Call &c) { return isOfFamily(c, dfg::Dtypes::Float); }
Entity Builtins::callIsInt(const Call &c) { return isOfFamily(c, dfg::Dtypes::Integer); }

/// The type in which an optimizer computes: f32 for the narrow floating types.
Entity Builtins::callWide(const Call &c) {
  const Argument &arg = c.args.front();
  const mlir::Type *element = arg.value.get<mlir::Type>();
  if (!element)
    return reporter.fail(arg.range, "operand-kind", "'wide' takes an element type, but got {}",
                         arg.value.describe());
  bool isNarrow = isa<mlir::FloatType>(*element) && element->getIntOrFloatBitWidth() < 32;
  return isNarrow ? Entity(mlir::Type(mlir::Float32Type::get(context.mlir))) : Entity(*element);
}

/// A gradient of the same rows with other values; for a dense gradient just the values.
Entity Builtins::callWithValues(const Call &c) {
  ArrayRef<Argument> args = c.args;
  const Group *old = args[0].value.asSparse();
  mlir::Value values = tensorEmitter.toTensor(args[1].value, {}, args[1].range);
  if (!values)
    return Poison();
  if (!old)
    return Entity(values);
  auto group = std::make_shared<Group>(*old);
  group->elements.back() = Entity(values);
  group->sparseType =
      cast<mlir::RankedTensorType>(old->sparseType).clone(dfg::elementTypeOf(values.getType()));
  return Entity(std::shared_ptr<const Group>(std::move(group)));
}

/// `cast(x, f16)`.
Entity Builtins::callCast(const Call &c) {
  const mlir::Type *element = c.args[1].value.get<mlir::Type>();
  if (!element)
    return failUsage(c);
  Arguments operand{c.args[0]};
  operand.front().label = {};
  return tensorEmitter.callCast(*element, operand, c.call);
}

/// `constant(2.5)`, which takes its type from its use, and `constant([[1.0, 2.0]])`.
Entity Builtins::callConstant(const Call &c) {
  ArrayRef<Argument> args = c.args;
  const Entity &value = args[0].value;
  if (value.isNumber() || value.is<bool>() || value.is<Constant>() || value.isPoison())
    return value;
  if (!value.asGroup())
    return reporter.fail(args[0].range, "not-static",
                         "'constant' takes numbers known at compile time, but got {}",
                         value.describe());
  mlir::Value table = tensorEmitter.toTensor(
      value, context.expected ? context.expected->element : mlir::Type(), args[0].range);
  return table ? Entity(table) : Entity();
}

/// `ensure(x, f32[n, 4])`: the elements of `x` with other sizes, which each call checks.
Entity Builtins::callEnsure(const Call &c) {
  ArrayRef<Argument> args = c.args;
  const TensorType *type = args[1].value.get<TensorType>();
  if (!type)
    return failUsage(c);
  mlir::Value tensor = tensorEmitter.toTensor(args[0].value, type->element, args[0].range);
  if (!tensor)
    return Poison();
  mlir::Type wanted = dfg::tensorOf(type->shape, type->element);
  dfg::Shape shape = dfg::shapeOf(tensor.getType());
  bool canHold =
      shape.size() == type->shape.size() && dfg::elementTypeOf(tensor.getType()) == type->element;
  for (size_t i = 0; canHold && i < shape.size(); ++i)
    canHold = (shape[i] - type->shape[i]).constant().value_or(0) == 0;
  if (!canHold)
    return reporter.fail(args[0].range, "type-mismatch",
                         "'ensure' expects a tensor that can be {}, but got {}",
                         dfg::toText(wanted), dfg::toText(tensor.getType()));
  if (tensor.getType() == wanted)
    return Entity(tensor);
  // `n` elements of `m` from position `n - m` on are in range only if n equals m.
  SmallVector<dfg::DimExpr> starts;
  for (auto [size, want] : zip(shape, type->shape))
    starts.push_back(want - size);
  mlir::Builder b(context.mlir);
  mlir::NamedAttribute attributes[] = {
      b.getNamedAttr("starts", dfg::DimsAttr::get(context.mlir, starts)),
      b.getNamedAttr("sizes", dfg::DimsAttr::get(context.mlir, type->shape)),
      b.getNamedAttr("steps", b.getDenseI64ArrayAttr(SmallVector<int64_t>(shape.size(), 1)))};
  Argument operand{{}, args[0].expr, args[0].range, Entity(tensor)};
  mlir::Value result =
      tensorEmitter.emit("slice", operand, tensor, attributes, c.call.range, "ensure");
  return result ? Entity(result) : Entity();
}

/// `load("weights.npy")`, `load("weights.safetensors", key: "w")`: a constant from a file, whose
/// name is relative to the file that contains the call. A variable's path is the default key.
Entity Builtins::callLoad(const Call &c) {
  ArrayRef<Argument> args = c.args;
  const ast::CallExpr &call = c.call;
  std::string path, key = context.entry.initializing ? context.entry.initializing->path : "";
  for (const Argument &arg : args) {
    bool isKey = arg.label && arg.label.text == "key";
    if (arg.label && !isKey) {
      Diagnostic &diagnostic = reporter.error(arg.label.range, "unknown-argument",
                                              "'load' has no parameter '{}'", arg.label.text);
      reporter.suggestAmong(diagnostic, arg.label.text, {"key"});
      return Poison();
    }
    const std::string *text = arg.value.get<std::string>();
    if (!text)
      return reporter.fail(arg.range, "static-type", "expected a string, but got {}",
                           arg.value.describe());
    (isKey ? key : path) = *text;
  }
  if (path.empty())
    return reporter.fail(call.range, "missing-argument", "'load' needs the name of a file");
  if (!StringRef(path).ends_with(".npy") && !StringRef(path).ends_with(".safetensors"))
    return reporter.fail(args.front().range, "unknown-file",
                         "'load' reads .npy and .safetensors files, not '{}'", path);
  std::optional<std::string> full =
      moduleLoader.findFile(path, call.range.file, args.front().range);
  if (!full)
    return Poison();
  context.sources.addInput(*full);
  std::string reason;
  mlir::ElementsAttr value = tensorFiles.load(context.mlir, *full, key, reason);
  if (!value)
    return reporter.fail(args.front().range, "unknown-file", "cannot load '{}': {}", path, reason);
  if (!meter.spend(value.getNumElements() / kElementsOfStep, call.range))
    return Poison();
  return Entity(Constant{value});
}

/// `k = bounded(count, n)`: a run-time number as a size.
Entity Builtins::callBounded(const Call &c) {
  ArrayRef<Argument> args = c.args;
  const ast::CallExpr &call = c.call;
  if (args[0].value.isNumber())
    return reporter.fail(args[0].range, "operand-kind",
                         "'bounded' turns a run-time number into a size, but {} is already known",
                         args[0].value.describe());
  std::optional<dfg::DimExpr> bound = typeEvaluator.asSize(args[1].value, args[1].expr);
  mlir::Value count = tensorEmitter.toTensor(args[0].value, {}, args[0].range);
  if (!bound || !count || !tensorEmitter.requireEntry(call.range))
    return Poison();
  mlir::Type element = dfg::elementTypeOf(count.getType());
  bool isCount = element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!isCount || cast<mlir::RankedTensorType>(count.getType()).getRank() != 0)
    return reporter.fail(args[0].range, "operand-kind",
                         "'bounded' takes one i32 or i64, but got {}",
                         dfg::toText(count.getType()));
  if (dfg::isNonNegative(*bound) == false)
    return reporter.fail(args[1].range, "not-a-size", "a size cannot be negative: {}",
                         bound->str());
  auto hasBound = [&](const RunTimeSize &size) { return size.bound == *bound; };
  if (any_of(context.entry.runTimeSizes, hasBound))
    if (dfg::BindSizeOp equal = findEqualSize(*context.builder.currentBlock(), count, *bound))
      return Entity::dim(dfg::DimExpr::symbol(equal.getName()));
  std::string name =
      sizeScope.uniqueSizeName(context.bindingName.empty() ? "k" : StringRef(context.bindingName));
  SourceRange at = call.range;
  for (const Activation *f = context.activation; f && f->caller; f = f->caller)
    at = f->callSite;
  mlir::Operation *op = context.builder.bindSize(count, name, *bound, reporter.locate(call.range));
  context.entry.runTimeSizes.add({name, *bound, at, op});
  return Entity::dim(dfg::DimExpr::symbol(name));
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

Entity Builtins::assign(const Call &c, StringRef op) {
  const auto &[name, usage, args, call] = c;
  Variable *const *target = args[0].value.get<Variable *>();
  if (!target)
    return reporter.fail(args[0].range, "not-a-variable", "'{}' changes a variable, but got {}",
                         name, args[0].value.describe());
  if (!tensorEmitter.requireEntry(call.range))
    return Poison();
  Variable &variable = **target;
  mlir::Value value =
      tensorEmitter.toTensor(args[1].value, variable.type.getElementType(), args[1].range);
  if (!value)
    return Poison();
  if (!op.empty()) {
    mlir::Value old = tensorEmitter.readVariable(variable, args[0].range);
    value = tensorEmitter.emit(op, args, {old, value}, {}, args[0].range, name);
    if (!value)
      return Poison();
  }
  mlir::Value result = tensorEmitter.assignVariable(variable, value, args[1].range);
  return result ? Entity(result) : Entity();
}

Entity Builtins::callAssign(const Call &c) { return assign(c, ""); }
Entity Builtins::callAssignAdd(const Call &c) { return assign(c, "add"); }
Entity Builtins::callAssignSub(const Call &c) { return assign(c, "sub"); }

/// The feed as the process of the device around the call passes it.
Entity Builtins::callOwnFeed(const Call &c) {
  const Argument &arg = c.args.front();
  if (!tensorEmitter.requireEntry(c.call.range))
    return Entity();
  const mlir::Value *value = arg.value.get<mlir::Value>();
  auto feed = value ? dyn_cast<mlir::BlockArgument>(*value) : nullptr;
  if (!feed || !isa<dfg::EntryOp>(feed.getOwner()->getParentOp()))
    return reporter.fail(arg.range, "not-a-feed",
                         "'own_feed' takes a feed of the entry, but got {}", arg.value.describe());
  mlir::Operation *op = context.builder.ownFeed(feed, reporter.locate(c.call.range));
  if (!op->hasAttr(dfg::kDeviceAttr) && !op->hasAttr(dfg::kColocateAttr))
    return reporter.fail(c.call.range, "no-device",
                         "'own_feed' is where a device is asked for, but there is none");
  return Entity(mlir::Value(op->getResult(0)));
}

Entity Builtins::callRead(const Call &c) {
  const Argument &arg = c.args.front();
  mlir::Value value = tensorEmitter.toTensor(arg.value, {}, arg.range);
  return value ? Entity(value) : Entity();
}

Entity Builtins::callValues(const Call &c) {
  const Group *gradient = c.args.front().value.asSparse();
  return gradient ? gradient->elements.back() : callRead(c);
}

} // namespace tfc::text
