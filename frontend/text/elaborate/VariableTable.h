/// Declares variables, and the slots that optimizers keep for them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Binder;
class Evaluator;
class ModuleLoader;
class Placer;
class Reporter;
class Slicer;
class TypeEvaluator;

/// Declares variables, and the slots that optimizers keep for them.
class VariableTable {
public:
  VariableTable(Context &context, Evaluator &evaluator, Reporter &reporter,
                TypeEvaluator &typeEvaluator, Binder &binder, ModuleLoader &moduleLoader,
                Placer &placer, Slicer &slicer)
      : context(context), evaluator(evaluator), reporter(reporter), typeEvaluator(typeEvaluator),
        binder(binder), moduleLoader(moduleLoader), placer(placer), slicer(slicer) {}

  std::string formerName(const ast::Stmt &stmt);
  Variable *declareVariable(const ast::VarDecl &decl, const LetName &name,
                            std::shared_ptr<Activation> initActivation);
  Entity declareSlot(const ast::VarDecl &decl, Activation &declaring);

private:
  std::optional<TensorType> typeOfInitializer(const ast::VarDecl &decl);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  TypeEvaluator &typeEvaluator;
  Binder &binder;
  ModuleLoader &moduleLoader;
  Placer &placer;
  Slicer &slicer;
};

bool isFrozen(const ast::Stmt &stmt);

} // namespace tfc::text
