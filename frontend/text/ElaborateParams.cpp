#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/ElaborateImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

/// The kinds of static values that a parameter can have.
/// `Number` is an element of the function's result, whichever type that has.
enum class StaticKind {
  None,
  Int,
  Float,
  Number,
  Bool,
  String,
  Dim,
  DType,
  Group,
  Function,
  Gradient
};

/// `always`: types that mean a static value wherever they stand; else in static parameters only.
static StaticKind staticKind(const ast::Type &type, bool always) {
  if (type.kind == ast::TypeKind::Dim)
    return StaticKind::Dim;
  if (type.hasBrackets)
    return StaticKind::None;
  if (type.kind == ast::TypeKind::Named)
    return StringSwitch<StaticKind>(type.name)
        .Case("int", StaticKind::Int)
        .Case("float", StaticKind::Float)
        .Case(kNumberType, StaticKind::Number)
        .Case("dtype", StaticKind::DType)
        .Case("group", StaticKind::Group)
        .Case("function", StaticKind::Function)
        .Case("gradient", StaticKind::Gradient)
        .Default(StaticKind::None);
  if (type.kind != ast::TypeKind::DType)
    return StaticKind::None;
  switch (type.dtype) {
  case ast::DType::String:
    return StaticKind::String;
  case ast::DType::Bool:
    return always ? StaticKind::None : StaticKind::Bool;
  case ast::DType::F32:
  case ast::DType::F64:
  case ast::DType::F16:
  case ast::DType::BF16:
    return always ? StaticKind::None : StaticKind::Float;
  default:
    return always ? StaticKind::None : StaticKind::Int;
  }
}

bool Elaborator::isStaticType(const ast::Type &type) {
  return staticKind(type, /*always=*/true) != StaticKind::None;
}

bool Elaborator::isTypeArgument(const ast::Param &param) {
  return param.isStatic && staticKind(*param.type, /*always=*/false) == StaticKind::None;
}

static std::optional<Entity> convertTo(StaticKind kind, const Entity &value) {
  bool matches = false;
  switch (kind) {
  case StaticKind::None:
    break;
  case StaticKind::Int:
    matches = value.is<int64_t>() || value.is<dfg::DimExpr>();
    break;
  case StaticKind::Float:
    if (std::optional<double> number = value.asDouble())
      return Entity(*number);
    break;
  case StaticKind::Number:
    matches = value.isNumber() || value.is<bool>();
    break;
  case StaticKind::Bool:
    matches = value.is<bool>();
    break;
  case StaticKind::String:
    matches = value.is<std::string>();
    break;
  case StaticKind::Dim:
    matches = value.asDim().has_value();
    break;
  case StaticKind::DType:
    matches = value.is<mlir::Type>();
    break;
  case StaticKind::Group:
    // As where an operation takes ints: axis: 1 is axis: [1].
    if (value.is<int64_t>() || value.is<double>())
      return Entity::group({value});
    matches = value.asGroup() || value.is<All>() || value.is<Instance *>() ||
              value.is<Module *>() || value.is<Variable *>();
    break;
  case StaticKind::Gradient:
    matches = value.is<mlir::Value>() || (value.asGroup() && value.asGroup()->isSparse);
    break;
  case StaticKind::Function:
    matches = value.is<Function>() || value.is<Instance *>() || value.is<Builtin>() ||
              value.is<const dfg::OpSignature *>() || value.is<mlir::Type>();
    break;
  }
  return matches ? std::optional<Entity>(value) : std::nullopt;
}

std::optional<Entity> Elaborator::plausibleStatic(const ast::Param &param, bool flag) {
  switch (staticKind(*param.type, /*always=*/false)) {
  case StaticKind::Int:
    return Entity(int64_t(flag ? 1 : 2));
  case StaticKind::Float:
    return Entity(0.5);
  case StaticKind::Bool:
    return Entity(flag);
  case StaticKind::DType:
    return Entity(mlir::Type(mlir::Float32Type::get(context)));
  default:
    return std::nullopt;
  }
}

/// Reports a static number outside the element type that is declared for it, as in `static k: i8`.
bool Elaborator::checkDeclared(const ast::Type &type, const Entity &value, SourceRange at) {
  StaticKind kind = staticKind(type, /*always=*/false);
  bool hasElement =
      type.kind == ast::TypeKind::DType && (kind == StaticKind::Int || kind == StaticKind::Float);
  if (!hasElement || !(value.is<int64_t>() || value.is<double>()))
    return true;
  dfg::Number number =
      value.is<double>() ? dfg::Number(value.as<double>()) : dfg::Number(value.as<int64_t>());
  mlir::Type element = elementType(type.dtype, type.baseRange);
  return !element || toElement(number, element, dfg::Conversion::Implicit, at, SourceRange());
}

std::optional<Entity> Elaborator::convertStatic(const ast::Param &param, const Argument &argument) {
  if (argument.value.isPoison())
    return std::nullopt;
  StaticKind kind = staticKind(*param.type, /*always=*/false);
  if (std::optional<Entity> value = convertTo(kind, argument.value))
    return checkDeclared(*param.type, *value, argument.range) ? value : std::nullopt;
  std::string name = param.name ? "'" + param.name.text.str() + "'" : "the result";
  bool isNumber = kind == StaticKind::Number;
  if (argument.value.isTensor())
    error(argument.range, "not-static",
          name + " needs a value known at compile time, but " + argument.value.describe() +
              " arrives at run time")
        .note(param.name.range, "declared here");
  else
    error(argument.range, "static-type",
          name + " takes " + (isNumber ? "a number or a bool" : typeText(*param.type)) +
              ", but got " + argument.value.describe())
        .note(param.name.range, "declared here");
  return std::nullopt;
}

/// A type argument: given, or what the place of the call wants.
bool Elaborator::bindTypeArgument(const ast::Param &param, Argument &argument, StringRef callee) {
  std::optional<TensorType> type;
  if (const TensorType *given = argument.value.get<TensorType>())
    type = *given;
  else if (const mlir::Type *element = argument.value.get<mlir::Type>())
    type = TensorType{*element, {}};
  else if (!argument.expr && frame->expected)
    type = frame->expected;
  if (!type && !argument.expr) {
    error(frame->callSite, "missing-argument", "'" + callee + "' needs the type of its result here")
        .help("as in " + callee + "(f32[n, 4])");
    return false;
  }
  if (!type) {
    error(argument.range, "static-type",
          "'" + param.name.text + "' takes a type, such as f32[n, 4], but got " +
              argument.value.describe());
    return false;
  }
  if (!argument.expr)
    argument.range = frame->callSite;
  // Where the caller says it, not where the function makes tensors of it.
  mlir::Type tensor = dfg::tensorOf(type->shape, type->element);
  if (dfg::isTooLarge(tensor)) {
    error(argument.range, "too-large", "no memory holds " + dfg::toText(tensor));
    return false;
  }
  std::string what = "'" + param.name.text.str() + "' of '" + callee.str() + "'";
  if (!unify(*param.type, *type, UnifyPhase::Names, argument, what) ||
      !unify(*param.type, *type, UnifyPhase::Compound, argument, what))
    return false;
  frame->locals[param.name.text] = {Entity(*type), param.name.range, param.type};
  return true;
}

bool Elaborator::bindStaticParam(const ast::Param &param, Argument &argument) {
  if (!argument.expr) {
    argument.range = param.defaultValue->range;
    argument.value = eval(param.defaultValue);
  }
  std::optional<Entity> value = convertStatic(param, argument);
  if (!value)
    return false;
  frame->locals[param.name.text] = {*value, param.name.range, param.type};
  return true;
}

/// A number that becomes an element of the result, once it is known which type that has.
bool Elaborator::bindNumber(const ast::FnDecl &fn, const ast::Param &param,
                            const Argument &argument) {
  if (staticKind(*param.type, /*always=*/false) != StaticKind::Number)
    return true;
  mlir::Type element = fn.resultType ? knownElement(*fn.resultType) : mlir::Type();
  Entity &value = frame->locals[param.name.text].value;
  return !element || toExact(value, element, argument.range);
}

/// The element type that a parameter's type gives a number, if it is known yet.
mlir::Type Elaborator::knownElement(const ast::Type &type) {
  if (type.kind == ast::TypeKind::List)
    return {};
  if (type.kind == ast::TypeKind::DType)
    return elementType(type.dtype, type.baseRange);
  if (std::optional<Entity> known = sizeName(type.name, type.baseRange))
    if (const mlir::Type *element = known->get<mlir::Type>())
      return *element;
  return {};
}

bool Elaborator::bindTensorParam(const ast::FnDecl &fn, const ast::Param &param,
                                 Argument &argument) {
  std::string what = "'" + param.name.text.str() + "' of '" + fn.name.text.str() + "'";
  Local local{Entity(), param.name.range, param.type};
  mlir::Type actual;
  if (param.isVar) {
    Variable *const *variable = argument.value.get<Variable *>();
    if (!variable) {
      error(argument.range, "not-a-variable",
            what + " takes a variable itself, but got " + argument.value.describe());
      return false;
    }
    local.value = Entity(*variable);
    actual = (*variable)->type;
  } else {
    mlir::Value value = toValue(argument.value, knownElement(*param.type), argument.range);
    if (!value)
      return false;
    local.value = Entity(value);
    actual = value.getType();
  }
  if (!unifyValue(*param.type, actual, UnifyPhase::Names, argument, what))
    return false;
  frame->locals[param.name.text] = local;
  return true;
}

bool Elaborator::bindParams(const Function &function, std::vector<Argument> &args, Frame &callee) {
  const ast::FnDecl &fn = *function.decl;
  bool ok = true;
  for (auto [param, argument] : zip(fn.params, args)) {
    if (!param.isStatic)
      continue;
    ok &= isTypeArgument(param) ? bindTypeArgument(param, argument, fn.name.text)
                                : bindStaticParam(param, argument);
  }
  if (!ok)
    return false;
  // Tensors say what the dtype variables are, then numbers follow them.
  for (bool wantsNumbers : {false, true}) {
    for (auto [param, argument] : zip(fn.params, args)) {
      if (param.isStatic)
        continue;
      bool isTensor = argument.expr && argument.value.isTensor();
      if (isTensor == wantsNumbers)
        continue;
      if (!argument.expr) {
        argument.range = param.defaultValue->range;
        argument.value = eval(param.defaultValue);
      }
      ok &= bindTensorParam(fn, param, argument);
    }
  }
  for (auto [param, argument] : zip(fn.params, args))
    if (ok && param.isStatic)
      ok = bindNumber(fn, param, argument);
  for (auto [param, argument] : zip(fn.params, args)) {
    if (!ok || param.isStatic)
      continue;
    const Entity &value = callee.locals[param.name.text].value;
    mlir::Type type = value.is<mlir::Value>() ? value.as<mlir::Value>().getType()
                                              : mlir::Type(value.as<Variable *>()->type);
    std::string what = "'" + param.name.text.str() + "' of '" + fn.name.text.str() + "'";
    ok &= unifyValue(*param.type, type, UnifyPhase::Compound, argument, what);
  }
  return ok;
}

} // namespace tfc::text
