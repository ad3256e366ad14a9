// The shapes and loop extents of a kernel, as expressions over its size arguments.
#pragma once

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"

namespace tfc::kernels {

/// Shapes of the tensors of a kernel in linalg form, as semi-affine expressions over symbols.
///
/// Symbol i is the kernel's i-th size argument; further symbols represent index values that cannot
/// be expressed in terms of these.
class KernelShapes {
public:
  explicit KernelShapes(kernel::FuncOp kernel);

  kernel::FuncOp kernel() const { return func; }
  unsigned numSizes() const { return sizeCount; }

  /// The shape of a tensor value of the kernel.
  llvm::ArrayRef<mlir::AffineExpr> shapeOf(mlir::Value tensor);

  /// The extent of every loop of `op`.
  llvm::SmallVector<mlir::AffineExpr> loopSizes(mlir::linalg::GenericOp op);

  /// The number of elements, simplified.
  mlir::AffineExpr numElements(mlir::Value tensor);

  /// An index value of the kernel's body as an expression over symbols.
  mlir::AffineExpr indexExpr(mlir::Value index);

  /// Returns the index values that the symbols represent.
  llvm::ArrayRef<mlir::Value> symbolValues() const { return symbols; }

private:
  mlir::AffineExpr symbolOf(mlir::Value index);

  kernel::FuncOp func;
  unsigned sizeCount = 0;
  llvm::SmallVector<mlir::Value> symbols;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> indexExprs;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> shapes;
};

/// Returns the indices at which a generic reads an operand, over its loops. Where one is taken
/// modulo the size of its axis, so that linalg does not infer the extent of a loop from that, it is
/// the same without: indices are inside of their axes.
llvm::SmallVector<mlir::AffineExpr> indicesOf(mlir::linalg::GenericOp op, mlir::OpOperand *operand);

} // namespace tfc::kernels
