#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

/// Calls deeper than this are taken for a mistake before they exhaust the stack.
static constexpr unsigned kMaxCallDepth = 200;

//===----------------------------------------------------------------------===//
// What is called
//===----------------------------------------------------------------------===//

/// The operation that a callee stands for, if it reads the variables that it is given.
static const dfg::OpSignature *readingOp(const Entity &callee) {
  const dfg::OpSignature *op = nullptr;
  if (const dfg::OpSignature *const *named = callee.get<const dfg::OpSignature *>())
    op = *named;
  // A gradient is by what was read on the way to the loss.
  else if (const Builtin *builtin = callee.get<Builtin>(); builtin && builtin->name != "gradients")
    op = dfg::lookupOp(builtin->name == "add_n" ? "add" : builtin->name);
  bool takesVariable = op && any_of(op->attributes, [](const dfg::AttrSignature &attribute) {
                         return attribute.kind == dfg::AttrKind::Symbol;
                       });
  return takesVariable ? nullptr : op;
}

bool Elaborator::evaluateArguments(const ast::CallExpr &call, Arguments &args,
                                   const dfg::OpSignature *op) {
  // What an operation computes with is read where it is named, also in a list: before what stands
  // behind it has effects.
  auto evalOperand = [&](const ast::Expr *expr, auto &self) -> Entity {
    const auto *list = dyn_cast<ast::ListExpr>(expr);
    if (!list) {
      Entity value = eval(expr);
      if (entryNumber)
        readNow(value, expr->range);
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
  const auto *callee = dyn_cast<ast::NameExpr>(call.callee);
  bool assigns = callee && callee->name.starts_with("assign");
  for (const ast::Arg &arg : call.args) {
    Argument &argument = args.emplace_back();
    argument.label = arg.label;
    argument.expr = arg.value;
    argument.range = arg.value->range;
    // `assign(w, zeros())` wants zeros of the type of w.
    Variable *const *target = args.front().value.get<Variable *>();
    if (target && assigns && args.size() == 2)
      expected = TensorType{(*target)->type.getElementType(), dfg::shapeOf((*target)->type)};
    // That which a scatter changes is not read.
    bool isChanged = op && op->name.starts_with("scatter_") && args.size() == 1;
    argument.value = op && !isChanged ? evalOperand(arg.value, evalOperand) : eval(arg.value);
    expected.reset();
    ok &= !argument.value.isPoison();
  }
  return ok;
}

Entity Elaborator::evalCall(const ast::CallExpr &call) {
  if (frame->dataflow &&
      any_of(call.args, [](const ast::Arg &arg) { return arg.label.text == "after"; }))
    return callAfter(call);
  std::optional<TensorType> wanted = std::move(expected);
  expected.reset();
  Entity callee = eval(call.callee);
  if (callee.isPoison()) {
    // The arguments may have errors of their own.
    Arguments args;
    evaluateArguments(call, args);
    return Poison();
  }
  expected = std::move(wanted);
  return callEntity(callee, call);
}

Entity Elaborator::callEntity(const Entity &callee, const ast::CallExpr &call) {
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
    return failUnnamed(*part, call);

  std::optional<TensorType> wanted = std::move(expected);
  expected.reset();
  const dfg::OpSignature *const *named = callee.get<const dfg::OpSignature *>();
  if (named && (*named)->name == "merge" && frame->dataflow)
    return callMerge(call);
  Arguments args;
  if (!evaluateArguments(call, args, readingOp(callee)))
    return Poison();
  expected = std::move(wanted);
  llvm::scope_exit forget([&] { expected.reset(); });
  if (const mlir::Type *type = callee.get<mlir::Type>())
    return callCast(*type, args, call);
  if (const ListType *type = callee.get<ListType>())
    return callListType(*type, args, call);
  if (const Builtin *builtin = callee.get<Builtin>())
    return callBuiltin(builtin->name, args, call);
  if (const dfg::OpSignature *const *op = callee.get<const dfg::OpSignature *>()) {
    if (std::optional<Entity> onList = callOnList((*op)->name, args, call))
      return *onList;
    return callOpOnState(**op, args, call);
  }
  // `all` alone is a group of variables; called, it is the reduction.
  if (const dfg::OpSignature *op = dfg::lookupOp("all"); op && callee.is<All>())
    return callOp(*op, args, call);
  return fail(call.callee->range, "not-callable", callee.describe() + " cannot be called");
}

/// A part without `call` may have other functions.
Entity Elaborator::failUncallable(const Instance &instance, const ast::CallExpr &call) {
  std::string functions;
  for (const ast::Stmt *member : instance.part.decl->members)
    if (const auto *fn = dyn_cast<ast::FnDecl>(member))
      functions += (functions.empty() ? "" : ", ") + fn->name.text.str();
  Diagnostic &diagnostic =
      error(call.callee->range, "not-callable",
            "the part '" + instance.part.decl->name.text + "' has no fn 'call'");
  if (!functions.empty())
    diagnostic.help("its functions are called by name: " + functions);
  return Poison();
}

/// Whether an argument of a part is more likely meant for its function `call`.
static bool isData(const ast::Arg &arg) {
  return arg.label.text.empty() &&
         !isa<ast::IntExpr, ast::FloatExpr, ast::StringExpr, ast::BoolExpr>(arg.value);
}

/// A call of a part creates state without a name.
Entity Elaborator::failUnnamed(const Part &part, const ast::CallExpr &call) {
  std::string state;
  for (const ast::Stmt *member : part.decl->members)
    if (const auto *var = dyn_cast<ast::VarDecl>(member))
      state += (state.empty() ? "" : ", ") + var->name.text.str();
  StringRef name = part.decl->name.text;
  bool hasData = !call.args.empty() && isData(call.args[0]);
  std::string args, data = hasData ? sources.oneLine(call.args[0].range) : "...";
  for (const ast::Arg &arg : ArrayRef(call.args).drop_front(hasData))
    args += (args.empty() ? "" : ", ") + sources.oneLine(arg.range);
  std::string initial;
  for (unsigned i = 1; initial.empty() || lookup(initial, call.range); ++i)
    initial = name.substr(0, 1).lower() + std::to_string(i);
  error(call.callee->range, "unnamed-state",
        "'" + name + "' is a part" +
            (state.empty() ? std::string() : " with variables of its own (" + state + ")") +
            ", and a call cannot create " + (state.empty() ? "an instance" : "them"))
      .help("name an instance at file level, 'let " + initial + " = " + name + "(" + args +
            ")', and call that: '" + initial + "(" + data + ")'");
  return Poison();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Whether the type of a parameter could not be parsed.
bool Elaborator::lacksType(ArrayRef<ast::Param> params) {
  return any_of(params, [](const ast::Param &param) {
    return param.type->range.begin == param.type->range.end;
  });
}

static std::string countOf(size_t count, StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

Entity Elaborator::callFunction(const Function &function, const ast::CallExpr &call) {
  const ast::FnDecl &fn = *function.decl;
  std::optional<TensorType> wanted = std::move(expected);
  expected.reset();
  if (fn.isEntry)
    return fail(call.callee->range, "not-callable",
                "'" + fn.name.text + "' is an entry: only the program calls it");
  for (const Frame *f = frame; f; f = f->caller)
    if (f->fn == &fn && f->self == function.self)
      return fail(call.range, "recursion",
                  "'" + fn.name.text +
                      "' calls itself, and functions are expanded where they "
                      "are called");
  if (frame->depth >= kMaxCallDepth)
    return fail(call.range, "recursion", "calls are nested too deeply");

  // Its declaration has been reported.
  if (lacksType(fn.params))
    return Poison();
  std::vector<Argument> matched;
  std::string what = "'" + fn.name.text.str() + "'";
  if (!matchArguments(fn.params, what, call, matched))
    return Poison();
  bool ok = true;
  for (size_t i : argumentOrder(matched)) {
    Argument &argument = matched[i];
    argument.value = eval(argument.expr);
    bool isRunTime = !fn.params[i].isStatic && !fn.params[i].isVar;
    if (Variable *const *variable = argument.value.get<Variable *>(); variable && isRunTime) {
      mlir::Value value = readVariable(**variable, argument.range);
      argument.value = value ? Entity(value) : Entity();
    }
    ok &= !argument.value.isPoison();
  }
  if (!ok)
    return Poison();

  Budget::Scope expansion(budget, {Expansion::Kind::Function, fn.name.text, call.range});
  if (!spend(kStepsOfCall, call.range))
    return Poison();
  ++budget.counts[&fn];
  size_t variablesBefore = variables.size();
  auto callee = std::make_shared<Frame>();
  callee->module = function.module;
  callee->self = function.self;
  callee->fn = &fn;
  callee->caller = frame;
  callee->callSite = call.range;
  callee->depth = frame->depth + 1;
  callee->expected = wanted;
  // Variables that the body declares are initialised later, in its frame.
  llvm::scope_exit keep([&] {
    if (variables.size() != variablesBefore)
      keptFrames.push_back(callee);
  });
  SaveAndRestore<Frame *> inner(frame, callee.get());
  if (!bindParams(function, matched, *callee))
    return Poison();
  if (!checkWhere(fn.where, what))
    return Poison();
  return runBody(*callee);
}

Entity Elaborator::runBody(Frame &callee) {
  const ast::FnDecl &fn = *callee.fn;
  expanded.insert(&fn);
  SaveAndRestore<std::string> outer(bindingName);
  SaveAndRestore<size_t> sizes(newSizes, runTimeSizes.size());
  execBlock(*fn.body);
  bool hasResults = fn.resultType || !fn.results.empty();
  if (!callee.result) {
    if (hasResults && callee.module->hasSyntaxErrors)
      return Poison();
    if (hasResults)
      return fail(fn.name.range, "missing-return",
                  "'" + fn.name.text + "' has results, but reaches its end without 'return'");
    return Entity(Nothing{});
  }
  return checkResults(fn, *callee.result, callee.resultAt);
}

/// The positions of the arguments that were given, in the order in which they are written.
SmallVector<size_t> Elaborator::argumentOrder(ArrayRef<Argument> args) {
  SmallVector<size_t> order;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].expr)
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) { return args[a].range.begin < args[b].range.begin; });
  return order;
}

bool Elaborator::matchArguments(ArrayRef<ast::Param> params, const std::string &what,
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
        Diagnostic &diagnostic = error(arg.label.range, "unknown-argument",
                                       what + " has no parameter '" + arg.label.text + "'");
        SmallVector<StringRef> names;
        for (const ast::Param &param : params)
          names.push_back(param.name.text);
        suggestAmong(diagnostic, arg.label.text, names);
        ok = false;
        continue;
      }
    } else {
      while (next < params.size() && matched[next].expr)
        ++next;
      index = next;
      if (index == params.size() || params[index].defaultValue) {
        bool isNamed = index < params.size();
        error(arg.range, "wrong-count",
              isNamed
                  ? what + " takes '" + params[index].name.text + "' by name, as it has a default"
                  : what + " takes " + countOf(params.size(), "argument"))
            .help(isNamed ? "write " + params[index].name.text + ": ..." : Twine());
        return false;
      }
    }
    if (matched[index].expr) {
      error(arg.range, "duplicate-argument", "'" + params[index].name.text + "' is given twice");
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
      missing += (missing.empty() ? "'" : ", '") + param.name.text.str() + "'";
  if (ok && !missing.empty()) {
    error(call.range, "missing-argument", what + " needs " + missing);
    return false;
  }
  return ok;
}

Entity Elaborator::checkResults(const ast::FnDecl &fn, const Entity &result, SourceRange at) {
  if (result.isPoison())
    return result;
  std::string what = "the result of '" + fn.name.text.str() + "'";
  if (fn.resultType)
    return checkResult(*fn.resultType, result, at, what);
  if (fn.results.empty()) {
    if (result.is<Nothing>())
      return result;
    return fail(at, "wrong-count", "'" + fn.name.text + "' declares no results, but returns some");
  }
  std::vector<Entity> values{result};
  if (const Group *group = result.asGroup(); group && fn.results.size() > 1)
    values = group->elements;
  if (values.size() != fn.results.size())
    return fail(at, "wrong-count",
                "'" + fn.name.text + "' declares " + Twine(fn.results.size()) +
                    " results, but returns " + Twine(values.size()));
  std::vector<std::string> names;
  for (auto [declared, value] : zip(fn.results, values)) {
    if (!declared.name)
      return Poison();
    value = checkResult(*declared.type, value, at, ("'" + declared.name.text + "'").str());
    if (value.isPoison())
      return Poison();
    names.push_back(declared.name.text.str());
  }
  return values.size() == 1 ? values.front() : Entity::group(std::move(values), std::move(names));
}

Entity Elaborator::checkResult(const ast::Type &type, const Entity &value, SourceRange at,
                               const std::string &what) {
  bool isStatic = type.kind == ast::TypeKind::DType && !type.hasBrackets &&
                  ((type.dtype == ast::DType::Bool && value.is<bool>()) ||
                   (type.dtype == ast::DType::String && value.is<std::string>()));
  if (isStatic || isStaticType(type)) {
    ast::Param param;
    param.type = const_cast<ast::Type *>(&type);
    return convertStatic(param, {{}, nullptr, at, value}).value_or(Entity());
  }
  mlir::Type preferred;
  if (type.kind == ast::TypeKind::List)
    preferred = {};
  else if (type.kind == ast::TypeKind::DType)
    preferred = elementType(type.dtype, type.baseRange);
  else if (std::optional<Entity> known = sizeName(type.name, type.baseRange))
    if (const mlir::Type *element = known->get<mlir::Type>())
      preferred = *element;
  mlir::Value tensor = toValue(value, preferred, at);
  if (!tensor)
    return Poison();
  Argument argument{{}, nullptr, at, value};
  if (!unifyValue(type, tensor.getType(), UnifyPhase::Names, argument, what) ||
      !unifyValue(type, tensor.getType(), UnifyPhase::Compound, argument, what))
    return Poison();
  nameNewSizes(type);
  return Entity(tensor);
}

/// What a value known at compile time is, in a message; empty for others.
static std::string staticText(const Entity &value) {
  if (const auto *text = value.get<std::string>())
    return "\"" + *text + "\"";
  if (const bool *flag = value.get<bool>())
    return *flag ? "true" : "false";
  if (const double *number = value.get<double>())
    return toText(*number);
  if (const mlir::Type *type = value.get<mlir::Type>())
    return dfg::toText(*type);
  std::optional<dfg::DimExpr> size = value.asDim();
  return size ? size->str() : "";
}

std::string Elaborator::namesIn(const ast::Expr &fact) {
  std::vector<std::string> texts;
  forEachName(&fact, [&](const ast::NameExpr &name) {
    std::optional<Entity> value = lookup(name.name, name.range);
    std::string text = value ? staticText(*value) : "";
    std::string said = (name.name + " = " + text).str();
    if (!text.empty() && text != name.name && !is_contained(texts, said))
      texts.push_back(said);
  });
  return join(texts, ", ");
}

bool Elaborator::checkWhere(ArrayRef<ast::Expr *> facts, const std::string &what) {
  bool ok = true;
  for (const ast::Expr *fact : facts) {
    std::optional<Entity> size = factValue(fact);
    if (!size || size->isPoison()) {
      ok = false;
      continue;
    }
    if (const bool *known = size->get<bool>()) {
      if (!*known) {
        std::string got = namesIn(*fact);
        error(frame->callSite.isValid() ? frame->callSite : fact->range, "false-fact",
              what + " needs " + sources.oneLine(fact->range) + (got.empty() ? "" : ", but got ") +
                  got)
            .note(fact->range, "stated here");
        ok = false;
      }
    }
  }
  return ok;
}

} // namespace tfc::text
