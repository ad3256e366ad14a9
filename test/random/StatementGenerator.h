//===- StatementGenerator.h - Branches, loops, state, gradients -----------===//

#pragma once

#include "DataflowGenerator.h"
#include "FamilyGenerator.h"

namespace tfc::random {

class StatementGenerator {
public:
  StatementGenerator(Scope &scope, OperationGenerator &operations, FamilyGenerator &families)
      : scope(scope), operations(operations), families(families),
        dataflow(scope, operations, *this) {}

  void makeStatement();
  bool makeGradients();

private:
  void drawStatement();
  bool makeBranch();
  bool makeLoop();
  bool makeRead();
  bool makeExchange(int64_t one, int64_t other);
  bool makeAssign();
  /// Adds statements at the end of the current block, whose values go out of scope after them.
  template <typename Body> void inBlock(mlir::Block &block, Body body);
  /// A value of `type` that the current block computes, if there is one.
  mlir::Value yieldedValue(mlir::Type type, size_t blockStart);
  /// How deep branches and loops are nested.
  unsigned mostDepth() const { return scope.style.scale > 1 ? 3 : 2; }

  Scope &scope;
  OperationGenerator &operations;
  FamilyGenerator &families;
  DataflowGenerator dataflow;
};

} // namespace tfc::random
