// Elaborates functions without callers under several assumptions about sizes and types. It reports
// only errors that do not depend on these, and drops the operations.
#include "frontend/text/elaborate/UncalledChecker.h"

#include "frontend/text/elaborate/CallEvaluator.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/FactSolver.h"
#include "frontend/text/elaborate/ParameterBinder.h"
#include "frontend/text/elaborate/PartInstantiator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

struct UncalledChecker::Assumption {
  /// If true, sizes are independent names; else they are numbers with many divisors.
  bool isSymbolic;
  /// The element types assumed for floating-point, integer and unconstrained type variables.
  StringLiteral floating, integer, other;
  /// The number of axes that `..s` stands for.
  unsigned rank;
  bool flag;
};

static constexpr int64_t kAssumedSize = 8;

//===----------------------------------------------------------------------===//
// Assumed parameters
//===----------------------------------------------------------------------===//

/// Returns true if a fact `predicate(name)` is stated.
static bool isStated(ArrayRef<ast::Expr *> facts, StringRef predicate, StringRef name) {
  return any_of(facts, [&](const ast::Expr *fact) {
    const auto *call = dyn_cast<ast::CallExpr>(fact);
    const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
    const auto *subject =
        call && call->args.size() == 1 ? dyn_cast<ast::NameExpr>(call->args[0].value) : nullptr;
    return callee && subject && callee->name == predicate && subject->name == name;
  });
}

bool UncalledChecker::assumeElement(const ast::Type &type, ArrayRef<ast::Expr *> facts,
                                    const Assumption &assumption) {
  if (type.kind != ast::TypeKind::Named)
    return type.kind == ast::TypeKind::DType;
  if (typeEvaluator.sizeName(type.name, type.baseRange))
    return true;
  StringRef element = isStated(facts, "is_float", type.name) ? assumption.floating
                      : isStated(facts, "is_int", type.name) ? assumption.integer
                                                             : assumption.other;
  typeEvaluator.bindSize(type.name, Entity(elementTypeByName(context.mlir, element)),
                         type.baseRange);
  return true;
}

/// Assigns values to unbound names in a size; those of a part are numbers, because its variables
/// have static shapes.
void UncalledChecker::assumeSize(const ast::Expr *size, const Assumption &assumption) {
  SmallVector<StringRef> names;
  typeEvaluator.collectUnbound(size, names);
  for (StringRef name : names) {
    bool isNumber = !assumption.isSymbolic ||
                    (context.activation->self && context.activation->self->sizes.contains(name));
    Entity value = isNumber ? Entity(kAssumedSize) : Entity(dfg::DimExpr::symbol(name));
    if (name == "_")
      context.activation->locals[name] = {value, size->range, nullptr};
    else
      typeEvaluator.bindSize(name, value, size->range);
    if (!isNumber && context.entry.header)
      context.entry.header->symbols.push_back(name.str());
  }
}

std::optional<TensorType> UncalledChecker::assumeType(const ast::Type &type,
                                                      ArrayRef<ast::Expr *> facts,
                                                      const Assumption &assumption) {
  if (!assumeElement(type, facts, assumption))
    return std::nullopt;
  for (const ast::IndexItem &item : type.items) {
    const auto *name = dyn_cast_or_null<ast::NameExpr>(item.value);
    if (item.kind == ast::IndexItemKind::Element) {
      assumeSize(item.value, assumption);
    } else if (item.kind == ast::IndexItemKind::Rest && name &&
               !typeEvaluator.sizeName(name->name, name->range)) {
      dfg::Shape shape;
      for (unsigned i = 0; i < assumption.rank; ++i)
        shape.push_back(assumption.isSymbolic
                            ? dfg::DimExpr::symbol((name->name + std::to_string(i)).str())
                            : dfg::DimExpr(kAssumedSize));
      typeEvaluator.bindSize(name->name, Entity::shape(shape), name->range);
    } else if (!item.value) {
      return std::nullopt;
    }
  }
  return typeEvaluator.evalType(type);
}

bool UncalledChecker::assumeStatic(const ast::Param &param, const Assumption &assumption) {
  std::optional<Entity> value;
  if (param.defaultValue) {
    value = typeEvaluator.convertStatic(
        param, {{}, param.defaultValue, param.range, evaluator.eval(param.defaultValue)});
  } else if (isTypeArgument(param)) {
    if (std::optional<TensorType> type = assumeType(*param.type, {}, assumption))
      value = Entity(*type);
  } else if (param.type->kind == ast::TypeKind::Dim) {
    bool isNumber = !assumption.isSymbolic || !context.activation->fn;
    value = isNumber ? Entity(kAssumedSize) : Entity(dfg::DimExpr::symbol(param.name.text));
  } else {
    value = parameterBinder.plausibleStatic(param, assumption.flag);
  }
  if (!value)
    return false;
  context.activation->locals[param.name.text] = {*value, param.name.range, param.type};
  return true;
}

Instance *UncalledChecker::assumeInstance(const ast::PartDecl &decl, const Assumption &assumption) {
  Instance &instance = context.program.instances.emplace_back();
  instance.part = {&decl, context.program.mainModule};
  instance.path = decl.name.text.str();
  instance.at = decl.name.range;
  instance.activation = context.newActivation(context.program.mainModule, &instance);
  SaveAndRestore<Activation *> inner(context.activation, instance.activation.get());
  for (const ast::Param &param : decl.params) {
    if (!assumeStatic(param, assumption))
      return nullptr;
    instance.params[param.name.text] = context.activation->locals[param.name.text].value;
  }
  if (!partInstantiator.declare(instance, {}))
    return nullptr;
  partInstantiator.collectSizeNames(instance);
  return factChecker.checkWhere(decl.where, "") ? &instance : nullptr;
}

//===----------------------------------------------------------------------===//
// One assumption
//===----------------------------------------------------------------------===//

/// Elaborates the function; false if it cannot be called like that.
bool UncalledChecker::elaborateAssuming(const ast::FnDecl &fn, const ast::PartDecl *part,
                                        const Assumption &assumption) {
  Instance *self = part ? assumeInstance(*part, assumption) : nullptr;
  if (part &&
      (!self || !self->members.contains(fn.name.text) || self->members[fn.name.text].stmt != &fn))
    return false;
  std::shared_ptr<Activation> body = context.newActivation(context.program.mainModule, self);
  body->fn = &fn;
  SaveAndRestore<Activation *> inner(context.activation, body.get());
  for (const ast::Param &param : fn.params)
    if (param.isStatic && !assumeStatic(param, assumption))
      return false;
  SmallVector<TensorType> types;
  for (const ast::Param &param : fn.params) {
    if (param.isStatic)
      continue;
    Assumption used = assumption;
    used.isSymbolic &= !param.isVar;
    if (isStaticType(*param.type) || !assumeType(*param.type, fn.where, used))
      return false;
  }
  factSolver.solve(SmallVector<const ast::Expr *>(fn.where.begin(), fn.where.end()));
  for (const ast::Param &param : fn.params) {
    std::optional<TensorType> type;
    if (!param.isStatic && !(type = typeEvaluator.evalType(*param.type)))
      return false;
    mlir::RankedTensorType tensor = type ? dfg::tensorOf(type->shape, type->element) : nullptr;
    if (param.isVar && !tensor.hasStaticShape())
      return false;
    if (param.isVar)
      context.activation->locals[param.name.text] = {
          Entity(&context.program.variables.emplace_back(Variable{param.name.text.str(),
                                                                  tensor,
                                                                  false,
                                                                  "",
                                                                  {},
                                                                  nullptr,
                                                                  reporter.locate(param.range)})),
          param.name.range, param.type};
    else if (tensor)
      context.entry.header->feeds.push_back(
          {param.name.text.str(), tensor, reporter.locate(param.name.range)});
  }
  if (!factChecker.checkWhere(fn.where, ""))
    return false;
  dfg::EntryOp entry =
      context.builder.beginEntry(*context.entry.header, reporter.locate(fn.name.range));
  auto arguments = entry.getBody().getArguments().begin();
  for (const ast::Param &param : fn.params)
    if (!param.isStatic && !param.isVar)
      context.activation->locals[param.name.text] = {Entity(mlir::Value(*arguments++)),
                                                     param.name.range, param.type};
  callEvaluator.runBody(*body, {});
  context.builder.dropEntry();
  return true;
}

/// The errors in the function under an assumption; std::nullopt if it cannot be called like that.
std::optional<std::vector<Diagnostic>>
UncalledChecker::checkAssuming(const ast::FnDecl &fn, const ast::PartDecl *part,
                               const Assumption &assumption) {
  EntryHeader header;
  header.name = fn.name.text.str();
  SaveAndRestore<EntryHeader *> current(context.entry.header, &header);
  SaveAndRestore<std::string> name(context.entry.name, header.name);
  size_t variablesBefore = context.program.variables.size();
  llvm::scope_exit forget([&] {
    for (size_t i = variablesBefore; i < context.program.variables.size(); ++i) {
      const Variable &variable = context.program.variables[i];
      if (context.program.variablesByPath.lookup(variable.path) == &variable)
        context.program.variablesByPath.erase(variable.path);
      if (context.program.variablesByFormerName.lookup(variable.formerly) == &variable)
        context.program.variablesByFormerName.erase(variable.formerly);
    }
  });
  Reporter::Reported outerReported = reporter.exchangeReported({});
  llvm::scope_exit restore([&] { reporter.exchangeReported(std::move(outerReported)); });
  context.entry.number = ++context.entriesSoFar;
  context.bindingName.clear();
  context.entry.reads.clear();
  context.entry.draws.clear();
  context.entry.callNumber = nullptr;
  context.entry.lowerBounds.clear();
  context.entry.runTimeSizes.clear();
  context.entry.newSizes = 0;
  context.expected.reset();
  size_t before = context.diagnostics.size();
  bool isPossible = elaborateAssuming(fn, part, assumption);
  context.entry.number = 0;
  std::vector<Diagnostic> errors = context.diagnostics.takeBack(before);
  return isPossible ? std::optional(std::move(errors)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Interpreting the errors
//===----------------------------------------------------------------------===//

void UncalledChecker::warnUnchecked(const ast::FnDecl &fn, const ast::PartDecl *part) {
  std::string name = fmt::format("'{}'", fn.name.text);
  if (part)
    name += fmt::format(" of '{}'", part->name.text);
  context.diagnostics
      .warning(fn.name.range, "expansion-limit",
               "{} and the functions after it are not checked: checking functions that nothing "
               "calls takes {}",
               name, context.budget.describeLimit())
      .help("{}=N allows more", context.budget.limitOption());
}

/// Returns true if the error occurs for all sizes and types.
static bool isAlwaysWrong(StringRef slug) {
  return StringSwitch<bool>(slug)
      .Cases({"attribute", "attribute-type", "bad-step", "division-by-zero"}, true)
      .Cases({"duplicate-argument", "missing-argument", "unknown-argument", "unknown-name"}, true)
      .Cases({"missing-return", "misplaced", "no-value", "not-callable"}, true)
      .Cases({"private-name", "shadows-variable", "unknown-type", "unnamed-state"}, true)
      .Cases({"not-yet", "recursion", "unknown-file", "bad-annotation"}, true)
      .Default(false);
}

/// Returns true if other sizes could avoid an error that occurs under all assumptions.
static bool mayDependOnSizes(const Diagnostic &diagnostic) {
  if (diagnostic.isForAllSizes)
    return false;
  return StringSwitch<bool>(diagnostic.slug)
      .Cases({"axis", "dtype", "einsum-label", "literal-type", "not-a-group"}, false)
      .Cases({"not-a-tensor", "not-a-variable", "not-static", "operand-kind", "operands"}, false)
      .Cases({"rank", "static-type", "wrong-count", "not-a-tensor-type"}, false)
      .Default(true);
}

void UncalledChecker::checkUncalled(const ast::FnDecl &fn, const ast::PartDecl *part) {
  static constexpr Assumption kAssumptions[] = {
      {true, "f32", "i32", "f32", 2, true},  {false, "f64", "i64", "f64", 1, false},
      {true, "f32", "i32", "i32", 3, true},  {false, "f32", "u8", "f32", 4, false},
      {true, "f16", "i8", "bool", 1, false}, {false, "f32", "i32", "f32", 0, true}};
  context.budget.beginPart();
  std::vector<std::vector<Diagnostic>> runs;
  for (const Assumption &assumption : kAssumptions)
    if (auto errors =
            context.budget.isStopped() ? std::nullopt : checkAssuming(fn, part, assumption))
      runs.push_back(std::move(*errors));
  if (context.budget.isStopped()) {
    // The call may not have been reached.
    if (context.budget.isExceeded() && !context.program.hasFailedEntries)
      warnUnchecked(fn, part);
    return;
  }
  SourceRange whole = part ? part->range : fn.range;
  for (const ast::Annotation &annotation : part ? part->annotations : fn.annotations)
    whole.begin = std::min(whole.begin, annotation.range.begin);
  for (const std::vector<Diagnostic> &run : runs)
    for (const Diagnostic &found : run) {
      bool isInside =
          found.at.file == whole.file && found.at.begin >= whole.begin && found.at.end <= whole.end;
      bool isEverywhere = all_of(runs, [&](const std::vector<Diagnostic> &other) {
        return any_of(other, [&](const Diagnostic &diagnostic) {
          return diagnostic.at == found.at && diagnostic.slug == found.slug;
        });
      });
      bool isCertain = isAlwaysWrong(found.slug) || (isEverywhere && !mayDependOnSizes(found));
      if (!isInside || !isCertain || !reporter.isFirst(found.at, found.slug))
        continue;
      Diagnostic diagnostic = found;
      diagnostic.call(fn.name.range, "{}{}'{}",
                      context.program.hasFailedEntries ? "no call reaches '" : "nothing calls '",
                      fn.name.text,
                      isAlwaysWrong(found.slug) ? "" : ", so its sizes and types are assumed");
      context.diagnostics.add(std::move(diagnostic));
    }
}

void UncalledChecker::checkUncalled() {
  // If statements of a file are missing, errors in the rest may be spurious.
  if (context.program.mainModule->hasSyntaxErrors || context.budget.isStopped())
    return;
  SaveAndRestore<bool> assuming(context.budget.isAssuming, true);
  context.budget.restart(context.builder.getOperationCount());
  DenseSet<const ast::FnDecl *> called = context.program.expanded;
  for (const ast::Stmt *item : context.program.mainModule->file->items) {
    if (const auto *fn = dyn_cast<ast::FnDecl>(item); fn && !fn->isEntry && !called.contains(fn))
      checkUncalled(*fn, nullptr);
    if (context.budget.isStopped())
      return;
    const auto *part = dyn_cast<ast::PartDecl>(item);
    for (const ast::Stmt *member : part ? part->members : ArrayRef<ast::Stmt *>())
      if (const auto *fn = dyn_cast<ast::FnDecl>(member); fn && !called.contains(fn))
        checkUncalled(*fn, part);
  }
}

} // namespace tfc::text
