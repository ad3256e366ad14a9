// Integers that a graph computes from constants, by the operations that have been built for it.
#pragma once

#include "dialects/dfg/SizeTensor.h"
#include "frontend/importer/Reals.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tfc::importer {

/// Returns the elements as a constant; null unless all of them are numbers.
mlir::DenseElementsAttr constantOf(const dfg::SizeTensor &sizes);

/// Has operations executed by the tool that reads the graph, if it can.
class ConstantEvaluator {
public:
  /// Returns the operation of the entry that binds a size, or in which one does; null for sizes
  /// that callers pass.
  using FindBinder = llvm::function_ref<mlir::Operation *(llvm::StringRef name)>;

  explicit ConstantEvaluator(mlir::MLIRContext *context) : context(context) {}

  /// Returns true if the results of these operations depend on nothing but their operands, and
  /// their only effects are to check data and to bind sizes.
  static bool areFunctions(llvm::ArrayRef<mlir::Operation *> ops);

  /// Executes `ops`, which are functions, and those that their operands and sizes depend on.
  /// Returns the elements of each of `results`, or null where they are not known exactly; an empty
  /// list if the operations depend on anything but constants and `given` values, if a check fails,
  /// or if that would take long.
  llvm::SmallVector<mlir::ElementsAttr> evaluate(llvm::ArrayRef<mlir::Operation *> ops,
                                                 llvm::ArrayRef<mlir::Value> results,
                                                 const KnownValues &given, FindBinder findBinder);

private:
  mlir::MLIRContext *context;
  double workLeft = kMostWork;

  /// Of one evaluation and of all: some tenths of a second, and about a second.
  static constexpr double kMostWorkAtOnce = 1 << 20, kMostWork = 1 << 22;
  /// Of finding what an operation depends on.
  static constexpr double kWorkOfVisit = 16;
};

} // namespace tfc::importer
