//===- OperationGenerator.h - Calls of operations from the table ----------===//

#pragma once

#include "Scope.h"
#include "dialects/dfg/OpTable.h"

namespace tfc::random {

/// Draws operations from the table and creates them through `GraphBuilder`. A call with invalid
/// types is tried again, so an operation that is added to the dialect is used without a change
/// here.
class OperationGenerator {
public:
  explicit OperationGenerator(Scope &scope) : scope(scope) {}

  bool makeOperation();
  /// An operation applied to `value` whose result has the same type, or null.
  mlir::Value change(mlir::Value value);
  const dfg::OpSignature &pickElementwiseOp();
  Attributes pickAttributes(const dfg::OpSignature &op, mlir::ValueRange operands);

private:
  /// Unless null, `first` is the first operand, and the result has its type.
  bool tryOperation(const dfg::OpSignature &op, mlir::Value first = {});
  const dfg::OpSignature &pickOp();
  const dfg::OpSignature &pickListOp();
  /// Adds the missing operands to those given.
  bool pickOperands(const dfg::OpSignature &op, Values &operands);
  mlir::Value pickOperand(const dfg::OpSignature &op, unsigned number, mlir::ValueRange before);
  mlir::Value pickIndex(const dfg::OpSignature &op, mlir::ValueRange before);
  dfg::Shape varyShape(mlir::ValueRange before);
  mlir::Attribute pickAttribute(const dfg::AttrSignature &attr, mlir::ValueRange operands);
  mlir::Attribute pickDims(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> shape);
  mlir::Attribute pickInts(llvm::StringRef name, int64_t rank);
  mlir::Attribute pickWord(const dfg::AttrSignature &attr, mlir::ValueRange operands);
  mlir::Attribute pickText(llvm::StringRef name, mlir::ValueRange operands);

  Scope &scope;
};

} // namespace tfc::random
