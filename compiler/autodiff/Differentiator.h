//===- Differentiator.h - One gradient --------------------------------------===//

#pragma once

#include "compiler/autodiff/Activity.h"
#include "compiler/autodiff/Adjoints.h"
#include "compiler/autodiff/Saved.h"

namespace tfc {

/// Builds what replaces a `dfg.gradients`: walks back from y, through regions too. The backward
/// region of a branch or loop first uses forward values as if it could see them; then `Saved` makes
/// it so.
class Differentiator {
public:
  Differentiator(dfg::GradientsOp op, GradientContext &context);

  /// Builds the gradients before the operation; fails with an error.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run();

private:
  /// Touched rows of a value that is only gathered from, in the order of the gathers.
  struct SparseGradient {
    llvm::SmallVector<mlir::Value> indices, rows;
  };
  /// What the backward loop of a loop carries: gradients of carried values, by position, and of
  /// values around the loop.
  struct Carried {
    llvm::SmallVector<unsigned> positions;
    llvm::SmallVector<mlir::Value> captured;
  };

  // Autodiff.cpp
  mlir::LogicalResult sweepAround();
  bool concerns(mlir::Operation *forward) const;
  mlir::LogicalResult sweepBlock(mlir::Block &block, mlir::Operation *end = nullptr);
  mlir::LogicalResult checkGrowth();
  mlir::LogicalResult visit(mlir::Operation *forward);
  mlir::LogicalResult visitPlain(mlir::Operation *forward);
  mlir::LogicalResult reportPath(mlir::Operation *blocking);
  void eraseUnneeded(size_t first, mlir::ValueRange operands);
  void accumulate(mlir::Value value, mlir::Value gradient);
  bool collectSparse(mlir::Operation *forward);
  void sparseResult(mlir::Value x, llvm::SmallVectorImpl<mlir::Value> &results);
  void forget(mlir::ValueRange values);
  void moveResults(mlir::ValueRange from, mlir::ValueRange to);

  // Tapes.cpp
  void visitPush(dfg::PushOp push);
  void visitPop(dfg::PopOp pop);
  mlir::FlatSymbolRefAttr makeTape(mlir::Location loc, mlir::Type type);
  mlir::FlatSymbolRefAttr tapeOfGradients(mlir::FlatSymbolRefAttr tape);
  mlir::FlatSymbolRefAttr pushOnTape(mlir::Value value);
  mlir::Value popFromTape(mlir::OpBuilder &b, mlir::Value like, mlir::FlatSymbolRefAttr tape);
  void saveOnTapes(Saved &saved, mlir::Operation *prelude);

  // Branch.cpp
  mlir::LogicalResult visitBranch(dfg::IfOp branch);
  mlir::LogicalResult sweepBranch(mlir::Block &forward, mlir::ValueRange seeds,
                                  llvm::ArrayRef<mlir::Value> captured, mlir::Block &backward,
                                  llvm::BitVector &changed);
  void saveOfBranches(dfg::IfOp forward, dfg::IfOp backward);

  // Loop.cpp
  mlir::LogicalResult visitLoop(dfg::WhileOp loop);
  mlir::LogicalResult sweepIteration(dfg::WhileOp loop, const Carried &carried,
                                     dfg::WhileOp backward);
  Carried carriedBy(dfg::WhileOp loop);
  llvm::SmallVector<mlir::Value> initialGradients(dfg::WhileOp loop, const Carried &carried);
  llvm::SmallVector<mlir::Value> beginIteration(const Carried &carried, mlir::ValueRange gradients);
  void endIteration(mlir::Location loc, mlir::ValueRange leading, mlir::ValueRange carriedValues,
                    const Carried &carried);
  void takeGradients(dfg::WhileOp loop, const Carried &carried, dfg::WhileOp backward,
                     unsigned leading, llvm::ArrayRef<mlir::Value> outer);
  dfg::WhileOp saveOfLoop(dfg::WhileOp loop, dfg::WhileOp backward, Saved &saved,
                          mlir::Operation *prelude);
  mlir::Value countIterations(dfg::WhileOp &loop);
  /// Lets a loop run as long as its first carried value is above 0.
  void buildCountdownCondition(dfg::WhileOp loop);
  std::optional<dfg::DimExpr> tripsInside(dfg::WhileOp loop) const;
  dfg::WhileOp carryMore(dfg::WhileOp loop, mlir::ValueRange inits);

  // Recompute.cpp
  mlir::LogicalResult sweepReplayed(mlir::Block &body);
  bool usesHiddenList(mlir::Operation *user, mlir::Operation *around,
                      const mlir::IRMapping &mapping) const;
  void dropLists(dfg::WhileOp replay);
  bool canReplayLoop(dfg::WhileOp loop) const;
  mlir::LogicalResult visitSegments(dfg::WhileOp loop);
  dfg::WhileOp saveSquares(dfg::WhileOp loop,
                           llvm::SmallVectorImpl<mlir::FlatSymbolRefAttr> &tapes);
  llvm::SmallVector<mlir::Value>
  loadState(dfg::WhileOp loop, llvm::ArrayRef<mlir::FlatSymbolRefAttr> tapes, mlir::Value begin);
  dfg::WhileOp replaySegment(dfg::WhileOp loop, llvm::ArrayRef<mlir::Operation *> ops,
                             mlir::ValueRange state, mlir::Value begin, mlir::Value end);

  dfg::GradientsOp op;
  GradientContext &context;
  mlir::OpBuilder b;
  Activity activity;
  Adjoints adjoints;
  llvm::DenseMap<mlir::Value, SparseGradient> sparse;
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> gradientTapes;
  llvm::DenseMap<mlir::Value, mlir::Value>
      replayed;                         // what is computed again, by what it was before
  unsigned loopDepth = 0;               // loops around the point that the walk has reached
  std::optional<dfg::DimExpr> capacity; // how often they repeat it, where that is known
};

} // namespace tfc
