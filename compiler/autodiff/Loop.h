//===- Loop.h - Gradients of loops ----------------------------------------===//

#pragma once

#include "compiler/autodiff/Tapes.h"

namespace tfc {

/// A carried integer that is `init + step * k` in iteration k.
struct Induction {
  mlir::Value init, step;
};

/// Returns how the carried value `i` is an induction, if it is one.
std::optional<Induction> findInduction(dfg::WhileOp loop, unsigned i);

/// The value of an induction in iteration `index`.
mlir::Value buildInduction(mlir::OpBuilder &b, mlir::Location loc, const Induction &induction,
                           mlir::Value index);

/// Lets a loop carry more values; they have no next ones yet.
dfg::WhileOp carryMore(BackwardSweep &sweep, dfg::WhileOp loop, mlir::ValueRange inits);

/// Lets a backward loop run as long as its first carried value is above 0.
void buildCountdownCondition(BackwardSweep &sweep, dfg::WhileOp loop);

/// The gradients that the backward loop of a loop carries: of carried values, and of values around
/// the loop.
class CarriedGradients {
public:
  CarriedGradients(BackwardSweep &sweep, dfg::WhileOp loop);

  llvm::ArrayRef<unsigned> getPositions() const { return positions; }
  /// The values with which the backward loop starts.
  llvm::SmallVector<mlir::Value> initial();
  /// Makes `sums` the gradients of the values around the loop, to which an iteration adds; returns
  /// their previous gradients.
  llvm::SmallVector<mlir::Value> begin(mlir::ValueRange sums) const;
  /// Ends the body of a backward loop, which carries `leading` first.
  void end(mlir::Location loc, mlir::ValueRange leading, mlir::ValueRange carriedValues) const;
  /// Sets the gradients of the inits, and of the values around the loop, from the results of its
  /// backward loop.
  void take(dfg::WhileOp backward, unsigned leading, llvm::ArrayRef<mlir::Value> outer);

private:
  BackwardSweep &sweep;
  dfg::WhileOp loop;
  llvm::SmallVector<unsigned> positions;
  llvm::SmallVector<mlir::Value> captured;
};

/// Builds the gradients of loops.
class LoopGradients {
public:
  LoopGradients(BackwardSweep &sweep, Visitor &visitor, GradientTapes &tapes)
      : sweep(sweep), visitor(visitor), tapes(tapes) {}

  mlir::LogicalResult visit(dfg::WhileOp loop);

private:
  mlir::LogicalResult visitIteration(dfg::WhileOp loop, CarriedGradients &carried,
                                     dfg::WhileOp backward);
  dfg::WhileOp save(dfg::WhileOp loop, dfg::WhileOp backward, Saved &saved,
                    mlir::Operation *prelude);
  mlir::Value countIterations(dfg::WhileOp &loop);
  std::optional<dfg::DimExpr> tripsInside(dfg::WhileOp loop) const;

  BackwardSweep &sweep;
  Visitor &visitor;
  GradientTapes &tapes;
};

} // namespace tfc
