/// Binds names: results of statements, and the elements that comprehensions and static loops run
/// over.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Meter;
class Reporter;
class TensorEmitter;
class TypeEvaluator;
class Unifier;

/// Binds names: results of statements, and the elements that comprehensions and static loops run
/// over.
class Binder {
public:
  Binder(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
         TensorEmitter &tensorEmitter, TypeEvaluator &typeEvaluator, Unifier &unifier)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter),
        tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator), unifier(unifier) {}

  /// Calls `body` for each element of the sequence of `each`, with its names bound.
  bool forEach(const ast::Each &each, llvm::function_ref<bool(const Entity &)> body);
  /// Reports a name that would rebind one of an outer block; returns false after an error.
  bool checkRebinding(const ast::Name &name);
  void bindTarget(const ast::Target &target, const Entity &value, SourceRange at);
  void bindLocal(const ast::Name &name, const Entity &value, const ast::Type *type = nullptr);
  void poisonBindings(const ast::Block *block);

private:
  std::optional<std::vector<Entity>> sequence(const ast::Each &each);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Unifier &unifier;
};

} // namespace tfc::text
