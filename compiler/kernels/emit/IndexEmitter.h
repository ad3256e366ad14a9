//===- IndexEmitter.h - Index values along loops and lanes ----------------===//

#pragma once

#include "compiler/kernels/Ranges.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace tfc::kernels {

/// A loop counter: `dim` represents it in index expressions.
using LoopDim = mlir::AffineDimExpr;

/// Emitted values, each recorded for the region (a loop body) in which it is visible.
class ScopedValues {
public:
  using Key = std::pair<mlir::Value, mlir::AffineMap>;

  void open(mlir::Block *block) { regions.emplace_back().block = block; }
  void close() { regions.pop_back(); }

  /// The depth of the innermost region; the kernel's body has depth 0.
  unsigned depth() const { return regions.size() - 1; }
  mlir::Block *block(unsigned depth) const { return regions[depth].block; }

  mlir::Value lookup(const Key &key) const;
  void remember(const Key &key, mlir::Value value) { remember(key, value, depth()); }
  void remember(const Key &key, mlir::Value value, unsigned depth) {
    regions[depth].values[key] = value;
  }

private:
  struct Region {
    mlir::Block *block = nullptr;
    llvm::DenseMap<Key, mlir::Value> values;
  };
  llvm::SmallVector<Region> regions;
};

/// Emits the values of index expressions inside loops that its user builds.
///
/// Expressions are affine over loop dims (`addDim`) and symbols: the kernel's sizes and all values
/// passed to `addSymbol`. In vector mode, one loop dim runs along the lanes: an index that depends
/// on it is a vector, all others are scalars (use `broadcast` where a vector is needed).
class IndexEmitter {
public:
  /// Emits at `builder`'s insertion point, which must be in the kernel's outermost block. `sizes`
  /// are the index values of the kernel's size arguments.
  IndexEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange sizes);

  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() const { return location; }

  /// Adds a dim for a loop counter (an `index` value).
  LoopDim addDim(mlir::Value counter);
  /// Records the values that a counter has, in all lanes that are enabled if lanes run along it.
  /// Comparisons of indices that follow from them are not emitted.
  void setRange(LoopDim dim, IndexRange range);
  /// Returns the symbol of a scalar or vector `index` value, which is added at the first call.
  mlir::AffineExpr addSymbol(mlir::Value value);
  mlir::AffineExpr constantExpr(int64_t value);

  /// Returns the `index` value of an expression.
  mlir::Value indexValue(mlir::AffineExpr expr);
  mlir::Value indexConstant(int64_t value);

  /// Puts the emitter in vector mode during its lifetime: `dim` runs along `lanes` lanes. Loads and
  /// stores leave out lanes that are disabled in `mask`; a null mask enables all lanes.
  class VectorMode {
  public:
    VectorMode(IndexEmitter &emitter, LoopDim dim, int64_t lanes, mlir::Value mask);
    ~VectorMode();

  private:
    IndexEmitter &emitter;
    mlir::AffineExpr oldDim;
    int64_t oldLanes;
    mlir::Value oldMask;
    unsigned oldLevel;
  };

  /// A region of code (a loop body): values recorded inside are dropped at its end.
  class Scope {
  public:
    explicit Scope(IndexEmitter &emitter);
    ~Scope();

  private:
    IndexEmitter &emitter;
  };

  /// Emits a loop over [lower, upper), or only its body if it has one trip. `body` returns the
  /// values that the next iteration carries.
  llvm::SmallVector<mlir::Value> forLoop(
      mlir::Value lower, mlir::Value upper, int64_t step, llvm::SmallVector<mlir::Value> carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(LoopDim, llvm::SmallVector<mlir::Value>)>
          body);

  int64_t lanes() const { return laneCount; }
  mlir::Value mask() const { return laneMask; }

  /// Broadcasts a scalar to the current lanes; vectors are returned unchanged.
  mlir::Value broadcast(mlir::Value value);

  /// Returns a mask of the lanes of a vector at `counter` whose index is less than `upper`; null
  /// for a scalar, whose index is.
  mlir::Value tailMask(mlir::Value counter, mlir::Value upper, int64_t width);
  /// Runs `body` in vector mode over a new dim from 0 to `size`.
  void laneLoop(mlir::AffineExpr size, int64_t width, llvm::function_ref<void(LoopDim)> body);

protected:
  using Key = ScopedValues::Key;

  static Key key(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> indices,
                 mlir::MLIRContext *context);
  /// Returns the depth of the outermost region in which the expression can be evaluated.
  unsigned level(mlir::AffineExpr expr);
  bool varies(mlir::AffineExpr expr);
  /// Returns bounds of an expression, if the counters in it have ranges.
  std::optional<IndexRange> boundsOf(mlir::AffineExpr expr);
  bool hasRanges() const { return anyRange; }
  LoopDim lane() const { return llvm::cast<LoopDim>(laneDim); }
  unsigned laneDepth() const { return laneLevel; }
  /// Returns the value of an expression in the first lane.
  mlir::Value scalarIndex(mlir::AffineExpr expr);
  mlir::Value sizeArgument(unsigned number) const { return symbols[number].value; }
  /// Moves the insertion point to the block of an enclosing region, before the loop that contains
  /// the current one.
  void moveTo(unsigned level);

  mlir::OpBuilder &b;
  mlir::Location location;
  ScopedValues values;

private:
  struct Named {
    mlir::Value value;
    unsigned level;
    std::optional<IndexRange> range = std::nullopt;
  };

  const Named &named(mlir::AffineSymbolExpr symbol) { return symbols[symbol.getPosition()]; }
  mlir::Value varyingIndex(mlir::AffineExpr expr);
  mlir::Value emitIndex(mlir::AffineExpr expr);
  mlir::Value emitIndexBinary(mlir::AffineBinaryOpExpr expr);
  mlir::Value floorDivision(mlir::Value lhs, mlir::Value rhs, bool remainder);
  mlir::Value laneSteps(int64_t stride);

  mlir::AffineExpr laneDim;
  int64_t laneCount = 1;
  mlir::Value laneMask;
  unsigned laneLevel = 0;
  llvm::SmallVector<Named> dims;
  bool anyRange = false;
  llvm::SmallVector<Named> symbols;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> symbolOf;
};

} // namespace tfc::kernels
