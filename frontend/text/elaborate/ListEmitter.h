/// Creates lists of tensors and the operations on them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class ErrorCapture;
class Evaluator;
class Reporter;
class TensorEmitter;

/// Creates lists of tensors and the operations on them.
class ListEmitter {
public:
  ListEmitter(Context &context, Evaluator &evaluator, Reporter &reporter,
              ErrorCapture &errorCapture, TensorEmitter &tensorEmitter)
      : context(context), evaluator(evaluator), reporter(reporter), errorCapture(errorCapture),
        tensorEmitter(tensorEmitter) {}

  mlir::Value createList(const TensorType &element, mlir::Value size, SourceRange at);
  Entity callListType(const ListType &type, Arguments &args, const ast::CallExpr &call);
  Entity indexList(const ast::IndexExpr &expr, mlir::Value list);
  /// `name` is what the author calls, for messages.
  mlir::Value readList(mlir::Value list, mlir::Value index, SourceRange at,
                       llvm::StringRef name = {});
  mlir::Value writeList(mlir::Value list, mlir::Value index, mlir::Value value, SourceRange at,
                        llvm::StringRef name = "write");
  mlir::Value unstack(mlir::Value tensor, SourceRange at);
  mlir::Value stack(mlir::Value list, const dfg::DimExpr &size, SourceRange at);

  // Functions of lists. The first argument is the list, except for `unstack`, which makes one.
  Entity callAppend(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callConcat(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callGather(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callScatter(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callSize(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callSplit(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callStack(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callWrite(mlir::Value list, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callUnstack(const Argument &tensor, const ast::CallExpr &call);

private:
  std::optional<dfg::DimExpr> evalSize(mlir::Value list, llvm::ArrayRef<Argument> args, bool joins,
                                       const ast::CallExpr &call);
  Entity moveElements(mlir::Value list, const Argument &indices, mlir::Value from,
                      const ast::CallExpr &call);
  /// The argument as an element of the list; null after an error.
  mlir::Value evalElement(mlir::Value list, const Argument &argument);
  /// Sets an element, unless `index` is null; `name` is what the author calls.
  Entity setElement(mlir::Value list, mlir::Value index, mlir::Value value,
                    llvm::ArrayRef<Argument> args, llvm::StringRef name, const ast::CallExpr &call);
  mlir::Value evalPosition(const Argument &argument);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  ErrorCapture &errorCapture;
  TensorEmitter &tensorEmitter;
};

} // namespace tfc::text
