//===- Scratch.h - Operations that gradients are made of ------------------===//

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
  llvm::SmallVector<mlir::Value> results; // null where there is none

  /// Erases what none of the results needs.
  void prune();
};

/// Fragments are made once and run often.
class Scratch {
public:
  /// The gradients of the operands in `wanted` from those of the results, which are the arguments
  /// where `isGiven`; they have the operands' shapes.
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
  /// In the order in which they were made: a later one may use what an earlier one defines.
  std::vector<Fragment *> all;
};

} // namespace tfc::reference
