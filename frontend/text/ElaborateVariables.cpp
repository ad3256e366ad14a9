#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

static const ast::Annotation *findAnnotation(const ast::Stmt &stmt, StringRef name) {
  const auto *it = find_if(stmt.annotations, [&](const ast::Annotation &annotation) {
    return annotation.name.text == name;
  });
  return it == stmt.annotations.end() ? nullptr : it;
}

bool Elaborator::isFrozen(const ast::Stmt &stmt) { return findAnnotation(stmt, "frozen"); }

/// The old name that `@was("name")` gives; empty without one.
std::string Elaborator::formerName(const ast::Stmt &stmt) {
  const ast::Annotation *annotation = findAnnotation(stmt, "was");
  if (!annotation)
    return {};
  const auto *text = annotation->args.size() == 1
                         ? dyn_cast<ast::StringExpr>(annotation->args.front().value)
                         : nullptr;
  if (text && text->literal())
    return text->literal()->str();
  error(annotation->range, "bad-annotation", "'@was' takes the old name, as in @was(\"fc1\")");
  return {};
}

bool Elaborator::checkAnnotations(const ast::Stmt &stmt, ArrayRef<StringRef> known) {
  bool ok = true;
  for (const ast::Annotation &annotation : stmt.annotations) {
    StringRef name = annotation.name.text;
    if (is_contained(known, name)) {
      bool isOfLoops = name == "recompute" && !isa<ast::FnDecl>(stmt);
      if (is_contained({"device", "colocate", "recompute"}, name) && !isOfLoops) {
        laterWork(annotation.range, ("'@" + name + "'").str());
        ok = false;
      }
      continue;
    }
    ok = false;
    bool isElsewhere = is_contained({"frozen", "was", "device", "colocate", "recompute"}, name);
    Diagnostic &diagnostic = error(annotation.range, "bad-annotation",
                                   isElsewhere ? "'@" + name + "' does not apply to this"
                                               : "there is no annotation '@" + name + "'");
    if (!isElsewhere)
      suggest(diagnostic, name, {"frozen", "was", "device", "colocate", "recompute"});
  }
  return ok;
}

/// The type of a variable that is declared without one, from what its initial value says.
std::optional<TensorType> Elaborator::typeOfInitializer(const ast::VarDecl &decl) {
  const ast::Expr *init = decl.init;
  if (const auto *call = dyn_cast<ast::CallExpr>(init))
    if (!call->args.empty() && isa<ast::IndexExpr, ast::DTypeExpr>(call->args.front().value)) {
      Entity type = eval(call->args.front().value);
      if (const TensorType *tensorType = type.get<TensorType>())
        return *tensorType;
      if (const mlir::Type *element = type.get<mlir::Type>())
        return TensorType{*element, {}};
    }
  bool isLoad = isa<ast::CallExpr>(init) && isa<ast::NameExpr>(cast<ast::CallExpr>(init)->callee) &&
                cast<ast::NameExpr>(cast<ast::CallExpr>(init)->callee)->name == "load";
  if (isLoad || isa<ast::IntExpr, ast::FloatExpr, ast::BoolExpr, ast::UnaryExpr>(init)) {
    Entity value = eval(init);
    mlir::Builder b(context);
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
  error(decl.name.range, "missing-type", "'" + decl.name.text + "' needs a type")
      .help("as in var " + decl.name.text + ": f32[4] = ...");
  return std::nullopt;
}

Variable *Elaborator::declareVariable(const ast::VarDecl &decl, const LetName &name,
                                      std::shared_ptr<Frame> initFrame) {
  SaveAndRestore<Frame *> inner(frame, initFrame.get());
  SaveAndRestore<std::string> outer(bindingName, "");
  expected.reset();
  std::optional<TensorType> type = decl.type ? evalType(*decl.type) : typeOfInitializer(decl);
  if (!type)
    return nullptr;
  mlir::RankedTensorType tensorType = dfg::tensorOf(type->shape, type->element);
  if (!tensorType.hasStaticShape()) {
    error(decl.type ? decl.type->range : decl.name.range, "dynamic-variable",
          "a variable needs sizes known at compile time, but '" + decl.name.text + "' is " +
              dfg::toText(tensorType));
    return nullptr;
  }
  if (auto it = variablesByPath.find(name.path); it != variablesByPath.end()) {
    Variable *other = it->second;
    if (other->decl == &decl && other->type == tensorType)
      return other;
    Diagnostic &diagnostic =
        error(decl.name.range, "duplicate-name", "two variables are named '" + name.path + "'")
            .note(other->decl->name.range, "the other one, " + dfg::toText(other->type));
    if (other->decl->name.range.file != decl.name.range.file)
      diagnostic.help("variables of a used file are called after its 'graph' line: change one");
    return nullptr;
  }
  bool isHeld = name.isFrozen || isFrozen(decl);
  Variable &variable = variables.emplace_back(Variable{name.path, tensorType, isHeld, name.formerly,
                                                       name.order, &decl, locate(decl.name.range)});
  if (std::string former = formerName(decl); !former.empty()) {
    variable.formerly = renameLast(variable.formerly.empty() ? variable.path : variable.formerly,
                                   decl.name.text, former);
  }
  if (!variable.formerly.empty()) {
    auto [it, isNew] = variablesByFormerName.try_emplace(variable.formerly, &variable);
    if (Variable *twin = it->second; !isNew)
      error(decl.name.range, "duplicate-name",
            "two variables were named '" + variable.formerly + "'")
          .note(twin->decl->name.range, "the other one, " + dfg::toText(twin->type));
  }
  variablesByPath[variable.path] = &variable;
  initializers.push_back({&variable, decl.init, std::move(initFrame)});
  return &variable;
}

Entity Elaborator::declareSlot(const ast::VarDecl &decl, Frame &declaring) {
  checkAnnotations(decl, {"frozen", "was"});
  if (!declaring.self) {
    error(decl.name.range, "unnamed-state",
          "a function of a file has no name for variables of its own")
        .help("declare '" + decl.name.text + "' at file level, or in a part");
    return Poison();
  }
  if (declaring.loopVariables.empty()) {
    error(decl.name.range, "unnamed-state",
          "a variable in a function is a slot, one for each variable of a 'static for'")
        .help("declare '" + decl.name.text + "' among the members of the part");
    return Poison();
  }
  LetName name;
  name.path = declaring.self->path + "." + decl.name.text.str();
  name.order = declaring.self->order;
  name.order.push_back(~0u);
  name.order.push_back(decl.name.range.begin);
  std::string former =
      (declaring.self->formerly.empty() ? declaring.self->path : declaring.self->formerly) + "." +
      decl.name.text.str();
  for (Variable *variable : declaring.loopVariables) {
    name.path += "/" + variable->path;
    former += "/" + (variable->formerly.empty() ? variable->path : variable->formerly);
    name.order.append(variable->order.begin(), variable->order.end());
  }
  if (former != name.path)
    name.formerly = former;
  auto initFrame = std::make_shared<Frame>(declaring);
  initFrame->block = nullptr;
  initFrame->dataflow = nullptr;
  keptFrames.push_back(initFrame);
  Variable *variable = declareVariable(decl, name, initFrame);
  Entity value = variable ? Entity(variable) : Entity();
  bindLocal(decl.name, value, decl.type);
  return value;
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

void Elaborator::initialize(const Initializer &initializer) {
  Variable &variable = *initializer.variable;
  SaveAndRestore<Frame *> inner(frame, initializer.frame.get());
  SaveAndRestore<std::string> outer(bindingName, variable.path);
  SaveAndRestore<Variable *> current(initializing, &variable);
  if (!initializer.init) {
    builder.assign(variable.path,
                   builder.scalar(int64_t(0), variable.type.getElementType(), variable.location),
                   variable.location);
    return;
  }
  expected = TensorType{variable.type.getElementType(), dfg::shapeOf(variable.type)};
  Entity value = eval(initializer.init);
  expected.reset();
  mlir::Value tensor = toTensor(value, variable.type.getElementType(), initializer.init->range);
  if (tensor)
    assignVariable(variable, tensor, initializer.init->range);
}

void Elaborator::elaborateInitializers() {
  EntryHeader header;
  header.name = "tfc.init";
  header.isInitializer = true;
  SaveAndRestore<EntryHeader *> current(entryHeader, &header);
  entryNumber = ++entriesSoFar;
  entryName = "init";
  reads.clear();
  draws.clear();
  callNumber = nullptr;
  lowerBounds.clear();
  runTimeSizes.clear();
  newSizes = 0;
  builder.beginEntry(header, mlir::UnknownLoc::get(context));
  forceAll(*mainModule);
  // What this computed of variables is stale: they had no values yet.
  entryNumber = ++entriesSoFar;
  reads.clear();
  // Initial values may make further variables known.
  size_t done = 0;
  while (done < initializers.size()) {
    std::sort(initializers.begin() + done, initializers.end(),
              [](const Initializer &a, const Initializer &b) {
                return a.variable->order < b.variable->order;
              });
    size_t end = initializers.size();
    for (; done < end; ++done)
      initialize(Initializer(initializers[done]));
  }
  builder.finishEntry({}, {}, mlir::UnknownLoc::get(context));
  entryNumber = 0;
  if (budget.isStopped())
    return;
  std::vector<Variable *> ordered;
  for (Variable &variable : variables)
    ordered.push_back(&variable);
  llvm::sort(ordered, [](Variable *a, Variable *b) { return a->order < b->order; });
  for (Variable *variable : ordered)
    builder.createVariable(variable->path, variable->type, variable->isFrozen, variable->formerly,
                           variable->location);
  createQueues();
}

} // namespace tfc::text
