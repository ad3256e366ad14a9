// Matches the arguments of a call with the operands and attributes of an operation, which it knows
// from the table of all operations.
#include "frontend/text/elaborate/OperationBuilder.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/elaborate/ErrorCapture.h"
#include "frontend/text/elaborate/RandomDraws.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// The arguments of an operation, each at its operand or attribute.
struct OperationBuilder::OpCall {
  const dfg::OpSignature &op;
  std::vector<std::vector<Argument>> operands;
  std::vector<std::optional<Argument>> attributes;
  /// In source order.
  std::vector<Argument> all;
  /// Sizes of names local to the call, as in `rearrange(x, "..", h: 4)`.
  SmallVector<NamedAttribute> sizes;

  explicit OpCall(const dfg::OpSignature &op)
      : op(op), operands(op.operands.size()), attributes(op.attributes.size()) {}

  std::optional<size_t> attributeOf(dfg::OpAttrKind kind) const {
    for (auto [i, attribute] : enumerate(op.attributes))
      if (attribute.kind == kind)
        return i;
    return std::nullopt;
  }
  bool takesType() const {
    return attributeOf(dfg::OpAttrKind::Dims) && attributeOf(dfg::OpAttrKind::Dtype);
  }
  /// The type of the result if `value` is one: `f32[n]`, or `f32`, a scalar unless the call has a
  /// shape.
  std::optional<TensorType> typeFrom(const Entity &value) const {
    if (!takesType())
      return std::nullopt;
    if (const TensorType *type = value.get<TensorType>())
      return *type;
    const mlir::Type *element = value.get<mlir::Type>();
    if (element && !attributes[*attributeOf(dfg::OpAttrKind::Dims)])
      return TensorType{*element, {}};
    return std::nullopt;
  }
};

static std::string describeKind(const dfg::AttrSignature &attr) {
  switch (attr.kind) {
  case dfg::OpAttrKind::Bool:
    return "a bool";
  case dfg::OpAttrKind::BoolList:
    return "a list of bools";
  case dfg::OpAttrKind::Dims:
    return "a shape";
  case dfg::OpAttrKind::Dtype:
    return "an element type";
  case dfg::OpAttrKind::Enum:
    return "one of " + join(map_range(attr.cases,
                                      [](const dfg::EnumCase &word) {
                                        return fmt::format("\"{}\"", word.name);
                                      }),
                            ", ");
  case dfg::OpAttrKind::Float:
    return "a number";
  case dfg::OpAttrKind::Int:
    return "an int";
  case dfg::OpAttrKind::IntList:
    return "ints";
  case dfg::OpAttrKind::String:
    return "a string";
  case dfg::OpAttrKind::Symbol:
    return "a variable";
  case dfg::OpAttrKind::Unit:
    return "a bool";
  case dfg::OpAttrKind::NamedSizes:
    return "sizes by name";
  case dfg::OpAttrKind::Value:
  case dfg::OpAttrKind::Other:
    break;
  }
  return "a constant";
}

//===----------------------------------------------------------------------===//
// Placing arguments
//===----------------------------------------------------------------------===//

bool OperationBuilder::placePositional(OpCall &opCall, Argument &argument) {
  const dfg::OpSignature &op = opCall.op;
  if (std::optional<TensorType> type = opCall.typeFrom(argument.value)) {
    Argument shape = argument, dtype = argument;
    shape.value = Entity::shape(type->shape);
    dtype.value = Entity(type->element);
    opCall.attributes[*opCall.attributeOf(dfg::OpAttrKind::Dims)] = shape;
    opCall.attributes[*opCall.attributeOf(dfg::OpAttrKind::Dtype)] = dtype;
    return true;
  }
  bool isText = argument.value.is<std::string>();
  auto precedesOperands = [&](dfg::OpAttrKind kind) {
    return isText ? kind == dfg::OpAttrKind::String || kind == dfg::OpAttrKind::Enum
                  : kind == dfg::OpAttrKind::Symbol;
  };
  for (auto [i, attribute] : enumerate(op.attributes))
    if (precedesOperands(attribute.kind) && !opCall.attributes[i]) {
      opCall.attributes[i] = argument;
      return true;
    }
  for (auto [i, operand] : enumerate(op.operands)) {
    if (operand.isCounter || (!opCall.operands[i].empty() && !operand.isVariadic))
      continue;
    if (operand.isOptional && !argument.value.isTensor() && !argument.value.isNumber())
      continue;
    if (operand.isVariadic && !opCall.operands[i].empty() &&
        opCall.operands[i].front().value.asGroup())
      continue;
    opCall.operands[i].push_back(argument);
    return true;
  }
  // In max(x, 0) the 0 may be an axis or a number to compare with.
  if (dfg::lookupOp((op.name + "imum").str())) {
    reporter.error(argument.range, "wrong-count", "'{}' takes its axis by name", op.name)
        .help("the larger or smaller of two values is {}imum(x, y)", op.name);
    return false;
  }
  for (auto [i, attribute] : enumerate(op.attributes))
    if (!opCall.attributes[i]) {
      opCall.attributes[i] = argument;
      return true;
    }
  size_t most = op.operands.size() + op.attributes.size();
  reporter.error(argument.range, "wrong-count", "'{}' takes at most {}{}", op.name, most,
                 most == 1 ? " argument" : " arguments");
  return false;
}

bool OperationBuilder::placeNamed(OpCall &opCall, Argument &argument) {
  const dfg::OpSignature &op = opCall.op;
  StringRef name = argument.label.text;
  for (auto [i, operand] : enumerate(op.operands)) {
    if (operand.name != name)
      continue;
    if (opCall.operands[i].empty()) {
      opCall.operands[i].push_back(argument);
      return true;
    }
    reporter.error(argument.range, "duplicate-argument", "'{}' is given twice", name);
    return false;
  }
  for (auto [i, attribute] : enumerate(op.attributes)) {
    if (attribute.name != name)
      continue;
    if (!opCall.attributes[i]) {
      opCall.attributes[i] = argument;
      return true;
    }
    reporter.error(argument.range, "duplicate-argument", "'{}' is given twice", name);
    return false;
  }
  std::optional<dfg::DimExpr> size = argument.value.asDim();
  if (opCall.attributeOf(dfg::OpAttrKind::NamedSizes) && size) {
    opCall.sizes.emplace_back(StringAttr::get(context.mlir, name),
                              dfg::DimsAttr::get(context.mlir, {*size}));
    return true;
  }
  Diagnostic &diagnostic = reporter.error(argument.label.range, "unknown-argument",
                                          "'{}' has no operand or attribute '{}'", op.name, name);
  SmallVector<StringRef> names;
  for (const dfg::OperandSignature &operand : op.operands)
    names.push_back(operand.name);
  for (const dfg::AttrSignature &attribute : op.attributes)
    names.push_back(attribute.name);
  reporter.suggestAmong(diagnostic, name, names);
  return false;
}

/// Adds the default seed and counter of a draw.
void OperationBuilder::addDrawArguments(OpCall &opCall, SourceRange at) {
  for (auto [attribute, given] : zip(opCall.op.attributes, opCall.attributes))
    if (attribute.isSeed && !given)
      given = Argument{{}, nullptr, at, Entity(randomDraws.seedFromPath())};
  for (auto [operand, given] : zip(opCall.op.operands, opCall.operands))
    if (operand.isCounter && given.empty())
      given.push_back({{}, nullptr, at, Entity(randomDraws.drawCounter(at))});
}

bool OperationBuilder::placeArguments(OpCall &opCall, Arguments &args, const ast::CallExpr &call) {
  bool ok = true;
  for (Argument &argument : args)
    if (argument.label)
      ok &= placeNamed(opCall, argument);
  for (Argument &argument : args)
    if (!argument.label && ok)
      ok &= placePositional(opCall, argument);
  if (!ok)
    return false;
  if (opCall.takesType() && context.expected) {
    std::optional<Argument> &shape = opCall.attributes[*opCall.attributeOf(dfg::OpAttrKind::Dims)];
    std::optional<Argument> &dtype = opCall.attributes[*opCall.attributeOf(dfg::OpAttrKind::Dtype)];
    if (!shape && !dtype) {
      shape = Argument{{}, nullptr, call.range, Entity::shape(context.expected->shape)};
      dtype = Argument{{}, nullptr, call.range, Entity(context.expected->element)};
    }
  }
  if (opCall.op.isDraw() && tensorEmitter.requireEntry(call.range))
    addDrawArguments(opCall, call.range);
  std::string missing;
  for (auto [operand, given] : zip(opCall.op.operands, opCall.operands))
    if (given.empty() && !operand.isOptional && !operand.isVariadic)
      missing += fmt::format("{}{}'", missing.empty() ? "'" : ", '", operand.name);
  for (auto [attribute, given] : zip(opCall.op.attributes, opCall.attributes))
    if (!given && attribute.isRequired)
      missing += fmt::format("{}{}'", missing.empty() ? "'" : ", '", attribute.name);
  if (missing.empty())
    return true;
  reporter.error(call.range, "missing-argument", "'{}' needs {}", opCall.op.name, missing);
  return false;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The element type of numbers: that of the first tensor among the operands that are indices too,
/// or are not either.
static mlir::Type preferredFor(bool isIndex, ArrayRef<std::pair<bool, mlir::Type>> elements) {
  for (auto [isOfIndex, element] : elements)
    if (isOfIndex == isIndex && !element.isInteger(1))
      return element;
  return {};
}

/// A value of the kind that the operation takes.
mlir::Value OperationBuilder::toOperand(StringRef op, const dfg::OperandSignature &signature,
                                        const Entity &value, mlir::Type preferred, SourceRange at) {
  if (signature.kind == dfg::OperandKind::Predicate)
    return tensorEmitter.toPredicate(tensorEmitter.toTensor(value, preferred, at), op, at);
  if (signature.kind == dfg::OperandKind::Tensor)
    return tensorEmitter.toTensor(value, preferred, at);
  mlir::Value operand = tensorEmitter.toValue(value, preferred, at);
  bool fits = signature.kind == dfg::OperandKind::Any ||
              (signature.kind == dfg::OperandKind::List && listOf(value));
  if (!operand || fits)
    return operand;
  reporter.error(at, "operand-kind", "'{}' is {}, but got {}", signature.name,
                 signature.kind == dfg::OperandKind::List ? "a list" : "a control edge",
                 value.describe());
  return {};
}

bool OperationBuilder::buildOperands(OpCall &opCall, SmallVectorImpl<mlir::Value> &operands,
                                     SmallVectorImpl<int32_t> &segments) {
  SmallVector<std::pair<bool, mlir::Type>> elements;
  for (auto [signature, given] : zip(opCall.op.operands, opCall.operands))
    for (Argument &argument : given) {
      if (const Group *group = argument.value.asGroup(); group && signature.isVariadic) {
        for (const Entity &element : group->elements)
          if (mlir::Type type = elementOf(element))
            elements.emplace_back(signature.isIndex, type);
      } else if (mlir::Type type = elementOf(argument.value)) {
        elements.emplace_back(signature.isIndex, type);
      }
    }
  for (auto [signature, given] : zip(opCall.op.operands, opCall.operands)) {
    size_t before = operands.size();
    mlir::Type preferred = preferredFor(signature.isIndex, elements);
    for (Argument &argument : given) {
      opCall.all.push_back(argument);
      std::vector<Entity> values{argument.value};
      ArrayRef<SourceRange> places;
      if (const Group *group = argument.value.asGroup(); group && signature.isVariadic) {
        values = group->elements;
        if (isa_and_nonnull<ast::ListExpr>(argument.expr))
          places = group->places;
      }
      for (auto [i, value] : enumerate(values)) {
        SourceRange at = i < places.size() ? places[i] : argument.range;
        mlir::Value operand = toOperand(opCall.op.name, signature, value, preferred, at);
        if (!operand)
          return false;
        operands.push_back(operand);
      }
    }
    segments.push_back(operands.size() - before);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>> intsOf(const Entity &value) {
  if (const int64_t *number = value.get<int64_t>())
    return SmallVector<int64_t>{*number};
  const Group *group = value.asGroup();
  if (!group)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const Entity &element : group->elements) {
    if (!element.is<int64_t>())
      return std::nullopt;
    numbers.push_back(element.as<int64_t>());
  }
  return numbers;
}

static Attribute boolsOf(const Entity &value, MLIRContext *context) {
  SmallVector<bool> flags;
  if (const bool *flag = value.get<bool>())
    flags.push_back(*flag);
  else if (const Group *group = value.asGroup())
    for (const Entity &element : group->elements) {
      if (!element.is<bool>())
        return {};
      flags.push_back(element.as<bool>());
    }
  else
    return {};
  return DenseBoolArrayAttr::get(context, flags);
}

/// The attribute of a static value; null if the value has the wrong kind. `element` is the type to
/// which numbers are converted.
static Attribute attributeFrom(const Entity &value, const dfg::AttrSignature &attr,
                               mlir::Type element, MLIRContext *context) {
  Builder b(context);
  mlir::Type integer = b.getIntegerType(attr.width);
  switch (attr.kind) {
  case dfg::OpAttrKind::Bool:
    return value.is<bool>() ? Attribute(b.getBoolAttr(value.as<bool>())) : Attribute();
  case dfg::OpAttrKind::Unit:
    return value.is<bool>() ? Attribute(b.getUnitAttr()) : Attribute();
  case dfg::OpAttrKind::BoolList:
    return boolsOf(value, context);
  case dfg::OpAttrKind::Int:
    return value.is<int64_t>() ? Attribute(IntegerAttr::get(integer, value.as<int64_t>()))
                               : Attribute();
  case dfg::OpAttrKind::Enum:
    return value.is<std::string>() ? attr.fromWord(value.as<std::string>(), context) : Attribute();
  case dfg::OpAttrKind::Float:
    if (std::optional<double> number = value.asDouble())
      return b.getF64FloatAttr(*number);
    if (value.is<bool>() && element && element.isInteger(1))
      return b.getF64FloatAttr(value.as<bool>() ? 1 : 0);
    return {};
  case dfg::OpAttrKind::IntList:
    if (std::optional<SmallVector<int64_t>> numbers = intsOf(value))
      return b.getDenseI64ArrayAttr(*numbers);
    return {};
  case dfg::OpAttrKind::Dims:
    if (std::optional<dfg::DimExpr> size = value.asDim())
      return dfg::DimsAttr::get(context, {*size});
    if (std::optional<dfg::Shape> shape = value.asShape())
      return dfg::DimsAttr::get(context, *shape);
    return {};
  case dfg::OpAttrKind::Dtype:
    return value.is<mlir::Type>() ? Attribute(TypeAttr::get(value.as<mlir::Type>())) : Attribute();
  case dfg::OpAttrKind::String:
    return value.is<std::string>() ? Attribute(b.getStringAttr(value.as<std::string>()))
                                   : Attribute();
  case dfg::OpAttrKind::Symbol:
    if (Variable *const *variable = value.get<Variable *>())
      return FlatSymbolRefAttr::get(context, (*variable)->path);
    return {};
  case dfg::OpAttrKind::Value:
    if (const Constant *constant = value.get<Constant>())
      return constant->value;
    return {};
  case dfg::OpAttrKind::NamedSizes:
  case dfg::OpAttrKind::Other:
    return {};
  }
  return {};
}

/// The element type to which numbers of an operation are converted; null if the operation
/// determines it.
mlir::Type OperationBuilder::elementOfNumbers(const OpCall &opCall, ValueRange operands) {
  if (std::optional<size_t> dtype = opCall.attributeOf(dfg::OpAttrKind::Dtype)) {
    const std::optional<Argument> &given = opCall.attributes[*dtype];
    return given && given->value.is<mlir::Type>() ? given->value.as<mlir::Type>() : mlir::Type();
  }
  if (operands.empty() || !isa<RankedTensorType>(operands.front().getType()))
    return {};
  return dfg::elementTypeOf(operands.front().getType());
}

/// Attributes store numbers as f64: fails for an integer that this would round although the
/// operation computes with integers.
bool OperationBuilder::checkExact(StringRef op, StringRef name, const Argument &given,
                                  mlir::Type element) {
  const int64_t *number = given.value.get<int64_t>();
  if (!number || !isa_and_nonnull<IntegerType>(element))
    return true;
  APFloat real(APFloat::IEEEdouble());
  APInt bits(64, uint64_t(*number));
  if (real.convertFromAPInt(bits, /*IsSigned=*/true, APFloat::rmTowardZero) == APFloat::opOK)
    return true;
  reporter.error(given.range, "number-range",
                 "'{}' keeps '{}' as an f64, in which {} has no exact value", op, name, *number);
  return false;
}

/// Reports an argument that is no value of the attribute.
void OperationBuilder::reportAttribute(StringRef op, const dfg::AttrSignature &signature,
                                       const Argument &given) {
  bool isSymbol = signature.kind == dfg::OpAttrKind::Symbol;
  bool isQueue = given.value.is<Queue *>();
  if (isSymbol && (isQueue || given.value.is<Dataset *>())) {
    reporter
        .error(given.range, "attribute-type",
               "'{}' is the operation of the intermediate form, which names its {}", op,
               isQueue ? "queue" : "dataset")
        .help(isQueue ? "the functions of a queue q are enqueue(q, ..), enqueue_many(q, ..), "
                        "dequeue(q), dequeue_many(q, n), dequeue_up_to(q, n), size(q) and close(q)"
                      : "the functions of a dataset d are read_rows(d, rows) and size(d)");
    return;
  }
  bool isRunTime = given.value.isTensor() && !isSymbol;
  Diagnostic &diagnostic = reporter.error(
      given.range, isRunTime ? "not-static" : "attribute-type", "'{}' of '{}' is {}{}, but got {}",
      signature.name, op, describeKind(signature), isRunTime ? " known at compile time" : "",
      given.value.describe());
  if (signature.kind == dfg::OpAttrKind::Dtype && given.value.asDim())
    diagnostic.help(kSizesInTypeHelp);
}

bool OperationBuilder::buildAttributes(OpCall &opCall, mlir::Type element,
                                       SmallVectorImpl<NamedAttribute> &attributes) {
  bool ok = true;
  if (!opCall.sizes.empty())
    attributes.emplace_back(
        StringAttr::get(
            context.mlir,
            opCall.op.attributes[*opCall.attributeOf(dfg::OpAttrKind::NamedSizes)].name),
        DictionaryAttr::get(context.mlir, opCall.sizes));
  for (auto [signature, given] : zip(opCall.op.attributes, opCall.attributes)) {
    if (!given)
      continue;
    if (signature.kind == dfg::OpAttrKind::Unit && given->value.is<bool>() &&
        !given->value.as<bool>())
      continue;
    if (signature.kind == dfg::OpAttrKind::Float &&
        !checkExact(opCall.op.name, signature.name, *given, element)) {
      ok = false;
      continue;
    }
    Attribute attribute = attributeFrom(given->value, signature, element, context.mlir);
    if (!attribute) {
      reportAttribute(opCall.op.name, signature, *given);
      ok = false;
      continue;
    }
    attributes.emplace_back(StringAttr::get(context.mlir, signature.name), attribute);
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

Entity OperationBuilder::opResult(const dfg::OpSignature &op, Operation *operation) {
  if (operation->getNumResults() == 0)
    return Entity(Nothing{});
  if (operation->getNumResults() == 1 && !op.hasVariadicResults)
    return Entity(mlir::Value(operation->getResult(0)));
  std::vector<Entity> values;
  for (mlir::Value result : operation->getResults())
    values.push_back(Entity(result));
  std::vector<std::string> names;
  if (op.results.size() == values.size())
    for (StringRef name : op.results)
      names.push_back(name.str());
  return Entity::group(std::move(values), std::move(names));
}

/// `scatter_add(v, ...)` and similar operations, which change their variable.
Entity OperationBuilder::callOpOnState(const dfg::OpSignature &op, Arguments &args,
                                       const ast::CallExpr &call) {
  Variable *const *target = args.empty() ? nullptr : args.front().value.get<Variable *>();
  Entity result = callOp(op, args, call);
  if (!op.updatesOperand || !target || result.isPoison())
    return result;
  mlir::Value value =
      tensorEmitter.assignVariable(**target, result.as<mlir::Value>(), args.front().range);
  return value ? Entity(value) : Entity();
}

Entity OperationBuilder::callOp(const dfg::OpSignature &op, Arguments &args,
                                const ast::CallExpr &call) {
  OpCall opCall(op);
  if (!placeArguments(opCall, args, call))
    return Poison();
  context.expected.reset();
  SmallVector<mlir::Value> operands;
  SmallVector<int32_t> segments;
  SmallVector<NamedAttribute> attributes;
  bool ok = buildOperands(opCall, operands, segments);
  ok &= buildAttributes(opCall, elementOfNumbers(opCall, operands), attributes);
  if (!ok || !tensorEmitter.requireEntry(call.range))
    return Poison();
  unsigned flexible = count_if(op.operands, [](const dfg::OperandSignature &operand) {
    return operand.isVariadic || operand.isOptional;
  });
  if (flexible > 1)
    attributes.emplace_back(StringAttr::get(context.mlir, "operandSegmentSizes"),
                            DenseI32ArrayAttr::get(context.mlir, segments));
  Operation *created = nullptr;
  SourceRange at = opCall.all.empty() ? call.callee->range : opCall.all.front().range;
  for (const std::optional<Argument> &given : opCall.attributes)
    if (given && given->expr && given->value.is<std::string>())
      at = given->range;
  SaveAndRestore places(context.attributePlaces);
  context.attributePlaces.clear();
  for (auto [signature, given] : zip(op.attributes, opCall.attributes))
    if (given)
      context.attributePlaces.emplace_back(signature.name, given->range);
  errorCapture.capture(at, opCall.all, op.name, [&] {
    FailureOr<Operation *> result =
        context.builder.create(op.name, operands, attributes, reporter.locate(call.range));
    if (succeeded(result))
      created = *result;
    return succeeded(result);
  });
  for (auto [signature, given] : zip(op.attributes, opCall.attributes))
    if (signature.kind == dfg::OpAttrKind::Symbol && given)
      context.entry.reads.erase(given->value.as<Variable *>());
  bool isMeant = created && tensorEmitter.canBeMeant(created, call.range);
  return isMeant ? opResult(op, created) : Entity();
}

} // namespace tfc::text
