//===- ConstantEvaluation.h - Executing operations on constants -----------===//
//
// Readers need to know the elements of tensors that constants determine, such as shapes, while they
// build a graph. A tool lets them have the operations executed: an extension of the dialect
// registers an implementation of this interface.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Roles.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::dfg {

/// Returns true for the control flow of a graph, in a node or not.
inline bool isRouting(mlir::Operation *op) {
  auto visit = [](mlir::Operation *nested) {
    return nested->hasTrait<RoutingRole>() ? mlir::WalkResult::interrupt()
                                           : mlir::WalkResult::advance();
  };
  return op->walk(visit).wasInterrupted();
}

class ConstantEvaluationInterface
    : public mlir::DialectInterface::Base<ConstantEvaluationInterface> {
public:
  explicit ConstantEvaluationInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Executes `ops` in this order, after values have been bound to the constants `given`. The
  /// operations have no effects but to check data and to bind sizes, and operands and sizes that
  /// they mention are given or come from operations before. With control flow among them, all are
  /// nodes of a `dfg.dataflow`, which have no order.
  ///
  /// Returns the elements of each of `results`, or null where they are not known exactly. The list
  /// is empty if a check fails, or if the operations would do more work, the elements that they
  /// read and write and some for each operation, than is left in `work`, which decreases.
  virtual llvm::SmallVector<mlir::ElementsAttr>
  evaluate(llvm::ArrayRef<mlir::Operation *> ops,
           const llvm::DenseMap<mlir::Value, mlir::ElementsAttr> &given,
           llvm::ArrayRef<mlir::Value> results, double &work) const = 0;
};

} // namespace tfc::dfg
