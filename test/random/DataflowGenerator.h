//===- DataflowGenerator.h - Switches, merges and frames ------------------===//

#pragma once

#include "OperationGenerator.h"

namespace tfc::random {

class StatementGenerator;

/// Makes `dataflow` blocks.
class DataflowGenerator {
public:
  DataflowGenerator(Scope &scope, OperationGenerator &operations, StatementGenerator &statements)
      : scope(scope), operations(operations), statements(statements) {}

  bool makeDataflow();
  /// Returns true while the statements of a block are generated.
  bool isActive() const { return isInGraph; }

private:
  void makeGraphStatements(int64_t count);
  void makeGraphStatement();
  void wrapInNode(mlir::Operation *op);
  Values makePlace(mlir::ValueRange values, int64_t count);
  mlir::Value graphOp(llvm::StringRef name, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  bool makeFork();
  void joinSides(mlir::Value value, llvm::ArrayRef<mlir::Value> others);
  bool makeLooseMerge();
  mlir::Value enter(mlir::Value value, llvm::StringRef frame, bool isConstant);
  mlir::Value makeGoOn(llvm::StringRef frame);
  bool makeFrame();
  void closeFrame(mlir::ValueRange merged, mlir::ValueRange onTrue,
                  llvm::ArrayRef<mlir::Value> made);

  Scope &scope;
  OperationGenerator &operations;
  StatementGenerator &statements;
  bool isInGraph = false;
  Values loose;                            // of the graph, which may be dead
  Values tokens;                           // of nodes that are live at the current place
  unsigned frames = 0;                     // of the graph, so far
  unsigned placeDepth = 0, frameDepth = 0; // around the current place
  mlir::Value counter;                     // of the frame around
};

} // namespace tfc::random
