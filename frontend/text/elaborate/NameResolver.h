/// Resolves names, and evaluates each declaration when it is first needed.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Binder;
class Evaluator;
class Meter;
class PartInstantiator;
class Placer;
class DatasetEmitter;
class QueueEmitter;
class RegionEditor;
class Reporter;
class TypeEvaluator;
class Unifier;
class VariableTable;

/// Resolves names, and evaluates each declaration when it is first needed.
class NameResolver {
public:
  NameResolver(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
               RegionEditor &regionEditor, TypeEvaluator &typeEvaluator, Unifier &unifier,
               Binder &binder, PartInstantiator &partInstantiator, QueueEmitter &queueEmitter,
               DatasetEmitter &datasetEmitter, VariableTable &variableTable, Placer &placer)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter),
        regionEditor(regionEditor), typeEvaluator(typeEvaluator), unifier(unifier), binder(binder),
        partInstantiator(partInstantiator), queueEmitter(queueEmitter),
        datasetEmitter(datasetEmitter), variableTable(variableTable), placer(placer) {}

  std::optional<Entity> lookup(llvm::StringRef name, SourceRange at);
  /// A declared name of a file.
  std::optional<Entity> valueInModule(Module &module, llvm::StringRef name, SourceRange at);
  Entity memberOfModule(Module &module, const ast::Name &name);
  /// The entity of this name that the file, the part or the call declares, excluding operations.
  /// With `inBlocks`, also one bound by an enclosing `dataflow` block.
  std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at, bool inBlocks = true);
  std::optional<Entity> valueInInstance(Instance &instance, llvm::StringRef name, SourceRange at);
  Entity memberOfInstance(Instance &instance, const ast::Name &name);
  void forceAll(Module &module);
  /// `user` is what an entry needs the variables for; an error there may be due to a call that
  /// comes later.
  void forceAll(Instance &instance, SourceRange user = {});
  void forceAll(const Entity &value, SourceRange user = {});

private:
  bool failUnbound(Instance &instance, SourceRange user);
  /// A file or instance that declares a name, with the path of that name.
  struct Declarer {
    llvm::StringMap<Declaration> &declarations;
    llvm::StringMap<LazyValue> &values;
    const LetName &path;
    /// The activation in which a declaration is evaluated.
    llvm::function_ref<std::shared_ptr<Activation>()> activation;
    /// Evaluates another declaration.
    llvm::function_ref<void(llvm::StringRef)> evaluate;
  };

  std::optional<Entity> builtinByName(llvm::StringRef name);
  /// The variable, queue, dataset or `let` that `declarer` declares by the name, evaluated when it
  /// is first needed.
  Entity valueOf(const Declarer &declarer, llvm::StringRef name);
  /// Evaluates the `let`s that `binding` names, directly or indirectly, without recursion, if
  /// evaluating them where they are named would nest deeply.
  void forceNamed(const ast::Binding &binding, const Declarer &declarer);
  void finish(LazyValue &lazy, const Entity &value);
  Entity force(LazyValue &lazy, const Declaration &declaration, const Declarer &declarer);
  Entity evalLet(const ast::Expr *expr, const LetName &name);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  RegionEditor &regionEditor;
  TypeEvaluator &typeEvaluator;
  Unifier &unifier;
  Binder &binder;
  PartInstantiator &partInstantiator;
  QueueEmitter &queueEmitter;
  DatasetEmitter &datasetEmitter;
  VariableTable &variableTable;
  Placer &placer;
  /// The nesting of `let`s being evaluated.
  unsigned letDepth = 0;
};

} // namespace tfc::text
