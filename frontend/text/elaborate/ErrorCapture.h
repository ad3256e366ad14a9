/// Adds source locations to errors that operations report while they are built.
#pragma once

#include "dialects/dfg/Errors.h"
#include "frontend/text/elaborate/Context.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::text {

class Advisor;
class Reporter;
class SizeExplainer;

/// Adds source locations to errors that operations report while they are built.
class ErrorCapture {
public:
  ErrorCapture(Context &context, Reporter &reporter, Advisor &advisor, SizeExplainer &sizeExplainer)
      : context(context), reporter(reporter), advisor(advisor), sizeExplainer(sizeExplainer) {}

  /// Runs `build` and reports its errors at `at`, with carets also under `operands`. Their
  /// locations have the operator that the author wrote, see `Reporter::locate`.
  bool capture(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
               llvm::function_ref<bool()> build);

private:
  /// An error that an operation's inference reported.
  struct CapturedError {
    std::string text;
    std::vector<std::string> notes;
    dfg::ErrorDetails details;
  };

  std::string nameOperands(std::string note, llvm::ArrayRef<Argument> operands);
  /// Where the author wrote the attribute; else `at`.
  SourceRange placeOfAttribute(SourceRange at, llvm::StringRef attribute) const;
  void reportCaptured(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
                      llvm::ArrayRef<CapturedError> errors);
  void hintOperation(Diagnostic &diagnostic, llvm::StringRef op, llvm::ArrayRef<Argument> operands);

  Context &context;
  Reporter &reporter;
  Advisor &advisor;
  SizeExplainer &sizeExplainer;
};

} // namespace tfc::text
