// Calls functions of shipped graph files without source text, for frontends of other formats.
#include "frontend/text/elaborate/LibraryCalls.h"

#include "frontend/text/elaborate/Elaborator.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Calls without syntax
//===----------------------------------------------------------------------===//

Module *Elaborator::loadShipped(StringRef file) {
  if (!context.program.prelude)
    context.program.prelude = moduleLoader.loadShipped("prelude", {});
  return moduleLoader.loadShipped(file, {});
}

std::optional<Function> Elaborator::findShipped(StringRef file, StringRef name) {
  Module *module = loadShipped(file);
  auto found = module ? module->declarations.find(name) : StringMap<Declaration>::iterator();
  if (!module || found == module->declarations.end())
    return std::nullopt;
  const auto *fn = dyn_cast_or_null<ast::FnDecl>(found->second.stmt);
  return fn ? std::optional(Function{fn, module, nullptr}) : std::nullopt;
}

/// Builds a call expression whose arguments are names bound to the values.
Entity Elaborator::callWith(const Function &function,
                            ArrayRef<std::pair<StringRef, Entity>> values) {
  std::shared_ptr<Activation> top = context.newActivation(function.module, nullptr);
  SaveAndRestore<Activation *> inner(context.activation, top.get());
  EntryHeader facts;
  SaveAndRestore<EntryHeader *> current(context.entry.header, &facts);
  SaveAndRestore<unsigned> within(context.entry.number, 1);
  context.entry.reads.clear();
  reporter.exchangeReported({});
  SourceRange at = function.decl->name.range;
  std::vector<ast::NameExpr> names(values.size());
  std::vector<ast::Arg> args;
  for (auto [name, value] : zip(names, values)) {
    name.name = value.first;
    name.range = name.bareRange = at;
    top->locals[value.first] = {value.second, at};
    args.push_back({{value.first, at}, &name, at});
  }
  ast::NameExpr callee;
  callee.name = function.decl->name.text;
  callee.range = callee.bareRange = at;
  ast::CallExpr call;
  call.callee = &callee;
  call.args = args;
  call.range = call.bareRange = at;
  Entity result = callEvaluator.callFunction(function, call);
  if (result.isPoison() || (facts.where.empty() && facts.bounds.empty()))
    return result;
  std::string fact = facts.where.empty() ? "a bound of '" + facts.bounds.front().first + "'"
                                         : facts.where.front().str();
  return reporter.fail(at, "dynamic-shape", "needs {}, which cannot be proven", fact);
}

static bool isTensorParam(const ast::Param &param) {
  return !param.isStatic && !isStaticType(*param.type);
}

//===----------------------------------------------------------------------===//
// LibraryCalls
//===----------------------------------------------------------------------===//

static bool isEmptyList(const ast::Expr *expr) {
  const auto *list = dyn_cast_or_null<ast::ListExpr>(expr);
  return list && list->elements.empty();
}

static LibraryCalls::Kind kindOf(const ast::Param &param) {
  using Kind = LibraryCalls::Kind;
  if (isTensorParam(param))
    return Kind::Tensor;
  const ast::Type &type = *param.type;
  if (type.kind == ast::TypeKind::DType)
    return type.dtype == ast::DType::BOOL ? Kind::Bool : Kind::String;
  if (type.kind != ast::TypeKind::Named)
    return Kind::Int;
  if (type.name == "float")
    return Kind::Float;
  if (type.name == "group")
    return isEmptyList(param.defaultValue) ? Kind::Tensors : Kind::Group;
  return type.name == "dtype" ? Kind::DType : Kind::Int;
}

namespace {
struct Declared {
  Function function;
  std::vector<LibraryCalls::Parameter> parameters;
};
} // namespace

struct LibraryCalls::State {
  State(GraphBuilder &builder, ArrayRef<StringRef> files, const ImportOptions &options)
      : diagnostics(sources), elaborator(builder, sources, diagnostics, options), files(files) {}

  std::optional<Function> findInFiles(StringRef name) {
    for (StringRef file : files)
      if (std::optional<Function> found = elaborator.findShipped(file, name))
        return found;
    return std::nullopt;
  }

  /// A function of the files or of all files, found once; null if there is none.
  const Declared *find(StringRef name) {
    auto [known, isNew] = functions.try_emplace(name);
    std::optional<Function> found = isNew ? findInFiles(name) : std::nullopt;
    if (isNew && !found)
      found = elaborator.findShipped("prelude", name);
    if (found) {
      known->second.emplace(Declared{*found, {}});
      for (const ast::Param &param : found->decl->params)
        known->second->parameters.push_back(
            {param.name.text, kindOf(param), param.defaultValue != nullptr});
    }
    return known->second ? &*known->second : nullptr;
  }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  Elaborator elaborator;
  SmallVector<StringRef> files;
  StringMap<std::optional<Declared>> functions;
};

LibraryCalls::LibraryCalls(GraphBuilder &builder, ArrayRef<StringRef> files,
                           const ImportOptions &options)
    : state(std::make_unique<State>(builder, files, options)) {}

LibraryCalls::~LibraryCalls() = default;

bool LibraryCalls::declares(StringRef function) const {
  return !function.starts_with("_") && state->findInFiles(function);
}

std::vector<std::pair<StringRef, std::string>> LibraryCalls::functions() const {
  std::vector<std::pair<StringRef, std::string>> found;
  for (StringRef file : state->files) {
    std::set<std::string> names;
    if (Module *module = state->elaborator.loadShipped(file))
      for (const auto &declaration : module->declarations)
        if (isa_and_nonnull<ast::FnDecl>(declaration.second.stmt))
          names.insert(declaration.getKey().str());
    for (const std::string &name : names)
      if (declares(name))
        found.emplace_back(file, name);
  }
  return found;
}

ArrayRef<LibraryCalls::Parameter> LibraryCalls::parameters(StringRef function) const {
  const Declared *declared = state->find(function);
  return declared ? ArrayRef(declared->parameters) : ArrayRef<Parameter>();
}

static Entity entityOf(const LibraryCalls::Value &value, LibraryCalls::Kind kind) {
  if (const auto *sizes = std::get_if<dfg::Shape>(&value)) {
    if (kind == LibraryCalls::Kind::Group)
      return Entity::shape(*sizes);
    // A group in place of a size is refused as a group.
    return sizes->size() == 1 ? Entity::dim(sizes->front()) : Entity::shape(*sizes);
  }
  return std::visit(
      [](const auto &held) -> Entity {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, SmallVector<mlir::Value>> ||
                      std::is_same_v<Held, SmallVector<double>> ||
                      std::is_same_v<Held, SmallVector<std::string>>)
          return Entity::group(std::vector<Entity>(held.begin(), held.end()));
        else if constexpr (std::is_same_v<Held, dfg::Shape>)
          return Entity();
        else
          return Entity(held);
      },
      value);
}

std::optional<SmallVector<mlir::Value>>
LibraryCalls::call(StringRef function, ArrayRef<Argument> arguments, mlir::Location location) {
  const Declared *found = state->find(function);
  std::vector<std::pair<StringRef, Entity>> values;
  for (const Parameter &parameter : found->parameters)
    for (const Argument &argument : arguments)
      if (argument.name == parameter.name)
        values.emplace_back(argument.name, entityOf(argument.value, parameter.kind));
  Entity result = state->elaborator.callWith(found->function, values);
  std::vector<Diagnostic> errors = state->diagnostics.takeBack(0);
  for (const Diagnostic &error : errors)
    mlir::emitError(location) << error.text << " [" << error.slug << "]";
  if (!errors.empty())
    return std::nullopt;
  // The budget had already been exceeded, which has been reported.
  if (result.isPoison()) {
    mlir::emitError(location) << "the graph is too large to go on [expansion-limit]";
    return std::nullopt;
  }
  SmallVector<mlir::Value> results;
  const Group *group = result.asGroup();
  for (const Entity &entity : group ? ArrayRef(group->elements) : ArrayRef(result))
    results.push_back(entity.as<mlir::Value>());
  return results;
}

} // namespace tfc::text
