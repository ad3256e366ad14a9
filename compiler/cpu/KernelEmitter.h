#pragma once

#include "compiler/cpu/BufferEmitter.h"
#include "compiler/cpu/Target.h"
#include "compiler/kernels/KernelShapes.h"
#include "mlir/IR/IRMapping.h"

namespace tfc::cpu {

// Shapes and schedules of kernels are those of all targets.
using namespace kernels;

/// Emits elements of tensors inside loops that its user builds.
///
/// A tensor is a buffer (arguments, results, temporaries) or is computed where it is read (a
/// parallel linalg.generic, a fill, a constant). In vector mode an element that depends on the dim
/// along the lanes is a `vector<lanes x T>`, every other element stays a scalar. Elements are
/// remembered per (tensor, indices), so a producer that is read twice at one place is computed
/// once; `Scope` limits the memory to a loop body.
class KernelEmitter : public BufferEmitter {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, KernelShapes &shapes,
                const Target &target, mlir::ValueRange sizes);

  const Target &target() const { return cpu; }
  KernelShapes &shapes() { return kernelShapes; }

  /// Whether something had no emitter; it was reported.
  bool failed() const { return hasFailed; }
  void fail() { hasFailed = true; }

  /// Gives a tensor value memory. Without a buffer, a tensor is computed where it is read.
  void setBuffer(mlir::Value tensor, Buffer buffer);
  /// The memory of a tensor, or null.
  const Buffer *buffer(mlir::Value tensor) const;
  /// A dense row-major buffer of the tensor's shape at `pointer`.
  Buffer denseBuffer(mlir::Value tensor, mlir::Value pointer, int64_t alignment);

  /// The memory that the code of an operation works in.
  void setWorkspace(mlir::Operation *op, llvm::SmallVector<Buffer> buffers);
  llvm::ArrayRef<Buffer> workspace(mlir::Operation *op) const;

  /// The element of `tensor` at `indices`: a scalar, or a vector if it varies along the lanes.
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Says that the element of `tensor` at `indices` is `value`, for readers in this scope.
  void bind(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value value);
  /// Writes an element (a vector along the lanes, or a scalar that is the same in all of them).
  void store(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value value);

  /// Runs the body of `op` at the point `loops` with the given accumulators (one for each output
  /// that the body reads) and returns what it yields.
  llvm::SmallVector<mlir::Value> body(mlir::linalg::GenericOp op,
                                      llvm::ArrayRef<mlir::AffineExpr> loops,
                                      mlir::ValueRange accumulators);

  /// A scalar that the kernel computes outside of all loops.
  mlir::Value scalar(mlir::Value source) { return value(source, nullptr); }
  /// Copies a region of scalar operations in, on vectors where an argument is one, and returns the
  /// first value that it yields.
  mlir::Value inlineRegion(mlir::Region &region, mlir::ValueRange arguments);

private:
  Key keyOf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices) const {
    return key(value, indices, b.getContext());
  }
  mlir::AffineExpr offsetOf(const Buffer &buffer, llvm::ArrayRef<mlir::AffineExpr> indices);

  // In BodyOps.cpp.
  struct Point {
    mlir::linalg::GenericOp op;
    llvm::ArrayRef<mlir::AffineExpr> loops;
    mlir::ValueRange accumulators;
    /// Values that may depend on the accumulators, which must not be remembered beyond the point.
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };
  mlir::Value value(mlir::Value source, Point *point);
  mlir::Value argumentValue(mlir::BlockArgument argument, Point &point);
  mlir::Value definedValue(mlir::OpResult source, Point *point);
  mlir::Value clone(mlir::Operation *op, Point *point);
  mlir::Value copy(mlir::Operation *op, llvm::SmallVector<mlir::Value> operands);
  void disableLanesOfDivisor(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::Value extract(mlir::Operation *op, Point *point);
  mlir::AffineExpr indexExpr(mlir::Value source, Point *point);
  mlir::AffineExpr indexSymbol(mlir::Value number);
  mlir::Value constantElement(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::Value zero(mlir::Type elementType);

  KernelShapes &kernelShapes;
  const Target &cpu;
  bool hasFailed = false;
  llvm::DenseMap<mlir::Value, mlir::Value> indexCasts;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Buffer>> workspaces;
};

} // namespace tfc::cpu
