#pragma once

#include "compiler/cpu/KernelShapes.h"
#include "compiler/cpu/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tfc::cpu {

/// Memory of a tensor: element (i, j, ...) is at pointer + offset + i*strides[0] + j*strides[1] ...
///
/// Strides are in elements and expressions over the kernel's symbols; `offset` may use loop dims.
struct Buffer {
  mlir::Value pointer;
  mlir::Type elementType;
  llvm::SmallVector<mlir::AffineExpr> strides;
  /// Bytes that the first element is known to be aligned to.
  int64_t alignment = 1;
  /// Whether whole vectors may be read and written past the last row (own temporaries are padded).
  bool padded = false;
};

/// A loop counter: `dim` stands for it in index expressions.
using LoopDim = mlir::AffineDimExpr;

/// Emits elements of tensors inside loops that its user builds.
///
/// A tensor is a buffer (arguments, results, temporaries) or is computed where it is read (a
/// parallel linalg.generic, a fill, a constant). Index expressions are affine over loop dims
/// (`addDim`) and symbols: the kernel's sizes and anything that `addSymbol` names.
///
/// In vector mode one loop dim runs along the lanes: an element that depends on it is a
/// `vector<lanes x T>`, every other element stays a scalar (use `broadcast` where a vector is
/// needed). Elements are remembered per (tensor, indices), so a producer that is read twice at one
/// place is computed once; `Scope` limits the memory to a loop body.
class KernelEmitter {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, KernelShapes &shapes,
                const Target &target);

  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() const { return location; }
  const Target &target() const { return cpu; }
  KernelShapes &shapes() { return kernelShapes; }

  /// Names a loop counter (an `index` value).
  LoopDim addDim(mlir::Value counter);
  /// Names a scalar or vector `index` value; the same value gets the same symbol.
  mlir::AffineExpr addSymbol(mlir::Value value);
  mlir::AffineExpr constantExpr(int64_t value);

  /// The `index` value of an expression that does not vary along the lanes.
  mlir::Value indexValue(mlir::AffineExpr expr);
  mlir::Value indexConstant(int64_t value);

  /// Makes `dim` run along `lanes` lanes: lane l has the value of its counter plus l. `mask`
  /// (vector<lanes x i1>, null for all) says which lanes are enabled. Restored by the destructor.
  class VectorMode {
  public:
    VectorMode(KernelEmitter &emitter, LoopDim dim, int64_t lanes, mlir::Value mask);
    ~VectorMode();

  private:
    KernelEmitter &emitter;
    LoopDim oldDim;
    int64_t oldLanes;
    mlir::Value oldMask;
  };

  /// A region of code (a loop body): elements remembered inside are forgotten at its end.
  class Scope {
  public:
    explicit Scope(KernelEmitter &emitter);
    ~Scope();

  private:
    KernelEmitter &emitter;
  };

  int64_t lanes() const { return laneCount; }
  mlir::Value mask() const { return laneMask; }

  /// Gives a tensor value memory. Without a buffer, a tensor is computed where it is read.
  void setBuffer(mlir::Value tensor, Buffer buffer);
  /// The memory of a tensor, or null.
  const Buffer *buffer(mlir::Value tensor) const;
  /// A dense row-major buffer of the tensor's shape at `pointer`.
  Buffer denseBuffer(mlir::Value tensor, mlir::Value pointer, int64_t alignment);

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

  /// A vector of the current lanes with `value` in each, unless it is a vector already.
  mlir::Value broadcast(mlir::Value value);

  /// Raw accesses for emitters with layouts of their own: `offset` counts elements and may depend
  /// on the vector dim.
  mlir::Value loadAt(const Buffer &buffer, mlir::AffineExpr offset);
  void storeAt(const Buffer &buffer, mlir::AffineExpr offset, mlir::Value value);

private:
  struct Impl;
  mlir::OpBuilder &b;
  mlir::Location location;
  KernelShapes &kernelShapes;
  const Target &cpu;
  LoopDim laneDim;
  int64_t laneCount = 1;
  mlir::Value laneMask;
};

} // namespace tfc::cpu
