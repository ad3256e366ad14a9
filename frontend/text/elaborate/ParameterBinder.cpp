// Matches the arguments of a call with parameters and binds the parameters.
#include "frontend/text/elaborate/ParameterBinder.h"

#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/Unifier.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Returns true if the type of a parameter could not be parsed.
bool lacksType(ArrayRef<ast::Param> params) {
  return any_of(params, [](const ast::Param &param) {
    return param.type->range.begin == param.type->range.end;
  });
}

static std::string countOf(size_t count, StringRef what) {
  return fmt::format("{} {}{}", count, what.str(), count == 1 ? "" : "s");
}

/// The positions of the given arguments, in source order.
SmallVector<size_t> argumentOrder(ArrayRef<Argument> args) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].expr)
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) { return args[a].range.begin < args[b].range.begin; });
  return order;
}

bool ParameterBinder::matchArguments(ArrayRef<ast::Param> params, const std::string &what,
                                     const ast::CallExpr &call, std::vector<Argument> &matched) {
  matched.assign(params.size(), Argument());
  size_t next = 0;
  bool ok = true;
  for (const ast::Arg &arg : call.args) {
    size_t index = params.size();
    if (arg.label) {
      index = find_if(params,
                      [&](const ast::Param &param) { return param.name.text == arg.label.text; }) -
              params.begin();
      if (index == params.size()) {
        Diagnostic &diagnostic = reporter.error(arg.label.range, "unknown-argument",
                                                "{} has no parameter '{}'", what, arg.label.text);
        SmallVector<StringRef> names;
        for (const ast::Param &param : params)
          names.push_back(param.name.text);
        reporter.suggestAmong(diagnostic, arg.label.text, names);
        ok = false;
        continue;
      }
    } else {
      while (next < params.size() && matched[next].expr)
        ++next;
      index = next;
      if (index == params.size() || params[index].defaultValue) {
        bool isNamed = index < params.size();
        reporter
            .error(arg.range, "wrong-count",
                   isNamed ? fmt::format("{} takes '{}' by name, as it has a default", what,
                                         params[index].name.text)
                           : fmt::format("{} takes {}", what, countOf(params.size(), "argument")))
            .help(isNamed                          ? "write " + params[index].name.text + ": ..."
                  : any_of(params, isTypeArgument) ? Twine(kSizesInTypeHelp)
                                                   : Twine());
        return false;
      }
    }
    if (matched[index].expr) {
      reporter.error(arg.range, "duplicate-argument", "'{}' is given twice",
                     params[index].name.text);
      ok = false;
      continue;
    }
    matched[index].label = arg.label;
    matched[index].expr = arg.value;
    matched[index].range = arg.value->range;
  }
  std::string missing;
  for (auto [param, argument] : zip(params, matched))
    if (!argument.expr && !param.defaultValue && !isTypeArgument(param))
      missing += fmt::format("{}{}'", missing.empty() ? "'" : ", '", param.name.text);
  if (ok && !missing.empty()) {
    reporter.error(call.range, "missing-argument", "{} needs {}", what, missing);
    return false;
  }
  return ok;
}

std::optional<Entity> ParameterBinder::plausibleStatic(const ast::Param &param, bool flag) {
  switch (staticKind(*param.type, /*always=*/false)) {
  case StaticKind::Int:
    return Entity(int64_t(flag ? 1 : 2));
  case StaticKind::Float:
    return Entity(0.5);
  case StaticKind::Bool:
    return Entity(flag);
  case StaticKind::DType:
    return Entity(mlir::Type(mlir::Float32Type::get(context.mlir)));
  default:
    return std::nullopt;
  }
}

/// Binds a type argument: the given one, or the type expected at the call.
bool ParameterBinder::bindTypeArgument(const ast::Param &param, Argument &argument,
                                       StringRef callee) {
  std::optional<TensorType> type;
  if (const TensorType *given = argument.value.get<TensorType>())
    type = *given;
  else if (const mlir::Type *element = argument.value.get<mlir::Type>())
    type = TensorType{*element, {}};
  else if (!argument.expr && context.activation->expected)
    type = context.activation->expected;
  if (!type && !argument.expr) {
    reporter
        .error(context.activation->callSite, "missing-argument",
               "'{}' needs the type of its result here", callee)
        .help("as in {}(f32[n, 4])", callee);
    return false;
  }
  if (!type) {
    reporter.error(argument.range, "static-type",
                   "'{}' takes a type, such as f32[n, 4], but got {}", param.name.text,
                   argument.value.describe());
    return false;
  }
  if (!argument.expr)
    argument.range = context.activation->callSite;
  // Report it at the caller, not where the function creates tensors.
  if (!typeEvaluator.checkMemory(*type, argument.range))
    return false;
  std::string what = fmt::format("'{}' of '{}'", param.name.text, callee);
  if (!unifier.unify(*param.type, *type, UnifyPhase::Names, argument, what) ||
      !unifier.unify(*param.type, *type, UnifyPhase::Compound, argument, what))
    return false;
  context.activation->locals[param.name.text] = {Entity(*type), param.name.range, param.type};
  return true;
}

bool ParameterBinder::bindStaticParam(const ast::Param &param, Argument &argument) {
  if (!argument.expr) {
    argument.range = param.defaultValue->range;
    argument.value = evaluator.eval(param.defaultValue);
  }
  std::optional<Entity> value = typeEvaluator.convertStatic(param, argument);
  if (!value)
    return false;
  context.activation->locals[param.name.text] = {*value, param.name.range, param.type};
  return true;
}

/// Binds a number that becomes an element of the result, once the type of that is known.
bool ParameterBinder::bindNumber(const ast::FnDecl &fn, const ast::Param &param,
                                 const Argument &argument) {
  if (staticKind(*param.type, /*always=*/false) != StaticKind::Number)
    return true;
  mlir::Type element = fn.resultType ? typeEvaluator.knownElement(*fn.resultType) : mlir::Type();
  Entity &value = context.activation->locals[param.name.text].value;
  return !element || tensorEmitter.toExact(value, element, argument.range);
}

bool ParameterBinder::bindTensorParam(const ast::FnDecl &fn, const ast::Param &param,
                                      Argument &argument) {
  std::string what = fmt::format("'{}' of '{}'", param.name.text, fn.name.text);
  Local local{Entity(), param.name.range, param.type};
  mlir::Type actual;
  if (param.isVar) {
    Variable *const *variable = argument.value.get<Variable *>();
    if (!variable) {
      reporter.error(argument.range, "not-a-variable", "{} takes a variable itself, but got {}",
                     what, argument.value.describe());
      return false;
    }
    local.value = Entity(*variable);
    actual = (*variable)->type;
  } else {
    mlir::Value value = tensorEmitter.toValue(
        argument.value, typeEvaluator.knownElement(*param.type), argument.range);
    if (!value)
      return false;
    local.value = Entity(value);
    actual = value.getType();
  }
  if (!unifier.unifyValue(*param.type, actual, UnifyPhase::Names, argument, what))
    return false;
  context.activation->locals[param.name.text] = local;
  return true;
}

bool ParameterBinder::bindParams(const Function &function, std::vector<Argument> &args,
                                 Activation &callee) {
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
  // First tensors determine the dtype variables, then numbers are converted to them.
  for (bool wantsNumbers : {false, true}) {
    for (auto [param, argument] : zip(fn.params, args)) {
      if (param.isStatic)
        continue;
      bool isTensor = argument.expr && argument.value.isTensor();
      if (isTensor == wantsNumbers)
        continue;
      if (!argument.expr) {
        argument.range = param.defaultValue->range;
        argument.value = evaluator.eval(param.defaultValue);
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
    std::string what = fmt::format("'{}' of '{}'", param.name.text, fn.name.text);
    ok &= unifier.unifyValue(*param.type, type, UnifyPhase::Compound, argument, what);
  }
  return ok;
}

} // namespace tfc::text
