/// Evaluates types and the sizes in them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Advisor;
class Evaluator;
class Reporter;
class TensorEmitter;

/// Evaluates types and the sizes in them.
class TypeEvaluator {
public:
  TypeEvaluator(Context &context, Evaluator &evaluator, Reporter &reporter, Advisor &advisor,
                TensorEmitter &tensorEmitter)
      : context(context), evaluator(evaluator), reporter(reporter), advisor(advisor),
        tensorEmitter(tensorEmitter) {}

  std::optional<dfg::DimExpr> evalSize(const ast::Expr *expr);
  std::optional<dfg::DimExpr> asSize(const Entity &value, const ast::Expr *expr);
  /// Reports a run-time value that has the name of a size.
  void failHiddenSize(llvm::StringRef name, SourceRange at, const Entity &value);
  mlir::Type elementType(ast::DType dtype, SourceRange at);
  std::optional<TensorType> evalType(const ast::Type &type);
  /// Reports a type that is too large for any memory; false if it is.
  bool checkMemory(const TensorType &type, SourceRange at);
  std::optional<dfg::Shape> evalShape(llvm::ArrayRef<ast::IndexItem> items);
  /// The value of a name between the brackets of a type; std::nullopt while it is unbound.
  std::optional<Entity> sizeName(llvm::StringRef name, SourceRange at);
  void bindSize(llvm::StringRef name, const Entity &value, SourceRange at);
  void collectUnbound(const ast::Expr *expr, llvm::SmallVectorImpl<llvm::StringRef> &names);
  /// The names and types of tensors of static shapes, `of` which something consists; false after an
  /// error, with the code `error`.
  bool evalFields(llvm::ArrayRef<ast::Param> fields, llvm::StringRef error, llvm::StringRef of,
                  std::vector<std::string> &names,
                  llvm::SmallVectorImpl<mlir::RankedTensorType> &types);
  std::string typeText(const ast::Type &type);
  mlir::Type knownElement(const ast::Type &type);
  std::optional<Entity> convertStatic(const ast::Param &param, const Argument &argument);
  Entity evalListType(const ast::IndexExpr &expr);
  /// The type that a binding declares, if it contains nothing to be inferred.
  std::optional<TensorType> declaredType(const ast::Type *type);

private:
  bool checkDeclared(const ast::Type &type, const Entity &value, SourceRange at);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  Advisor &advisor;
  TensorEmitter &tensorEmitter;
};

/// Returns true for a type that denotes a static value everywhere.
bool isStaticType(const ast::Type &type);
/// Returns true for a static parameter that takes the type of a tensor.
bool isTypeArgument(const ast::Param &param);
std::optional<ast::Type> elementOfListType(const ast::Type &type);

/// The kinds of static values that a type can denote.
enum class StaticKind {
  None,
  Int,
  Float,
  Number,
  Bool,
  String,
  Dim,
  DType,
  Group,
  Function,
  Gradient,
  Dataset
};

/// The kinds of static values that a parameter can have. `Number` is an element of the function's
/// result, whichever type that has. `always`: only types that denote static values everywhere; else
/// also those that do so in static parameters.
StaticKind staticKind(const ast::Type &type, bool always);

} // namespace tfc::text
