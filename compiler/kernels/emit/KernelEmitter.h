// Emits elements of tensors and the bodies of generics, at points that the caller's loops reach.
#pragma once

#include "compiler/kernels/KernelShapes.h"
#include "compiler/kernels/emit/BufferEmitter.h"
#include "compiler/kernels/emit/LaneTarget.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tfc::kernels {

/// Emits elements of tensors inside loops that its user builds.
///
/// A tensor either has a buffer (arguments, results, temporaries) or is computed where it is read
/// (a parallel linalg.generic, a fill, a constant). In vector mode, an element that depends on the
/// vectorized dim is a `vector<lanes x T>`; all others are scalars. Elements are cached per
/// (tensor, indices), so that a producer that is read twice at the same point is computed once; a
/// cached element is valid in the `Scope` in which it was computed.
class KernelEmitter : public BufferEmitter {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, KernelShapes &shapes,
                const LaneTarget &target, mlir::ValueRange sizes);

  /// A region that is entered only under a condition: loads are not moved out of it.
  class GuardedScope {
  public:
    explicit GuardedScope(KernelEmitter &emitter)
        : scope(emitter), depth(emitter.loadDepth, emitter.values.depth()) {}

  private:
    Scope scope;
    llvm::SaveAndRestore<unsigned> depth;
  };

  const LaneTarget &target() const { return lanesOfTarget; }
  KernelShapes &shapes() { return kernelShapes; }

  /// Returns true if an operation had no emitter; the error has been reported.
  bool failed() const { return hasFailed; }
  void fail() { hasFailed = true; }

  /// Assigns a buffer to a tensor. A tensor without a buffer is computed where it is read.
  void setBuffer(mlir::Value tensor, Buffer buffer);
  /// Returns the buffer of a tensor, or null.
  const Buffer *buffer(mlir::Value tensor) const;
  /// Returns a dense row-major buffer of the tensor's shape at `pointer`.
  Buffer denseBuffer(mlir::Value tensor, mlir::Value pointer, int64_t alignment);

  /// Sets the temporary buffers for the code of an operation.
  void setWorkspace(mlir::Operation *op, llvm::SmallVector<Buffer> buffers);
  llvm::ArrayRef<Buffer> workspace(mlir::Operation *op) const;

  /// Returns the element of `tensor` at `indices`: a scalar, or a vector if it varies along the
  /// lanes.
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Returns the address of an element of a tensor that has a buffer.
  mlir::Value addressOf(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  /// Records `value` as the element of `tensor` at `indices` for readers in this scope.
  void bind(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value value);
  /// Stores an element (a vector along the lanes, or a scalar that is the same in all lanes).
  void store(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices, mlir::Value value);

  /// Emits the body of `op` at the point `loops` with the given accumulators (one for each output
  /// that the body reads) and returns the yielded values.
  llvm::SmallVector<mlir::Value> body(mlir::linalg::GenericOp op,
                                      llvm::ArrayRef<mlir::AffineExpr> loops,
                                      mlir::ValueRange accumulators);

  /// Says that each point has another divisor, so that no reciprocal serves several vectors.
  void setDivisorsVary(bool vary) { divisorsVary = vary; }

  /// Returns a scalar that the kernel computes outside of all loops.
  mlir::Value scalar(mlir::Value source) { return value(source, nullptr); }
  /// Inlines a region of scalar operations, vectorized if an argument is a vector, and returns the
  /// first value that it yields.
  mlir::Value inlineRegion(mlir::Region &region, mlir::ValueRange arguments);

private:
  Key keyOf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices) const {
    return key(value, indices, b.getContext());
  }
  mlir::AffineExpr offsetOf(const Buffer &buffer, llvm::ArrayRef<mlir::AffineExpr> indices);

  // Defined in BodyOps.cpp.
  struct Point {
    mlir::linalg::GenericOp op;
    llvm::ArrayRef<mlir::AffineExpr> loops;
    mlir::ValueRange accumulators;
    /// Values of the body at this point. They may depend on the accumulators, so they are not
    /// cached beyond the point.
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };
  mlir::Value value(mlir::Value source, Point *point);
  mlir::Value argumentValue(mlir::BlockArgument argument, Point &point);
  mlir::Value definedValue(mlir::OpResult source, Point *point);
  mlir::Value clone(mlir::Operation *op, Point *point);
  mlir::Value copy(mlir::Operation *op, llvm::SmallVector<mlir::Value> operands);
  void disableLanesOfDivisor(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::Value extract(mlir::Operation *op, Point *point);
  mlir::Value guardedSelect(mlir::Operation *op, Point *point);
  mlir::AffineExpr indexExpr(mlir::Value source, Point *point);
  std::optional<IndexRange> boundsOf(mlir::Value source, Point *point);
  mlir::AffineExpr divisionExpr(mlir::Operation *op, Point *point);
  std::optional<bool> knownCondition(mlir::Value condition, Point *point);
  mlir::Value knownOperand(mlir::Operation *op, Point *point);
  mlir::AffineExpr indexSymbol(mlir::Value number);
  mlir::Value constantElement(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::LLVM::GlobalOp createGlobal(mlir::DenseElementsAttr elements);
  mlir::Value zero(mlir::Type elementType);

  KernelShapes &kernelShapes;
  const LaneTarget &lanesOfTarget;
  bool divisorsVary = false;
  bool hasFailed = false;
  unsigned numConstants = 0;
  /// Loads stay inside of this region.
  unsigned loadDepth = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> indexCasts;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Buffer>> workspaces;
};

} // namespace tfc::kernels
