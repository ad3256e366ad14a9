/// Adds hints to errors: what the author may have meant, and where names are declared.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;

/// Adds hints to errors: what the author may have meant, and where names are declared.
class Advisor {
public:
  Advisor(Context &context, Evaluator &evaluator, Reporter &reporter)
      : context(context), evaluator(evaluator), reporter(reporter) {}

  /// "'w' is declared here as f32[4]", for a name.
  void addDeclarationNote(Diagnostic &diagnostic, const ast::Expr *expr, const Entity &value);
  void hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr);
  /// Suggests the names of several results where one tensor is expected.
  void hintResults(Diagnostic &diagnostic, const Group &results, SourceRange at);
  Entity unknownName(llvm::StringRef name, SourceRange at);
  void noteRunTimeSizes(Diagnostic &diagnostic, llvm::ArrayRef<std::string> names);
  Entity failUnnamed(const Part &part, const ast::CallExpr &call);
  Entity laterWork(SourceRange at, llvm::StringRef what);

private:
  /// Suggests how to pass a value out of a block that has ended; returns false if `name` was not
  /// bound in one.
  bool hintEnded(Diagnostic &diagnostic, llvm::StringRef name);
  /// Suggests '#' for a name in a comment that begins with `//`; returns false for others.
  bool hintComment(Diagnostic &diagnostic, SourceRange at);
  /// Suggests the name of another library's function in this language; returns false if it is
  /// unknown.
  bool hintForeign(Diagnostic &diagnostic, llvm::StringRef name);
  /// Suggests the shipped file that declares a name.
  void hintLibrary(Diagnostic &diagnostic, llvm::StringRef name);
  std::vector<llvm::StringRef> visibleNames();

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
};

} // namespace tfc::text
