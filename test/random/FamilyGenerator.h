//===- FamilyGenerator.h - Statements that chance alone rarely makes ------===//

#pragma once

#include "OperationGenerator.h"

namespace tfc::random {

/// Generates groups of operations whose operands must fit each other.
class FamilyGenerator {
public:
  FamilyGenerator(Scope &scope, OperationGenerator &operations)
      : scope(scope), operations(operations) {}

  bool makeScalars();
  bool makeProduct();
  bool makeConvolution();
  bool makePool();
  bool makeList();
  void readLists(size_t from);
  /// Names a data-dependent size and uses it; leaves nothing if it fails.
  bool tryBinding();

private:
  bool tryOperands(const dfg::OpSignature &op, llvm::ArrayRef<mlir::Value> values);
  Attributes pickWindowOptions(size_t rank);
  mlir::Value pickImages(size_t rank, int64_t channels);
  mlir::Value pickKernel(mlir::Value images, llvm::ArrayRef<int64_t> taps, int64_t perGroup,
                         int64_t features);
  bool makeSize();

  Scope &scope;
  OperationGenerator &operations;
};

} // namespace tfc::random
