/// Creates run-time values: operations, constants, reads and assignments of variables.
#pragma once

#include "dialects/dfg/Numbers.h"
#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class ErrorCapture;
class Evaluator;
class Meter;
class Reporter;
class SizeScope;

/// Creates run-time values: operations, constants, reads and assignments of variables.
class TensorEmitter {
public:
  TensorEmitter(Context &context, Evaluator &evaluator, SizeScope &sizeScope, Reporter &reporter,
                Meter &meter, Advisor &advisor, ErrorCapture &errorCapture)
      : context(context), evaluator(evaluator), sizeScope(sizeScope), reporter(reporter),
        meter(meter), advisor(advisor), errorCapture(errorCapture) {}

  /// The run-time value; a number becomes a constant of `preferred`, or i32 or f32.
  mlir::Value toTensor(const Entity &value, mlir::Type preferred, SourceRange at);
  mlir::Value readVariable(Variable &variable, SourceRange at);
  mlir::Value castTo(mlir::Value value, mlir::Type element, SourceRange at);
  mlir::Value assignVariable(Variable &variable, mlir::Value value, SourceRange at);
  mlir::Value emit(llvm::StringRef op, llvm::ArrayRef<Argument> operands, mlir::ValueRange values,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes, SourceRange at,
                   llvm::StringRef operatorText = {});
  /// Emits an operation on the counter of a loop. It has no device: each device that runs the loop
  /// counts for itself.
  mlir::Value emitCount(llvm::StringRef op, mlir::ValueRange values, SourceRange at);
  /// Reports a new operation whose constants are certainly a mistake, such as a division by zero.
  bool canBeMeant(mlir::Operation *op, SourceRange at, llvm::StringRef operatorText = {});
  bool requireEntry(SourceRange at);
  /// The number as an element, or null after an error, which is reported at `inner`, the number's
  /// range inside `at`, if known.
  mlir::TypedAttr toElement(const dfg::Number &number, mlir::Type element,
                            dfg::Conversion conversion, SourceRange at, SourceRange inner);
  /// Converts `value` exactly to a number of type `element`, or reports that this is impossible.
  bool toExact(Entity &value, mlir::Type element, SourceRange at);
  Entity callCast(mlir::Type element, Arguments &args, const ast::CallExpr &call);
  mlir::Value evalPredicate(const ast::Expr *expr, llvm::StringRef keyword);
  /// `value` if it is a single bool, which `taker` requires; null after an error.
  mlir::Value toPredicate(mlir::Value value, llvm::StringRef taker, SourceRange at);
  /// A run-time value, which may be a list.
  mlir::Value toValue(const Entity &value, mlir::Type preferred, SourceRange at);
  void readNow(Entity &value, SourceRange at);

private:
  struct TableElement;

  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<dfg::DimExpr> shape, SourceRange at);
  mlir::Value evalTensor(const ast::Expr *expr, mlir::Type preferred = {});
  /// Returns true if a value computed earlier can be used here.
  bool requireVisible(mlir::Value value, SourceRange at);
  mlir::Value numberToTensor(const Entity &value, mlir::Type preferred, SourceRange at);
  mlir::Value listToTensor(const Entity &value, mlir::Type preferred, SourceRange at,
                           dfg::Conversion conversion);
  bool flattenTable(const Entity &value, SourceRange at, size_t depth,
                    llvm::SmallVectorImpl<int64_t> &shape, std::vector<TableElement> &elements);
  /// Reports a size that may be too large for an integer type.
  bool checkSizeFits(const dfg::DimExpr &size, mlir::Type element, SourceRange at);

  Context &context;
  Evaluator &evaluator;
  SizeScope &sizeScope;
  Reporter &reporter;
  Meter &meter;
  Advisor &advisor;
  ErrorCapture &errorCapture;
};

/// The value as a list; null if it is not one.
mlir::Value listOf(const Entity &value);

} // namespace tfc::text
