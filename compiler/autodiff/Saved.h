//===- Saved.h - Forward values used by backward regions ------------------===//

#pragma once

#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {

/// The values of a forward block that a backward block uses but that are not visible to it. Those
/// that are cheap to compute from available values are recomputed, the others are saved.
class Saved {
public:
  Saved(mlir::Block &forward, mlir::Block &backward, dfg::GradientsOp gradients,
        mlir::OpBuilder::Listener *listener);

  /// Registers `backward` as the value of `forward` in the backward block.
  void provide(mlir::Value forward, mlir::Value backward) {
    mapping.map(forward, backward);
    saved.remove(forward);
  }
  /// The value in the backward block of a loaded forward value.
  mlir::Value get(mlir::Value forward) const { return mapping.lookup(forward); }
  /// Returns true if types of saved values mention sizes of the forward block, which are bound
  /// again.
  bool bindsSizes() const { return !binders.empty(); }
  /// Chooses the values to save.
  llvm::ArrayRef<mlir::Value> choose();
  /// Replaces saved values in the backward block by the results of `load`, after `prelude` (at the
  /// start if it is null).
  void load(mlir::Operation *prelude,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> load);

private:
  bool isForeign(mlir::Value value) const;
  void saveSizesOfLists();
  void collectBinders();
  void collectNeeded();
  std::optional<bool> knownAvailability(mlir::Value value) const;
  bool isAvailable(mlir::Value value);
  void choose(mlir::Value value);
  mlir::Value chooseOrGetSmaller(mlir::Value value);
  mlir::Value compute(mlir::OpBuilder &b, mlir::Value value);
  unsigned bindersBefore(mlir::Value value) const;

  mlir::Block &forward, &backward;
  dfg::GradientsOp gradients;
  mlir::OpBuilder::Listener *listener;
  mlir::IRMapping mapping; // the values in the backward block of forward values
  llvm::SmallVector<mlir::Value> needed;
  llvm::SmallVector<dfg::BindSizeOp> binders; // of the forward block
  llvm::SetVector<mlir::Value> saved;
  llvm::DenseMap<mlir::Value, bool> available;
};

/// An insertion point after `value` in its block.
mlir::OpBuilder builderAfter(mlir::Value value, mlir::OpBuilder::Listener *listener);

} // namespace tfc
