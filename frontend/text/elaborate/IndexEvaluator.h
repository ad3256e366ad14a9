/// Evaluates subscripts of tensors, groups, lists and types.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class ListEmitter;
class Reporter;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Evaluates subscripts of tensors, groups, lists and types.
class IndexEvaluator {
public:
  IndexEvaluator(Context &context, Evaluator &evaluator, Reporter &reporter,
                 StaticStage &staticStage, TensorEmitter &tensorEmitter,
                 TypeEvaluator &typeEvaluator, ListEmitter &listEmitter)
      : context(context), evaluator(evaluator), reporter(reporter), staticStage(staticStage),
        tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator), listEmitter(listEmitter) {}

  Entity evalIndex(const ast::IndexExpr &expr);

private:
  struct AxisSlice;

  Entity evalTypeIndex(const ast::IndexExpr &expr, mlir::Type element);
  Entity indexGroup(const ast::IndexExpr &expr, const Group &group);
  bool sliceElement(const ast::IndexItem &item, int64_t axis, mlir::Type type, AxisSlice &slice);
  bool sliceRange(const ast::IndexItem &item, AxisSlice &slice);
  bool slicesOf(const ast::IndexExpr &expr, mlir::Type type,
                llvm::SmallVectorImpl<AxisSlice> &slices);
  mlir::Value emitSlice(const ast::IndexExpr &expr, llvm::ArrayRef<AxisSlice> slices,
                        mlir::Value tensor);
  std::string nameOf(const ast::IndexExpr &expr) const;
  mlir::Value checkedIndex(const ast::IndexExpr &expr, mlir::Value index, mlir::Type table,
                           int64_t axis);
  Entity gatherIndices(const ast::IndexExpr &expr, llvm::ArrayRef<AxisSlice> slices,
                       mlir::Value sliced, mlir::Type table);
  mlir::Value runTimeIndex(const Entity &value, const ast::Expr *expr);
  Entity indexTensor(const ast::IndexExpr &expr, mlir::Value tensor);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  ListEmitter &listEmitter;
};

} // namespace tfc::text
