/// Instantiates parts: parameters, members, and the sizes that calls bind later.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Evaluator;
class FactChecker;
class Meter;
class ModuleLoader;
class ParameterBinder;
class Placer;
class Reporter;
class StaticStage;

/// Instantiates parts: parameters, members, and the sizes that calls bind later.
class PartInstantiator {
public:
  PartInstantiator(Context &context, Evaluator &evaluator, Reporter &reporter, Meter &meter,
                   Advisor &advisor, StaticStage &staticStage, FactChecker &factChecker,
                   ParameterBinder &parameterBinder, Placer &placer, ModuleLoader &moduleLoader)
      : context(context), evaluator(evaluator), reporter(reporter), meter(meter), advisor(advisor),
        staticStage(staticStage), factChecker(factChecker), parameterBinder(parameterBinder),
        placer(placer), moduleLoader(moduleLoader) {}

  Entity instantiate(const Part &part, const ast::CallExpr &call, const LetName &name);
  /// Declares the members of an instance whose parameters are known; `outer` completes the device
  /// of its part.
  bool declare(Instance &instance, const Placement &outer);
  void collectSizeNames(Instance &instance);

private:
  bool declareMembers(Instance &instance, llvm::ArrayRef<ast::Stmt *> members);
  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Meter &meter;
  Advisor &advisor;
  StaticStage &staticStage;
  FactChecker &factChecker;
  ParameterBinder &parameterBinder;
  Placer &placer;
  ModuleLoader &moduleLoader;
};

} // namespace tfc::text
