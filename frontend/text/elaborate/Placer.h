/// Evaluates `@device` and `@colocate`, and says where operations shall be.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;

class Placer {
public:
  Placer(Context &context, Evaluator &evaluator, Reporter &reporter)
      : context(context), evaluator(evaluator), reporter(reporter) {}

  /// The placement that annotations ask for inside of `outer`. Errors are reported, and leave their
  /// annotation out.
  Placement read(llvm::ArrayRef<ast::Annotation> annotations, const Placement &outer);

  /// `inner` with what it leaves open as in `outer`. A colocation takes the place of the outer
  /// device, and a device that of an outer colocation.
  static Placement within(const Placement &inner, const Placement &outer);

  /// Executes `run`, whose operations shall be there.
  void in(const Placement &placement, llvm::function_ref<void()> run);

private:
  void readDevice(const ast::Annotation &annotation, Placement &placement);
  void readColocation(const ast::Annotation &annotation, Placement &placement);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
};

} // namespace tfc::text
