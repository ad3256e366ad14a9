/// Turns errors that operations report while they are built into located ones.
#pragma once

#include "frontend/text/elaborate/Context.h"
#include "mlir/IR/Diagnostics.h"

namespace tfc::text {

class Advisor;
class Reporter;
class SizeExplainer;

/// Turns errors that operations report while they are built into located ones.
class ErrorCapture {
public:
  ErrorCapture(Context &context, Reporter &reporter, Advisor &advisor, SizeExplainer &sizeExplainer)
      : context(context), reporter(reporter), advisor(advisor), sizeExplainer(sizeExplainer) {}

  /// Runs `build` and turns its errors into ones at `at`, with carets under `operands` too.
  /// `operatorText` replaces the operation's name in them.
  bool capture(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
               llvm::StringRef operatorText, llvm::function_ref<bool()> build);

private:
  /// An error that an operation's inference reported.
  struct CapturedError {
    std::string text;
    std::vector<std::string> notes;
  };

  std::string nameOperands(std::string note, llvm::ArrayRef<Argument> operands);
  /// Where the attribute stands that a message about its number quotes; else `at`.
  SourceRange placeOfNumber(SourceRange at, llvm::StringRef slug, llvm::StringRef message) const;
  void reportCaptured(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
                      llvm::StringRef operatorText, llvm::ArrayRef<CapturedError> errors);
  void hintOperation(Diagnostic &diagnostic, llvm::StringRef op, llvm::ArrayRef<Argument> operands);

  Context &context;
  Reporter &reporter;
  Advisor &advisor;
  SizeExplainer &sizeExplainer;
};

} // namespace tfc::text
