//===- Saved.h - What backward regions use of forward regions --------------===//

#pragma once

#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {

/// The values of a forward block that a backward block uses without seeing them. Those that are
/// cheap to compute from what the backward block sees or gets are computed again, the others are
/// saved.
class Saved {
public:
  Saved(mlir::Block &forward, mlir::Block &backward, dfg::GradientsOp gradients,
        mlir::OpBuilder::Listener *listener);

  /// Tells that the backward block has the value of `forward` as `backward`.
  void provide(mlir::Value forward, mlir::Value backward) {
    mapping.map(forward, backward);
    saved.remove(forward);
  }
  /// What the backward block has of a value that was loaded.
  mlir::Value get(mlir::Value forward) const { return mapping.lookup(forward); }
  /// Whether sizes that the forward block binds are bound again, in the types of what is saved.
  bool bindsSizes() const { return !binders.empty(); }
  /// Chooses what is saved.
  llvm::ArrayRef<mlir::Value> choose();
  /// Lets the backward block use what `load` gives for saved values, behind `prelude` (at the start
  /// where that is null).
  void load(mlir::Operation *prelude,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> load);

private:
  bool isForeign(mlir::Value value) const;
  void saveSizesOfLists();
  void collectBinders();
  void collectNeeded();
  bool isAvailable(mlir::Value value);
  void choose(mlir::Value value);
  mlir::Value compute(mlir::OpBuilder &b, mlir::Value value);
  unsigned bindersBefore(mlir::Value value) const;

  mlir::Block &forward, &backward;
  dfg::GradientsOp gradients;
  mlir::OpBuilder::Listener *listener;
  mlir::IRMapping mapping; // what the backward block has of foreign values
  llvm::SmallVector<mlir::Value> needed;
  llvm::SmallVector<dfg::BindSizeOp> binders; // of the forward block
  llvm::SetVector<mlir::Value> saved;
  llvm::DenseMap<mlir::Value, bool> available;
};

/// Where something can be inserted that uses `value` in its block.
mlir::OpBuilder builderBehind(mlir::Value value, mlir::OpBuilder::Listener *listener);

} // namespace tfc
