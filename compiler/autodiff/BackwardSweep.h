//===- BackwardSweep.h - The shared state of building a gradient ----------===//

#pragma once

#include "compiler/autodiff/Activity.h"
#include "compiler/autodiff/Adjoints.h"

namespace tfc {

/// The state of the walk back from the loss of one `dfg.gradients`: where operations are built,
/// which values need gradients, and the gradients so far.
struct BackwardSweep {
  BackwardSweep(dfg::GradientsOp op, GradientContext &context)
      : op(op), context(context), b(op, &context), activity(op), adjoints(b, context) {}

  /// Adds to the gradient of a value that needs one.
  void accumulate(mlir::Value value, mlir::Value gradient);
  /// Forgets values that are about to be erased: others may get their addresses.
  void forget(mlir::ValueRange values);
  /// Follows results of an operation that was replaced by one with more results.
  void moveResults(mlir::ValueRange from, mlir::ValueRange to);

  dfg::GradientsOp op;
  GradientContext &context;
  mlir::OpBuilder b;
  Activity activity;
  Adjoints adjoints;
  /// Values that backward regions compute again, by the forward ones.
  llvm::DenseMap<mlir::Value, mlir::Value> replayed;
  /// Loops around the point that the walk has reached, and how often they repeat it, where that is
  /// known.
  unsigned loopDepth = 0;
  std::optional<dfg::DimExpr> capacity = dfg::DimExpr(1);
};

/// The recursion of the walk: gradients of branches and loops visit what is in their regions.
class Visitor {
public:
  virtual ~Visitor() = default;

  /// Returns true if the gradients of an operation have to be built.
  virtual bool concerns(mlir::Operation *forward) const = 0;
  /// Builds the gradients of one operation.
  virtual mlir::LogicalResult visit(mlir::Operation *forward) = 0;
  /// Visits the operations of a block that need it, or those before `end`, in reverse order.
  virtual mlir::LogicalResult visitBlock(mlir::Block &block, mlir::Operation *end = nullptr) = 0;
};

} // namespace tfc
