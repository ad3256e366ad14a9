//===- Scratch.h - Operations of which gradients consist ------------------===//

#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <memory>
#include <vector>

namespace tfc::reference {

/// Operations outside of the module, with arguments and results.
struct Fragment {
  mlir::Block block;
  llvm::SmallVector<mlir::Value> results; // null if there is none

  /// Erases operations that no result needs.
  void prune();
};

/// Fragments are built once and executed often.
class Scratch {
public:
  /// The gradients of the operands in `wanted`, in the operands' shapes, from those of the results,
  /// which are arguments if `isGiven`.
  Fragment *gradientOf(mlir::Operation *op, const std::vector<bool> &isGiven,
                       const std::vector<bool> &wanted);
  /// The sum of two values of the type.
  Fragment *sumOf(mlir::Type type, mlir::Location loc);
  /// Indices and rows of the gradient of a gather.
  Fragment *rowsOf(mlir::Operation *gather);

  ~Scratch();

private:
  using Key = std::tuple<mlir::Operation *, std::vector<bool>, std::vector<bool>>;
  std::map<Key, std::unique_ptr<Fragment>> gradients;
  std::map<const void *, std::unique_ptr<Fragment>> sums;
  std::map<mlir::Operation *, std::unique_ptr<Fragment>> rows;
  /// In the order of their creation: later fragments may use definitions of earlier ones.
  std::vector<Fragment *> all;
};

} // namespace tfc::reference
