// Evaluates calls of anything that can be called, and expands functions. It decides what is called
// and leaves arguments to ParameterBinder.cpp and operations to OperationBuilder.cpp.
#include "frontend/text/elaborate/CallEvaluator.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Builtins.h"
#include "frontend/text/elaborate/DataflowBuilder.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/OperationBuilder.h"
#include "frontend/text/elaborate/ParameterBinder.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StatementRunner.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/Unifier.h"

using namespace llvm;

namespace tfc::text {

/// Deeper calls are reported as a mistake before they exhaust the stack.
static constexpr unsigned kMaxCallDepth = 200;

//===----------------------------------------------------------------------===//
// Callees and arguments
//===----------------------------------------------------------------------===//

/// Returns true if a callee reads the variables among its arguments. Operations on variables take
/// them by their names.
static bool readsArguments(const Entity &callee) {
  if (const Builtin *builtin = callee.get<Builtin>())
    return Builtins::readsArguments(builtin->name);
  const dfg::OpSignature *const *op = callee.get<const dfg::OpSignature *>();
  return op && none_of((*op)->attributes, [](const dfg::AttrSignature &attribute) {
           return attribute.kind == dfg::OpAttrKind::Symbol;
         });
}

/// Returns true if a callee changes a variable that is its first argument.
static bool updatesVariable(const Entity &callee) {
  const dfg::OpSignature *const *op = callee.get<const dfg::OpSignature *>();
  return op && (*op)->updatesOperand;
}

bool CallEvaluator::evaluateArguments(const ast::CallExpr &call, Arguments &args,
                                      const Entity &callee) {
  bool reads = readsArguments(callee), updates = updatesVariable(callee);
  // Variables among the operands, also in lists, are read where they are named: later arguments may
  // have effects on them.
  auto evalOperand = [&](const ast::Expr *expr, auto &self) -> Entity {
    const auto *list = dyn_cast<ast::ListExpr>(expr);
    if (!list) {
      Entity value = evaluator.eval(expr);
      if (context.entry.number)
        tensorEmitter.readNow(value, expr->range);
      return value;
    }
    std::vector<Entity> elements;
    std::vector<SourceRange> places;
    for (const ast::Expr *element : list->elements) {
      elements.push_back(self(element, self));
      places.push_back(element->range);
      if (elements.back().isPoison())
        return Poison();
    }
    return Entity::list(std::move(elements), std::move(places));
  };
  bool ok = true;
  const Builtin *builtin = callee.get<Builtin>();
  bool assigns = builtin && Builtins::isAssignment(builtin->name);
  for (const ast::Arg &arg : call.args) {
    Argument &argument = args.emplace_back();
    argument.label = arg.label;
    argument.expr = arg.value;
    argument.range = arg.value->range;
    // In `assign(w, zeros())` zeros has the type of w.
    Variable *const *target = args.front().value.get<Variable *>();
    if (target && assigns && args.size() == 2)
      context.expected =
          TensorType{(*target)->type.getElementType(), dfg::shapeOf((*target)->type)};
    // A variable that the operation changes is not read.
    bool isChanged = updates && args.size() == 1;
    argument.value =
        reads && !isChanged ? evalOperand(arg.value, evalOperand) : evaluator.eval(arg.value);
    context.expected.reset();
    ok &= !argument.value.isPoison();
  }
  return ok;
}

Entity CallEvaluator::evalCall(const ast::CallExpr &call) {
  if (context.activation->dataflow &&
      any_of(call.args, [](const ast::Arg &arg) { return arg.label.text == "after"; }))
    return dataflowBuilder.callAfter(call);
  std::optional<TensorType> wanted = std::move(context.expected);
  context.expected.reset();
  Entity callee = evaluator.eval(call.callee);
  if (callee.isPoison()) {
    // The arguments may have errors of their own.
    Arguments args;
    evaluateArguments(call, args, callee);
    return Poison();
  }
  context.expected = std::move(wanted);
  return callEntity(callee, call);
}

Entity CallEvaluator::callEntity(const Entity &callee, const ast::CallExpr &call) {
  if (const Function *function = callee.get<Function>())
    return callFunction(*function, call);
  if (Instance *const *instance = callee.get<Instance *>()) {
    auto it = (*instance)->members.find("call");
    const auto *fn =
        it == (*instance)->members.end() ? nullptr : dyn_cast<ast::FnDecl>(it->second.stmt);
    if (!fn)
      return failUncallable(**instance, call);
    return callFunction({fn, (*instance)->part.module, *instance}, call);
  }
  if (const Part *part = callee.get<Part>())
    return advisor.failUnnamed(*part, call);

  std::optional<TensorType> wanted = std::move(context.expected);
  context.expected.reset();
  const dfg::OpSignature *const *named = callee.get<const dfg::OpSignature *>();
  if (named && (*named)->name == "merge" && context.activation->dataflow)
    return dataflowBuilder.callMerge(call);
  Arguments args;
  if (!evaluateArguments(call, args, callee))
    return Poison();
  context.expected = std::move(wanted);
  llvm::scope_exit forget([&] { context.expected.reset(); });
  if (const mlir::Type *type = callee.get<mlir::Type>())
    return tensorEmitter.callCast(*type, args, call);
  if (const ListType *type = callee.get<ListType>())
    return listEmitter.callListType(*type, args, call);
  if (const Builtin *builtin = callee.get<Builtin>())
    return builtins.callBuiltin(builtin->name, args, call);
  if (const dfg::OpSignature *const *op = callee.get<const dfg::OpSignature *>())
    return operationBuilder.callOpOnState(**op, args, call);
  // `all` alone is a group of variables; called, it is the reduction.
  if (const dfg::OpSignature *op = dfg::lookupOp("all"); op && callee.is<All>())
    return operationBuilder.callOp(*op, args, call);
  return reporter.fail(call.callee->range, "not-callable", "{} cannot be called",
                       callee.describe());
}

/// A part without `call` may have other functions.
Entity CallEvaluator::failUncallable(const Instance &instance, const ast::CallExpr &call) {
  std::string functions;
  for (const ast::Stmt *member : instance.part.decl->members)
    if (const auto *fn = dyn_cast<ast::FnDecl>(member))
      functions += (functions.empty() ? "" : ", ") + fn->name.text.str();
  Diagnostic &diagnostic =
      reporter.error(call.callee->range, "not-callable", "the part '{}' has no fn 'call'",
                     instance.part.decl->name.text);
  if (!functions.empty())
    diagnostic.help("its functions are called by name: {}", functions);
  return Poison();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Entity CallEvaluator::callFunction(const Function &function, const ast::CallExpr &call) {
  const ast::FnDecl &fn = *function.decl;
  std::optional<TensorType> wanted = std::move(context.expected);
  context.expected.reset();
  if (fn.isEntry)
    return reporter.fail(call.callee->range, "not-callable",
                         "'{}' is an entry: only the program calls it", fn.name.text);
  for (const Activation *f = context.activation; f; f = f->caller)
    if (f->fn == &fn && f->self == function.self)
      return reporter.fail(call.range, "recursion",
                           "'{}' calls itself, and functions are expanded where they are called",
                           fn.name.text);
  if (context.activation->depth >= kMaxCallDepth)
    return reporter.fail(call.range, "recursion", "calls are nested too deeply");

  // Its declaration has been reported.
  if (fn.isBroken || lacksType(fn.params))
    return Poison();
  std::vector<Argument> matched;
  std::string what = fmt::format("'{}'", fn.name.text);
  if (!parameterBinder.matchArguments(fn.params, what, call, matched))
    return Poison();
  bool ok = true;
  for (size_t i : argumentOrder(matched)) {
    Argument &argument = matched[i];
    argument.value = evaluator.eval(argument.expr);
    bool isRunTime = !fn.params[i].isStatic && !fn.params[i].isVar;
    if (Variable *const *variable = argument.value.get<Variable *>(); variable && isRunTime) {
      mlir::Value value = tensorEmitter.readVariable(**variable, argument.range);
      argument.value = value ? Entity(value) : Entity();
    }
    ok &= !argument.value.isPoison();
  }
  if (!ok)
    return Poison();

  Budget::Scope expansion(context.budget, {Expansion::Kind::Function, fn.name.text, call.range});
  if (!meter.spend(kStepsOfCall, call.range))
    return Poison();
  ++context.budget.counts[&fn];
  size_t variablesBefore = context.program.variables.size();
  auto callee = std::make_shared<Activation>();
  callee->module = function.module;
  callee->self = function.self;
  callee->fn = &fn;
  callee->caller = context.activation;
  callee->callSite = call.range;
  callee->depth = context.activation->depth + 1;
  callee->expected = wanted;
  // Variables that the body declares are initialised later, in its activation.
  llvm::scope_exit keep([&] {
    if (context.program.variables.size() != variablesBefore)
      context.program.keptActivations.push_back(callee);
  });
  SaveAndRestore<Activation *> inner(context.activation, callee.get());
  if (!parameterBinder.bindParams(function, matched, *callee))
    return Poison();
  if (!factChecker.checkWhere(fn.where, what))
    return Poison();
  Placement placement = context.placement;
  if (function.self)
    placement = Placer::within(function.self->placement, placement);
  return runBody(*callee, placement);
}

Entity CallEvaluator::runBody(Activation &callee, const Placement &outer) {
  Entity result;
  placer.in(placer.read(callee.fn->annotations, outer), [&] { result = runStatements(callee); });
  return result;
}

Entity CallEvaluator::runStatements(Activation &callee) {
  const ast::FnDecl &fn = *callee.fn;
  context.program.expanded.insert(&fn);
  SaveAndRestore<std::string> name(context.bindingName);
  SaveAndRestore<size_t> sizes(context.entry.newSizes, context.entry.runTimeSizes.size());
  statementRunner.execBlock(*fn.body);
  bool hasResults = fn.resultType || !fn.results.empty();
  if (!callee.result) {
    if (hasResults && callee.module->hasSyntaxErrors)
      return Poison();
    if (hasResults)
      return reporter.fail(fn.name.range, "missing-return",
                           "'{}' has results, but reaches its end without 'return'", fn.name.text);
    return Entity(Nothing{});
  }
  return checkResults(callee);
}

Entity CallEvaluator::checkResults(const Activation &callee) {
  const ast::FnDecl &fn = *callee.fn;
  const Entity &result = *callee.result;
  SourceRange at = callee.resultAt;
  if (result.isPoison())
    return result;
  std::string what = fmt::format("the result of '{}'", fn.name.text);
  if (fn.resultType)
    return unifier.checkResult(*fn.resultType, result, at, what);
  if (fn.results.empty()) {
    if (result.is<Nothing>())
      return result;
    return reporter.fail(at, "wrong-count", "'{}' declares no results, but returns some",
                         fn.name.text);
  }
  std::vector<Entity> values{result};
  if (const Group *group = result.asGroup(); group && fn.results.size() > 1)
    values = group->elements;
  if (values.size() != fn.results.size())
    return reporter.fail(at, "wrong-count", "'{}' declares {} results, but returns {}",
                         fn.name.text, fn.results.size(), values.size());
  std::vector<std::string> names;
  bool isEachPlaced = callee.resultsAt.size() == values.size();
  for (auto [i, declared, value] : enumerate(fn.results, values)) {
    if (!declared.name)
      return Poison();
    value = unifier.checkResult(*declared.type, value, isEachPlaced ? callee.resultsAt[i] : at,
                                fmt::format("'{}'", declared.name.text));
    if (value.isPoison())
      return Poison();
    names.push_back(declared.name.text.str());
  }
  return values.size() == 1 ? values.front() : Entity::group(std::move(values), std::move(names));
}

} // namespace tfc::text
