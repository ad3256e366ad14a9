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
  std::optional<Entity> callOnList(llvm::StringRef name, Arguments &args,
                                   const ast::CallExpr &call);
  /// `name` is what the author calls, for messages.
  mlir::Value readList(mlir::Value list, mlir::Value index, SourceRange at,
                       llvm::StringRef name = {});
  mlir::Value writeList(mlir::Value list, mlir::Value index, mlir::Value value, SourceRange at,
                        llvm::StringRef name = "write");
  mlir::Value unstack(mlir::Value tensor, SourceRange at);
  mlir::Value stack(mlir::Value list, const dfg::DimExpr &size, SourceRange at);

private:
  Entity stackList(Arguments &args, const ast::CallExpr &call, bool joins);
  Entity moveElements(mlir::Value list, const Argument &indices, mlir::Value from,
                      const ast::CallExpr &call);
  Entity splitIntoList(mlir::Value list, const Argument &tensor, const ast::CallExpr &call);
  mlir::Value evalPosition(const Argument &argument);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  ErrorCapture &errorCapture;
  TensorEmitter &tensorEmitter;
};

} // namespace tfc::text
