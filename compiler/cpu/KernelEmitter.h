#pragma once

#include "compiler/cpu/KernelShapes.h"
#include "compiler/cpu/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tfc::cpu {

/// Memory of a tensor: element (i, j, ...) is at pointer + i*strides[0] + j*strides[1] ...
///
/// Strides are in elements and expressions over the kernel's symbols.
struct Buffer {
  mlir::Value pointer;
  mlir::Type elementType;
  llvm::SmallVector<mlir::AffineExpr> strides;
  /// Bytes that the first element is known to be aligned to.
  int64_t alignment = 1;
  /// Whether whole vectors may be read and written past the last row (own temporaries are padded).
  bool padded = false;
  /// How deep in the emitter's scopes the contents are made; set by `setBuffer`.
  unsigned level = 0;
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
  /// Emits at `builder`'s insertion point, which is in the kernel's outermost block. `sizes` are
  /// the values (index) of the kernel's size arguments.
  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, KernelShapes &shapes,
                const Target &target, mlir::ValueRange sizes);

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
    mlir::AffineExpr oldDim;
    int64_t oldLanes;
    mlir::Value oldMask;
    unsigned oldLevel;
  };

  /// A region of code (a loop body): elements remembered inside are forgotten at its end.
  class Scope {
  public:
    explicit Scope(KernelEmitter &emitter);
    ~Scope();

  private:
    KernelEmitter &emitter;
  };

  /// Whether something had no emitter; it was reported.
  bool failed() const { return hasFailed; }
  void fail() { hasFailed = true; }

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

  /// The lanes of a vector at `counter` that lie before `upper`.
  mlir::Value tailMask(mlir::Value counter, mlir::Value upper, int64_t width);
  /// Runs `body` in vector mode over a new dim that goes from 0 to `size`.
  void vectorLoop(mlir::AffineExpr size, int64_t width, llvm::function_ref<void(LoopDim)> body);

  /// A scalar that the kernel computes outside of all loops.
  mlir::Value scalar(mlir::Value source) { return value(source, nullptr); }
  /// Copies a region of scalar operations in, on vectors where an argument is one, and returns the
  /// first value that it yields.
  mlir::Value inlineRegion(mlir::Region &region, mlir::ValueRange arguments);

  /// Raw accesses for emitters with layouts of their own: `offset` counts elements and may depend
  /// on the vector dim.
  mlir::Value loadAt(const Buffer &buffer, mlir::AffineExpr offset);
  void storeAt(const Buffer &buffer, mlir::AffineExpr offset, mlir::Value value);

private:
  using Key = std::pair<mlir::Value, mlir::AffineMap>;
  struct Remembered {
    mlir::Block *block;
    llvm::DenseMap<Key, mlir::Value> memory;
  };
  struct Named {
    mlir::Value value;
    unsigned level;
  };

  Key key(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::Value lookup(const Key &key) const;
  void remember(const Key &key, mlir::Value value) { regions.back().memory[key] = value; }
  unsigned level(mlir::AffineExpr expr);
  bool varies(mlir::AffineExpr expr);
  LoopDim lane() const { return llvm::cast<LoopDim>(laneDim); }
  const Named &named(mlir::AffineSymbolExpr symbol);
  void moveTo(unsigned level);

  mlir::Value varyingIndex(mlir::AffineExpr expr);
  mlir::Value emitIndex(mlir::AffineExpr expr);
  mlir::Value emitIndexBinary(mlir::AffineBinaryOpExpr expr);
  mlir::Value floorDivision(mlir::Value lhs, mlir::Value rhs, bool remainder);
  mlir::Value laneSteps(int64_t stride);

  mlir::AffineExpr offsetOf(const Buffer &buffer, llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::Value address(const Buffer &buffer, mlir::Value offset);
  mlir::Value loadScalar(const Buffer &buffer, mlir::AffineExpr offset);
  mlir::Value loadContiguous(const Buffer &buffer, mlir::AffineExpr base, bool reversed);
  mlir::Value gather(const Buffer &buffer, mlir::AffineExpr offset);
  void storeContiguous(const Buffer &buffer, mlir::AffineExpr base, mlir::Value value);
  mlir::Value fromMemory(mlir::Value value, mlir::Type elementType);
  mlir::Value toMemory(mlir::Value value);

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

  mlir::OpBuilder &b;
  mlir::Location location;
  KernelShapes &kernelShapes;
  const Target &cpu;
  mlir::AffineExpr laneDim;
  int64_t laneCount = 1;
  mlir::Value laneMask;
  unsigned laneLevel = 0;
  bool hasFailed = false;
  llvm::SmallVector<Named> dims;
  llvm::SmallVector<Named> symbols;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> symbolOf;
  llvm::SmallVector<Remembered> regions;
  llvm::DenseMap<mlir::Value, mlir::Value> indexCasts;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
};

} // namespace tfc::cpu
