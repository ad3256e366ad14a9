/// What the parts of the elaborator share.
#pragma once

#include "frontend/text/Elaborator.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tfc::text {

template <typename Build>
bool Elaborator::capture(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
                         llvm::StringRef operatorText, Build build) {
  std::vector<CapturedError> errors;
  bool succeeded;
  {
    mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
        CapturedError &captured = errors.emplace_back();
        captured.text = diagnostic.str();
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          captured.notes.push_back(note.str());
      }
      return mlir::success();
    });
    succeeded = build();
  }
  if (!succeeded || !errors.empty())
    reportCaptured(at, operands, op, operatorText, errors);
  return succeeded && errors.empty();
}

/// The element type of a run-time value; null for a number, which takes the other operand's.
mlir::Type elementOf(const Entity &value);

/// Whether an operation draws random numbers, by a seed and a counter.
bool isDraw(const dfg::OpSignature &op);

/// The seed that belongs to a name.
int64_t seedOf(llvm::StringRef path);

/// What a dimension that a call binds is: of the call, or of the instance.
Entity valueOfDim(const Frame &frame, llvm::StringRef name);

/// `path` with its last name replaced by the one that it had before.
std::string renameLast(const std::string &path, llvm::StringRef name, llvm::StringRef former);

/// Calls `visit` for each name in an expression.
void forEachName(const ast::Expr *expr, llvm::function_ref<void(const ast::NameExpr &)> visit);

/// The range of an expression, or of nothing.
inline SourceRange rangeOf(const ast::Expr *expr) { return expr ? expr->range : SourceRange(); }

} // namespace tfc::text
