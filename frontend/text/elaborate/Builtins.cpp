// Implements the functions that the language itself provides, and holds the table of their names.
// Other functions are operations or graph source.
#include "frontend/text/elaborate/Builtins.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/TensorFile.h"
#include "frontend/text/elaborate/GradientBuilder.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/OperationBuilder.h"
#include "frontend/text/elaborate/QueueEmitter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace tfc::text {

Entity Builtins::zipGroups(ArrayRef<Argument> args, SourceRange at) {
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

Entity Builtins::addAll(ArrayRef<Argument> args, SourceRange at) {
  const Group *group = args.size() == 1 ? args.front().value.asGroup() : nullptr;
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

/// `shape`, `rank`, `dtype` and predicates of types.
std::optional<Entity> Builtins::askType(StringRef name, const Argument &arg) {
  const TensorType *given = arg.value.get<TensorType>();
  std::optional<TensorType> type = given ? *given : tensorTypeOf(arg.value);
  if (name == "is_float" || name == "is_int") {
    mlir::Type element = type ? type->element : mlir::Type();
    if (const mlir::Type *dtype = arg.value.get<mlir::Type>())
      element = *dtype;
    if (!element)
      return reporter.fail(arg.range, "operand-kind", "'{}' takes a type or tensor, but got {}",
                           name, arg.value.describe());
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
    return reporter.fail(arg.range, "operand-kind", "'{}' takes a tensor, but got {}", name,
                         arg.value.describe());
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
Entity Builtins::widen(const Argument &arg) {
  const mlir::Type *element = arg.value.get<mlir::Type>();
  if (!element)
    return reporter.fail(arg.range, "operand-kind", "'wide' takes an element type, but got {}",
                         arg.value.describe());
  bool isNarrow = isa<mlir::FloatType>(*element) && element->getIntOrFloatBitWidth() < 32;
  return isNarrow ? Entity(mlir::Type(mlir::Float32Type::get(context.mlir))) : Entity(*element);
}

/// A gradient of the same rows with other values; for a dense gradient just the values.
Entity Builtins::replaceValues(ArrayRef<Argument> args, SourceRange at) {
  if (args.size() != 2)
    return reporter.fail(at, "wrong-count", "'with_values' takes a gradient and values");
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
Entity Builtins::callCastByName(Arguments &args, const ast::CallExpr &call) {
  const mlir::Type *element = args.size() == 2 ? args[1].value.get<mlir::Type>() : nullptr;
  bool isNamed = args.size() == 2 && args[1].label && args[1].label.text != "dtype";
  if (!element || isNamed)
    return reporter.fail(call.range, "wrong-count",
                         "'cast' takes a tensor and an element type, as in cast(x, f16)");
  Arguments operand{args[0]};
  if (args[0].label && args[0].label.text == "x")
    operand.front().label = {};
  return tensorEmitter.callCast(*element, operand, call);
}

/// `constant(2.5)`, which takes its type from its use, and `constant([[1.0, 2.0]])`.
Entity Builtins::callConstant(ArrayRef<Argument> args, const ast::CallExpr &call) {
  bool isNamed = args.size() == 1 && args[0].label && args[0].label.text != "value";
  if (args.size() != 1 || isNamed)
    return reporter.fail(call.range, "wrong-count",
                         "'constant' takes a number or a table of numbers");
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
Entity Builtins::callEnsure(ArrayRef<Argument> args, const ast::CallExpr &call) {
  const TensorType *type = args.size() == 2 ? args[1].value.get<TensorType>() : nullptr;
  if (!type || args[0].label || args[1].label)
    return reporter.fail(call.range, "wrong-count",
                         "'ensure' takes a tensor and its type, as in ensure(x, f32[n, 4])");
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
      tensorEmitter.emit("slice", operand, tensor, attributes, call.range, "ensure");
  return result ? Entity(result) : Entity();
}

/// `load("weights.npy")`, `load("weights.safetensors", key: "w")`: a constant from a file, whose
/// name is relative to the file that contains the call. A variable's path is the default key.
Entity Builtins::callLoad(ArrayRef<Argument> args, const ast::CallExpr &call) {
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

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// `k = bounded(count, n)`: a run-time number as a size.
Entity Builtins::callBounded(ArrayRef<Argument> args, const ast::CallExpr &call) {
  if (args.size() != 2 || args[0].label || args[1].label)
    return reporter.fail(
        call.range, "wrong-count",
        "'bounded' takes a count and the most that it can be, as in bounded(count, 100)");
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
  mlir::Operation *around = context.builder.currentBlock()->getParentOp();
  if (isa<dfg::DataflowOp>(around) || around->getParentOfType<dfg::DataflowOp>())
    return reporter.fail(call.range, "misplaced",
                         "a data-dependent size cannot be bound in a 'dataflow' block");
  std::string name =
      sizeScope.uniqueSizeName(context.bindingName.empty() ? "k" : StringRef(context.bindingName));
  SourceRange at = call.range;
  for (const Activation *f = context.activation; f && f->caller; f = f->caller)
    at = f->callSite;
  mlir::Operation *op = context.builder.bindSize(count, name, *bound, reporter.locate(call.range));
  context.entry.runTimeSizes.push_back({name, *bound, at, op});
  return Entity::dim(dfg::DimExpr::symbol(name));
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

Entity Builtins::callAssign(const Call &c, StringRef op) {
  const auto &[name, args, call] = c;
  if (args.size() != 2 || args[0].label || (args[1].label && args[1].label.text != "value"))
    return reporter.fail(call.range, "wrong-count", "'{}' takes a variable and a value", name);
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

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static Entity isKnown(const Entity &value) {
  const dfg::DimExpr *size = value.get<dfg::DimExpr>();
  return Entity(size ? size->constant().has_value() : value.isStatic());
}

static std::optional<Entity> lengthOf(const Entity &value) {
  const Group *group = value.asGroup();
  return group ? std::optional(Entity(static_cast<int64_t>(group->elements.size()))) : std::nullopt;
}

Entity Builtins::readValue(const Argument &arg) {
  mlir::Value value = tensorEmitter.toTensor(arg.value, {}, arg.range);
  return value ? Entity(value) : Entity();
}

Entity Builtins::valuesOf(const Argument &arg) {
  const Group *gradient = arg.value.asSparse();
  return gradient ? gradient->elements.back() : readValue(arg);
}

/// The function checks its arguments itself.
static constexpr int kAnyArity = -1;

/// The name is a function of numbers, queues or lists, or an operation.
static constexpr int kOfOthers = -2;

struct Builtins::Row {
  StringLiteral name;
  int arity;
  /// Returns std::nullopt if it does not apply to the argument.
  std::optional<Entity> (*call)(Builtins &, const Call &);
  /// The value has the type of the variable before it.
  bool isAssignment = false;
};

ArrayRef<Builtins::Row> Builtins::rows() {
  using Result = std::optional<Entity>;
  static constexpr Row kRows[] = {
      {"abs", kOfOthers, nullptr},
      {"add_n", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.addAll(c.args, c.call.range); }},
      {"append", kOfOthers, nullptr},
      {"assign", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callAssign(c, ""); }, true},
      {"assign_add", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callAssign(c, "add"); }, true},
      {"assign_sub", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callAssign(c, "sub"); }, true},
      {"bounded", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callBounded(c.args, c.call); }},
      {"cast", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callCastByName(c.args, c.call); }},
      {"ceil", kOfOthers, nullptr},
      {"close", kOfOthers, nullptr},
      {"constant", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callConstant(c.args, c.call); }},
      {"cos", kOfOthers, nullptr},
      {"dequeue", kOfOthers, nullptr},
      {"dequeue_many", kOfOthers, nullptr},
      {"dequeue_up_to", kOfOthers, nullptr},
      {"dtype", 1,
       [](Builtins &b, const Call &c) -> Result { return b.askType(c.name, c.args.front()); }},
      {"enqueue", kOfOthers, nullptr},
      {"enqueue_many", kOfOthers, nullptr},
      {"ensure", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callEnsure(c.args, c.call); }},
      {"exp", kOfOthers, nullptr},
      {"float", 1,
       [](Builtins &b, const Call &c) -> Result {
         return convertNumber(c.name, c.args.front().value);
       }},
      {"floor", kOfOthers, nullptr},
      {"gradient_pairs", kAnyArity,
       [](Builtins &b, const Call &c) -> Result {
         return b.gradientBuilder.callGradientPairs(c.args, c.call);
       }},
      {"gradients", kAnyArity,
       [](Builtins &b, const Call &c) -> Result {
         return b.gradientBuilder.callGradients(c.args, c.call);
       }},
      {"int", 1,
       [](Builtins &b, const Call &c) -> Result {
         return convertNumber(c.name, c.args.front().value);
       }},
      {"is_float", 1,
       [](Builtins &b, const Call &c) -> Result { return b.askType(c.name, c.args.front()); }},
      {"is_int", 1,
       [](Builtins &b, const Call &c) -> Result { return b.askType(c.name, c.args.front()); }},
      {"is_known", 1,
       [](Builtins &b, const Call &c) -> Result { return isKnown(c.args.front().value); }},
      {"is_sparse", 1,
       [](Builtins &b, const Call &c) -> Result {
         return c.args.front().value.asSparse() != nullptr;
       }},
      {"len", 1,
       [](Builtins &b, const Call &c) -> Result { return lengthOf(c.args.front().value); }},
      {"load", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.callLoad(c.args, c.call); }},
      {"log", kOfOthers, nullptr},
      {"max", kOfOthers, nullptr},
      {"maximum", kOfOthers, nullptr},
      {"min", kOfOthers, nullptr},
      {"minimum", kOfOthers, nullptr},
      {"pow", kOfOthers, nullptr},
      {"prod", kOfOthers, nullptr},
      {"rank", 1,
       [](Builtins &b, const Call &c) -> Result { return b.askType(c.name, c.args.front()); }},
      {"read", 1, [](Builtins &b, const Call &c) -> Result { return b.readValue(c.args.front()); }},
      {"scatter", kOfOthers, nullptr},
      {"shape", 1,
       [](Builtins &b, const Call &c) -> Result { return b.askType(c.name, c.args.front()); }},
      {"sin", kOfOthers, nullptr},
      {"size", kOfOthers, nullptr},
      {"sqrt", kOfOthers, nullptr},
      {"tanh", kOfOthers, nullptr},
      {"trainable", kAnyArity,
       [](Builtins &b, const Call &c) -> Result {
         return b.gradientBuilder.callTrainable(c.args, c.call);
       }},
      {"unstack", kOfOthers, nullptr},
      {"values", 1,
       [](Builtins &b, const Call &c) -> Result { return b.valuesOf(c.args.front()); }},
      {"variables", kAnyArity,
       [](Builtins &b, const Call &c) -> Result {
         return b.gradientBuilder.callVariables(c.args, c.call);
       }},
      {"wide", 1, [](Builtins &b, const Call &c) -> Result { return b.widen(c.args.front()); }},
      {"with_values", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.replaceValues(c.args, c.call.range); }},
      {"write", kOfOthers, nullptr},
      {"zip", kAnyArity,
       [](Builtins &b, const Call &c) -> Result { return b.zipGroups(c.args, c.call.range); }},
  };
  return kRows;
}

std::vector<StringRef> Builtins::names() {
  std::vector<StringRef> names;
  for (const Row &row : rows())
    names.push_back(row.name);
  return names;
}

const Builtins::Row &Builtins::lookup(StringRef name) {
  return *find_if(rows(), [&](const Row &row) { return row.name == name; });
}

bool Builtins::isAssignment(StringRef name) { return lookup(name).isAssignment; }

Entity Builtins::callBuiltin(StringRef name, Arguments &args, const ast::CallExpr &call) {
  if (std::optional<Entity> folded = staticStage.staticMath(name, args, call.range))
    return *folded;
  if (std::optional<Entity> onQueue = queueEmitter.callOnQueue(name, args, call))
    return *onQueue;
  if (std::optional<Entity> onList = listEmitter.callOnList(name, args, call))
    return *onList;
  const Row &row = lookup(name);
  if (row.arity == kAnyArity)
    return *row.call(*this, {name, args, call});
  if (const dfg::OpSignature *op = dfg::lookupOp(name); op && name != "read")
    return operationBuilder.callOp(*op, args, call);
  if (args.size() != 1 || args.front().label)
    return reporter.fail(call.range, "wrong-count", "'{}' takes one argument", name);
  if (row.call)
    if (std::optional<Entity> result = row.call(*this, {name, args, call}))
      return *result;
  Diagnostic &diagnostic =
      reporter.error(args.front().range, "operand-kind", "'{}' does not apply to {}", name,
                     args.front().value.describe());
  if (args.front().value.isTensor())
    diagnostic.help(name == "len"     ? "shape(x)[0] is the size of the first axis"
                    : name == "float" ? "f32(x) converts a tensor"
                    : name == "int"   ? "i32(x) converts a tensor"
                                      : "");
  return Poison();
}

} // namespace tfc::text
