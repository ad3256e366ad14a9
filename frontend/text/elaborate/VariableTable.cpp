// Declares variables, and the slots that optimizers keep for them.
#include "frontend/text/elaborate/VariableTable.h"

#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/Slicer.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

bool isFrozen(const ast::Stmt &stmt) { return findAnnotation(stmt, "frozen"); }

/// The name in `@was("name")`; empty without one.
std::string VariableTable::formerName(const ast::Stmt &stmt) {
  const ast::Annotation *annotation = findAnnotation(stmt, "was");
  if (!annotation)
    return {};
  const auto *text = annotation->args.size() == 1
                         ? dyn_cast<ast::StringExpr>(annotation->args.front().value)
                         : nullptr;
  if (text && text->literal())
    return text->literal()->str();
  reporter.error(annotation->range, "bad-annotation",
                 "'@was' takes the old name, as in @was(\"fc1\")");
  return {};
}

/// The type of a variable declared without one, inferred from its initial value.
std::optional<TensorType> VariableTable::typeOfInitializer(const ast::VarDecl &decl) {
  const ast::Expr *init = decl.init;
  if (const auto *call = dyn_cast<ast::CallExpr>(init))
    if (!call->args.empty() && isa<ast::IndexExpr, ast::DTypeExpr>(call->args.front().value)) {
      Entity type = evaluator.eval(call->args.front().value);
      if (const TensorType *tensorType = type.get<TensorType>())
        return *tensorType;
      if (const mlir::Type *element = type.get<mlir::Type>())
        return TensorType{*element, {}};
    }
  bool isLoad = isa<ast::CallExpr>(init) && isa<ast::NameExpr>(cast<ast::CallExpr>(init)->callee) &&
                cast<ast::NameExpr>(cast<ast::CallExpr>(init)->callee)->name == "load";
  if (isLoad || isa<ast::IntExpr, ast::FloatExpr, ast::BoolExpr, ast::UnaryExpr>(init)) {
    Entity value = evaluator.eval(init);
    mlir::Builder b(context.mlir);
    if (value.is<int64_t>())
      return TensorType{b.getI32Type(), {}};
    if (value.is<double>())
      return TensorType{b.getF32Type(), {}};
    if (value.is<bool>())
      return TensorType{b.getI1Type(), {}};
    if (const Constant *constant = value.get<Constant>())
      return TensorType{constant->value.getElementType(),
                        dfg::shapeOf(constant->value.getShapedType())};
    if (value.isPoison())
      return std::nullopt;
  }
  reporter.error(decl.name.range, "missing-type", "'{}' needs a type", decl.name.text)
      .help("as in var {}: f32[4] = ...", decl.name.text);
  return std::nullopt;
}

Variable *VariableTable::declareVariable(const ast::VarDecl &decl, const LetName &name,
                                         std::shared_ptr<Activation> initActivation) {
  SaveAndRestore<Activation *> inner(context.activation, initActivation.get());
  SaveAndRestore<std::string> outer(context.bindingName, "");
  context.expected.reset();
  std::optional<TensorType> type =
      decl.type ? typeEvaluator.evalType(*decl.type) : typeOfInitializer(decl);
  if (!type)
    return nullptr;
  mlir::RankedTensorType tensorType = dfg::tensorOf(type->shape, type->element);
  if (!tensorType.hasStaticShape()) {
    reporter.error(decl.type ? decl.type->range : decl.name.range, "dynamic-variable",
                   "a variable needs sizes known at compile time, but '{}' is {}", decl.name.text,
                   dfg::toText(tensorType));
    return nullptr;
  }
  if (auto it = context.program.variablesByPath.find(name.path);
      it != context.program.variablesByPath.end()) {
    Variable *other = it->second;
    if (other->decl == &decl && other->type == tensorType)
      return other;
    Diagnostic &diagnostic =
        reporter.error(decl.name.range, "duplicate-name", "two variables are named '{}'", name.path)
            .note(other->decl->name.range, "the other one, {}", dfg::toText(other->type));
    if (other->decl->name.range.file != decl.name.range.file)
      diagnostic.help("variables of a used file are named after its 'graph' line: change one");
    return nullptr;
  }
  bool isHeld = name.isFrozen || isFrozen(decl);
  Variable &variable = context.program.variables.emplace_back(
      Variable{name.path, tensorType, isHeld, name.formerly, name.order, &decl,
               reporter.locate(decl.name.range)});
  if (std::string former = formerName(decl); !former.empty()) {
    variable.formerly = renameLast(variable.formerly.empty() ? variable.path : variable.formerly,
                                   decl.name.text, former);
  }
  if (!variable.formerly.empty()) {
    auto [it, isNew] =
        context.program.variablesByFormerName.try_emplace(variable.formerly, &variable);
    if (Variable *twin = it->second; !isNew)
      reporter
          .error(decl.name.range, "duplicate-name", "two variables were named '{}'",
                 variable.formerly)
          .note(twin->decl->name.range, "the other one, {}", dfg::toText(twin->type));
  }
  variable.placement = placer.read(decl.annotations, name.placement);
  variable.slice = slicer.read(decl, tensorType, name.whole);
  context.program.variablesByPath[variable.path] = &variable;
  context.program.initializers.push_back({&variable, decl.init, std::move(initActivation)});
  return &variable;
}

Entity VariableTable::declareSlot(const ast::VarDecl &decl, Activation &declaring) {
  moduleLoader.checkAnnotations(decl, kVariableAnnotations);
  if (!declaring.self) {
    reporter
        .error(decl.name.range, "unnamed-state",
               "a function at file level cannot declare variables")
        .help("declare '{}' at file level, or in a part", decl.name.text);
    return Poison();
  }
  if (declaring.loopVariables.empty()) {
    reporter
        .error(decl.name.range, "unnamed-state",
               "a function can declare variables only in a 'static for' over variables")
        .help("declare '{}' among the members of the part", decl.name.text);
    return Poison();
  }
  LetName name;
  name.path = fmt::format("{}.{}", declaring.self->path, decl.name.text);
  name.placement = declaring.self->placement;
  name.order = declaring.self->order;
  name.order.push_back(~0u);
  name.order.push_back(decl.name.range.begin);
  std::string former = fmt::format(
      "{}.{}", declaring.self->formerly.empty() ? declaring.self->path : declaring.self->formerly,
      decl.name.text.str());
  std::string whole = fmt::format(
      "{}.{}", declaring.self->whole.empty() ? declaring.self->path : declaring.self->whole,
      decl.name.text.str());
  for (Variable *variable : declaring.loopVariables) {
    name.path += "/" + variable->path;
    whole += "/" + (variable->slice ? variable->slice.getWhole().str() : variable->path);
    former += "/" + (variable->formerly.empty() ? variable->path : variable->formerly);
    name.order.append(variable->order.begin(), variable->order.end());
  }
  if (former != name.path)
    name.formerly = former;
  if (whole != name.path)
    name.whole = whole;
  auto initActivation = std::make_shared<Activation>(declaring);
  initActivation->block = nullptr;
  initActivation->dataflow = nullptr;
  context.program.keptActivations.push_back(initActivation);
  Variable *variable = declareVariable(decl, name, initActivation);
  if (variable && variable->slice && !findAnnotation(decl, "slice"))
    variable->slice = slicer.ofSlot(variable->type, name.whole, *declaring.loopVariables.back());
  Entity value = variable ? Entity(variable) : Entity();
  binder.bindLocal(decl.name, value, decl.type);
  return value;
}

} // namespace tfc::text
