// Functions are checked where they are called. Those that nothing calls are checked here, with
// assumed sizes and types, and nothing is kept of what that builds. As callers might give others,
// an error counts only if no assumption avoids it, or if it does not depend on them at all.
#include "frontend/text/ElaborateImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

struct Elaborator::Assumption {
  /// Sizes are independent names; else they are numbers with many divisors.
  bool isSymbolic;
  /// The element types of what must be floating or integer, and of what may be anything.
  StringLiteral floating, integer, other;
  /// The number of axes that `..s` stands for.
  unsigned rank;
  bool flag;
};

static constexpr int64_t kAssumedSize = 8;

//===----------------------------------------------------------------------===//
// Assumed parameters
//===----------------------------------------------------------------------===//

/// Whether a fact `predicate(name)` is stated.
static bool isStated(ArrayRef<ast::Expr *> facts, StringRef predicate, StringRef name) {
  return any_of(facts, [&](const ast::Expr *fact) {
    const auto *call = dyn_cast<ast::CallExpr>(fact);
    const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
    const auto *subject =
        call && call->args.size() == 1 ? dyn_cast<ast::NameExpr>(call->args[0].value) : nullptr;
    return callee && subject && callee->name == predicate && subject->name == name;
  });
}

bool Elaborator::assumeElement(const ast::Type &type, ArrayRef<ast::Expr *> facts,
                               const Assumption &assumption) {
  if (type.kind != ast::TypeKind::Named)
    return type.kind == ast::TypeKind::DType;
  if (sizeName(type.name, type.baseRange))
    return true;
  StringRef element = isStated(facts, "is_float", type.name) ? assumption.floating
                      : isStated(facts, "is_int", type.name) ? assumption.integer
                                                             : assumption.other;
  bindSize(type.name, Entity(elementTypeByName(context, element)), type.baseRange);
  return true;
}

/// Gives the names in a size that mean nothing yet a value; those of a part are numbers, as its
/// variables have them.
void Elaborator::assumeSize(const ast::Expr *size, const Assumption &assumption) {
  SmallVector<StringRef> names;
  collectUnbound(size, names);
  for (StringRef name : names) {
    bool isNumber = !assumption.isSymbolic || (frame->self && frame->self->sizes.contains(name));
    Entity value = isNumber ? Entity(kAssumedSize) : Entity(dfg::DimExpr::symbol(name));
    if (name == "_")
      frame->locals[name] = {value, size->range, nullptr};
    else
      bindSize(name, value, size->range);
    if (!isNumber && entryHeader)
      entryHeader->symbols.push_back(name.str());
  }
}

std::optional<TensorType> Elaborator::assumeType(const ast::Type &type, ArrayRef<ast::Expr *> facts,
                                                 const Assumption &assumption) {
  if (!assumeElement(type, facts, assumption))
    return std::nullopt;
  for (const ast::IndexItem &item : type.items) {
    const auto *name = dyn_cast_or_null<ast::NameExpr>(item.value);
    if (item.kind == ast::IndexItemKind::Element) {
      assumeSize(item.value, assumption);
    } else if (item.kind == ast::IndexItemKind::Rest && name &&
               !sizeName(name->name, name->range)) {
      dfg::Shape shape;
      for (unsigned i = 0; i < assumption.rank; ++i)
        shape.push_back(assumption.isSymbolic
                            ? dfg::DimExpr::symbol((name->name + std::to_string(i)).str())
                            : dfg::DimExpr(kAssumedSize));
      bindSize(name->name, Entity::shape(shape), name->range);
    } else if (!item.value) {
      return std::nullopt;
    }
  }
  return evalType(type);
}

bool Elaborator::assumeStatic(const ast::Param &param, const Assumption &assumption) {
  std::optional<Entity> value;
  if (param.defaultValue) {
    value = convertStatic(param, {{}, param.defaultValue, param.range, eval(param.defaultValue)});
  } else if (isTypeArgument(param)) {
    if (std::optional<TensorType> type = assumeType(*param.type, {}, assumption))
      value = Entity(*type);
  } else if (param.type->kind == ast::TypeKind::Dim) {
    bool isNumber = !assumption.isSymbolic || !frame->fn;
    value = isNumber ? Entity(kAssumedSize) : Entity(dfg::DimExpr::symbol(param.name.text));
  } else {
    value = plausibleStatic(param, assumption.flag);
  }
  if (!value)
    return false;
  frame->locals[param.name.text] = {*value, param.name.range, param.type};
  return true;
}

Instance *Elaborator::assumeInstance(const ast::PartDecl &decl, const Assumption &assumption) {
  Instance &instance = instances.emplace_back();
  instance.part = {&decl, mainModule};
  instance.path = decl.name.text.str();
  instance.at = decl.name.range;
  instance.frame = newFrame(mainModule, &instance);
  SaveAndRestore<Frame *> inner(frame, instance.frame.get());
  for (const ast::Param &param : decl.params) {
    if (!assumeStatic(param, assumption))
      return nullptr;
    instance.params[param.name.text] = frame->locals[param.name.text].value;
  }
  if (!declareMembers(instance, decl.members))
    return nullptr;
  collectSizeNames(instance);
  return checkWhere(decl.where, "") ? &instance : nullptr;
}

//===----------------------------------------------------------------------===//
// One assumption
//===----------------------------------------------------------------------===//

/// Elaborates the function; false if it cannot be called like that.
bool Elaborator::elaborateAssuming(const ast::FnDecl &fn, const ast::PartDecl *part,
                                   const Assumption &assumption) {
  Instance *self = part ? assumeInstance(*part, assumption) : nullptr;
  if (part &&
      (!self || !self->members.contains(fn.name.text) || self->members[fn.name.text].stmt != &fn))
    return false;
  std::shared_ptr<Frame> body = newFrame(mainModule, self);
  body->fn = &fn;
  SaveAndRestore<Frame *> inner(frame, body.get());
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
  for (const ast::Expr *fact : fn.where)
    substituteEquality(fact);
  for (const ast::Param &param : fn.params) {
    std::optional<TensorType> type;
    if (!param.isStatic && !(type = evalType(*param.type)))
      return false;
    mlir::RankedTensorType tensor = type ? dfg::tensorOf(type->shape, type->element) : nullptr;
    if (param.isVar && !tensor.hasStaticShape())
      return false;
    if (param.isVar)
      frame->locals[param.name.text] = {
          Entity(&variables.emplace_back(Variable{
              param.name.text.str(), tensor, false, "", {}, nullptr, locate(param.range)})),
          param.name.range, param.type};
    else if (tensor)
      entryHeader->feeds.push_back({param.name.text.str(), tensor, locate(param.name.range)});
  }
  if (!checkWhere(fn.where, ""))
    return false;
  dfg::EntryOp entry = builder.beginEntry(*entryHeader, locate(fn.name.range));
  auto arguments = entry.getBody().getArguments().begin();
  for (const ast::Param &param : fn.params)
    if (!param.isStatic && !param.isVar)
      frame->locals[param.name.text] = {Entity(mlir::Value(*arguments++)), param.name.range,
                                        param.type};
  runBody(*body);
  builder.dropEntry();
  return true;
}

/// The errors in the function under an assumption; nothing if it cannot be called like that.
std::optional<std::vector<Diagnostic>> Elaborator::checkAssuming(const ast::FnDecl &fn,
                                                                 const ast::PartDecl *part,
                                                                 const Assumption &assumption) {
  EntryHeader header;
  header.name = fn.name.text.str();
  SaveAndRestore<EntryHeader *> current(entryHeader, &header);
  SaveAndRestore<std::string> name(entryName, header.name);
  size_t variablesBefore = variables.size();
  llvm::scope_exit forget([&] {
    for (size_t i = variablesBefore; i < variables.size(); ++i) {
      const Variable &variable = variables[i];
      if (variablesByPath.lookup(variable.path) == &variable)
        variablesByPath.erase(variable.path);
      if (variablesByFormerName.lookup(variable.formerly) == &variable)
        variablesByFormerName.erase(variable.formerly);
    }
  });
  SaveAndRestore<decltype(reported)> fresh(reported, {});
  entryNumber = ++entriesSoFar;
  bindingName.clear();
  reads.clear();
  draws.clear();
  callNumber = nullptr;
  lowerBounds.clear();
  runTimeSizes.clear();
  newSizes = 0;
  expected.reset();
  size_t before = diagnostics.size();
  bool isPossible = elaborateAssuming(fn, part, assumption);
  entryNumber = 0;
  std::vector<Diagnostic> errors = diagnostics.takeBack(before);
  return isPossible ? std::optional(std::move(errors)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What the errors tell
//===----------------------------------------------------------------------===//

void Elaborator::warnUnchecked(const ast::FnDecl &fn, const ast::PartDecl *part) {
  std::string name = "'" + fn.name.text.str() + "'";
  if (part)
    name += " of '" + part->name.text.str() + "'";
  diagnostics
      .warning(fn.name.range, "expansion-limit",
               name + " and the functions after it are not checked: checking functions that " +
                   "nothing calls takes " + budget.describeLimit())
      .help(budget.limitOption() + "=N allows more");
}

/// Whether what is wrong is wrong for all sizes and types.
static bool isAlwaysWrong(StringRef slug) {
  return StringSwitch<bool>(slug)
      .Cases({"attribute", "attribute-type", "bad-step", "division-by-zero"}, true)
      .Cases({"duplicate-argument", "missing-argument", "unknown-argument", "unknown-name"}, true)
      .Cases({"missing-return", "misplaced", "no-value", "not-callable"}, true)
      .Cases({"private-name", "shadows-variable", "unknown-type", "unnamed-state"}, true)
      .Cases({"not-yet", "recursion", "unknown-file", "bad-annotation"}, true)
      .Default(false);
}

/// "a is f32[..], but got i32[n]": whether the element types differ, or the ranks.
static bool hasOtherKind(StringRef text) {
  auto [declared, got] = text.split(" is ").second.split(", but got ");
  got = got.split(", and ").first;
  auto base = [](StringRef type) { return type.split('[').first; };
  auto isElement = [](StringRef name) {
    return name.contains_insensitive("bool") || isDigit(name.back());
  };
  if (declared.empty() || got.empty())
    return false;
  if (isElement(base(declared)) && base(declared) != base(got))
    return true;
  bool isScalar = !declared.contains('['), isGotScalar = !got.contains('[');
  return !declared.contains("..") &&
         (isScalar != isGotScalar || declared.count(',') != got.count(','));
}

/// Whether other sizes could avoid an error that all assumptions meet.
static bool mayDependOnSizes(const Diagnostic &diagnostic) {
  StringRef slug = diagnostic.slug, text = diagnostic.text;
  if (slug == "type-mismatch")
    return !hasOtherKind(text);
  if (slug == "number-range")
    return !text.contains(" is out of range for ");
  if (slug == "inner-dimensions")
    return !text.contains(" expects ");
  if (slug == "unequal-dimensions")
    return !text.contains(" expects sizes that are equal or 1");
  return StringSwitch<bool>(slug)
      .Cases({"axis", "dtype", "einsum-label", "literal-type", "not-a-group"}, false)
      .Cases({"not-a-tensor", "not-a-variable", "not-static", "operand-kind", "operands"}, false)
      .Cases({"rank", "static-type", "wrong-count", "not-a-tensor-type"}, false)
      .Default(true);
}

void Elaborator::checkUncalled(const ast::FnDecl &fn, const ast::PartDecl *part) {
  static constexpr Assumption kAssumptions[] = {
      {true, "f32", "i32", "f32", 2, true},  {false, "f64", "i64", "f64", 1, false},
      {true, "f32", "i32", "i32", 3, true},  {false, "f32", "u8", "f32", 4, false},
      {true, "f16", "i8", "bool", 1, false}, {false, "f32", "i32", "f32", 0, true}};
  budget.beginPart();
  std::vector<std::vector<Diagnostic>> runs;
  for (const Assumption &assumption : kAssumptions)
    if (auto errors = budget.isStopped() ? std::nullopt : checkAssuming(fn, part, assumption))
      runs.push_back(std::move(*errors));
  if (budget.isStopped()) {
    // A call may just not have been reached.
    if (budget.isExceeded() && !hasFailedEntries)
      warnUnchecked(fn, part);
    return;
  }
  SourceRange whole = part ? part->range : fn.range;
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
      auto key = std::tuple(found.at.file, found.at.begin, found.at.end, found.slug);
      if (!isInside || !isCertain || !reported.insert(key).second)
        continue;
      Diagnostic diagnostic = found;
      diagnostic.call(
          fn.name.range,
          (hasFailedEntries ? "no call reaches '" : "nothing calls '") + fn.name.text + "'" +
              (isAlwaysWrong(found.slug) ? "" : ", so its sizes and types are assumed"));
      diagnostics.add(std::move(diagnostic));
    }
}

void Elaborator::checkUncalled() {
  // Of a file with missing statements, what is left may be right.
  if (mainModule->hasSyntaxErrors || budget.isStopped())
    return;
  SaveAndRestore<bool> assuming(budget.isAssuming, true);
  budget.restart(builder.getOperationCount());
  DenseSet<const ast::FnDecl *> called = expanded;
  for (const ast::Stmt *item : mainModule->file->items) {
    if (const auto *fn = dyn_cast<ast::FnDecl>(item); fn && !fn->isEntry && !called.contains(fn))
      checkUncalled(*fn, nullptr);
    if (budget.isStopped())
      return;
    const auto *part = dyn_cast<ast::PartDecl>(item);
    for (const ast::Stmt *member : part ? part->members : ArrayRef<ast::Stmt *>())
      if (const auto *fn = dyn_cast<ast::FnDecl>(member); fn && !called.contains(fn))
        checkUncalled(*fn, part);
  }
}

} // namespace tfc::text
