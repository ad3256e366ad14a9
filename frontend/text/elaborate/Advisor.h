/// Adds hints to errors: what the author may have meant, and where names are declared.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;
class SizeScope;

/// Adds hints to errors: what the author may have meant, and where names are declared.
class Advisor {
public:
  Advisor(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter) {}

  /// "'w' is declared here as f32[4]", for a name.
  void addDeclarationNote(Diagnostic &diagnostic, const ast::Expr *expr, const Entity &value);
  void hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr);
  /// What several results are called, where one tensor is expected.
  void hintResults(Diagnostic &diagnostic, const Group &results, SourceRange at);
  Entity unknownName(llvm::StringRef name, SourceRange at);
  void noteRunTimeSizes(Diagnostic &diagnostic, llvm::ArrayRef<std::string> names);
  Entity failUnnamed(const Part &part, const ast::CallExpr &call);
  Entity laterWork(SourceRange at, llvm::StringRef what);

private:
  /// How a name of a block that has ended gets out of it; false if it is none.
  bool hintEnded(Diagnostic &diagnostic, llvm::StringRef name);
  /// What a function of other libraries is called here; false if it is unknown.
  bool hintForeign(Diagnostic &diagnostic, llvm::StringRef name);
  /// The shipped file that declares a name.
  void hintLibrary(Diagnostic &diagnostic, llvm::StringRef name);
  std::vector<llvm::StringRef> visibleNames();

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
};

} // namespace tfc::text
