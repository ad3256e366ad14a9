/// Resolves names, and evaluates each declaration when it is first needed.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Binder;
class Evaluator;
class Meter;
class PartInstantiator;
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
               VariableTable &variableTable)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter),
        regionEditor(regionEditor), typeEvaluator(typeEvaluator), unifier(unifier), binder(binder),
        partInstantiator(partInstantiator), queueEmitter(queueEmitter),
        variableTable(variableTable) {}

  std::optional<Entity> lookup(llvm::StringRef name, SourceRange at);
  /// A declared name of a file.
  std::optional<Entity> valueInModule(Module &module, llvm::StringRef name, SourceRange at);
  Entity memberOfModule(Module &module, const ast::Name &name);
  /// What the file, the part or the call declares by this name, but no operation.
  /// With `inBlocks`, also what a `dataflow` block around binds.
  std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at, bool inBlocks = true);
  std::optional<Entity> valueInInstance(Instance &instance, llvm::StringRef name, SourceRange at);
  Entity memberOfInstance(Instance &instance, const ast::Name &name);
  void forceAll(Module &module);
  void forceAll(Instance &instance);
  void forceAll(const Entity &value);

private:
  std::optional<Entity> builtinByName(llvm::StringRef name);
  /// Evaluates the `let`s that `binding` names, and those that these name, without recursion, if
  /// evaluating them where they are named would nest deeply. `find` gives those that have not been
  /// evaluated yet.
  void forceNamed(const ast::Binding &binding,
                  llvm::function_ref<const ast::Binding *(llvm::StringRef)> find,
                  llvm::function_ref<void(const ast::Binding &)> evaluate);
  /// Computes a `let` when it is first needed.
  Entity force(LazyValue &lazy, const ast::Binding &binding, std::shared_ptr<Frame> bindingFrame,
               LetName name, const ast::Stmt &stmt);
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
  VariableTable &variableTable;
  /// How many `let`s are being evaluated, each for the next.
  unsigned letDepth = 0;
};

} // namespace tfc::text
