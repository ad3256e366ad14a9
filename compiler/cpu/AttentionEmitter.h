// The emitter of attention kernels: loops over blocks of scores, and copies of their operands.
#pragma once

#include "compiler/cpu/AttentionPlan.h"
#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/LoopEmitter.h"
#include "compiler/kernels/emit/ProductEmitter.h"

namespace tfc::cpu {

/// Emits units of an attention kernel. The products of a block of scores go to the stack, where
/// everything between the products is computed row by row, with vectors along the terms; then they
/// are factors of other products. With a softmax, the sums of products are those of exp(x - m) for
/// the largest score m so far: they are scaled when m grows, and divided by the sum of the
/// exponentials in the end.
class AttentionEmitter : LoopEmitter {
public:
  AttentionEmitter(KernelEmitter &emitter, const Target &target, const AttentionPlan &plan);

  void emit(mlir::Value begin, mlir::Value end);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Indices = llvm::SmallVector<mlir::AffineExpr>;

  /// A matrix on the stack.
  struct Matrix {
    mlir::Value pointer;
    int64_t stride = 0;
  };
  /// A copy of a factor, by its index among the rows or terms and among the others.
  struct Copy {
    const AttentionProduct *product;
    const ContractionFactor *factor;
    bool isOfRows, isTransposed;
    Matrix memory;
    bool isShared = false; // with one before it
  };
  /// A product on the stack: rows of `a`, with a step along the sum, times `b`.
  struct TiledFactors {
    RegisterTile tile;
    TileSource a;
    Stride aStep;
    Matrix b, result;
    bool hasWholePanels; // columns are a multiple of those of the tile
  };
  /// A range of rows or of terms.
  struct Range {
    mlir::Value first, count;
  };

  // Blocks (in AttentionEmitter.cpp).
  void placeMemory();
  Matrix matrix(int64_t rows, int64_t columns);
  void emitUnit(mlir::Value unit);
  Indices batchAt(mlir::Value number);
  void emitRowsOfUnit(mlir::Value number);
  void emitAllRows();
  Range blockOf(mlir::Value number, llvm::ArrayRef<unsigned> dims);
  void addBlock();
  mlir::Value endOf(mlir::Value row);
  mlir::Value endOfColumns(mlir::Value row);
  mlir::Value startOfRows(mlir::Value term);
  void sumScores();
  void sumResults(bool alongRows);
  void multiply(const TiledFactors &factors, mlir::Value count,
                llvm::function_ref<mlir::Value(mlir::Value)> vectors,
                llvm::function_ref<std::pair<mlir::Value, mlir::Value>(mlir::Value)> steps,
                bool adds);
  void multiplyTile(const TiledFactors &factors, RegisterTile tile, mlir::Value row,
                    mlir::Value column, mlir::Value begin, mlir::Value count, bool adds);

  // Scores (in AttentionScores.cpp).
  void bindScores(mlir::Value row, mlir::Value column, mlir::AffineExpr rowDim,
                  mlir::AffineExpr termDim);
  Values alongRow(mlir::Value end, Values carried,
                  llvm::function_ref<Values(mlir::Value column, LoopDim term, Values)> body);
  void computeFactors();
  Values rowFactors(mlir::Value row, mlir::AffineExpr rowDim, mlir::Value end, Values carried);
  mlir::Value reduce(size_t op, mlir::AffineExpr rowDim, LoopDim term, mlir::Value accumulator);
  void startSoftmax(mlir::Value row, mlir::AffineExpr rowDim, mlir::Value end);
  void scaleSums(mlir::Value row, mlir::Value scale, mlir::Value drops);
  mlir::Value combineLanes(size_t op, mlir::Value vector);
  mlir::Value neutral(size_t op);
  mlir::Value rowPointer(size_t op, mlir::Value row);
  void resetRows();
  void finishRows();

  // Operands and results (in AttentionCopies.cpp).
  void addCopy(const AttentionProduct &product, const ContractionFactor &factor, bool isOfRows,
               bool isTransposed);
  const Matrix &copyOf(const AttentionProduct &product, const ContractionFactor &factor,
                       bool isTransposed) const;
  Indices elementsOf(const Copy &copy) const;
  bool isContiguous(const Copy &copy, bool alongOthers);
  mlir::Value maskOf(mlir::AffineExpr extent, mlir::Value rest);
  mlir::AffineExpr extentOf(const Copy &copy, bool ofOthers) const;
  void fill(const Copy &copy, Range range);
  bool isWorthFetching(const Copy &copy);
  void prefetchNext(mlir::Value row);
  void fillTransposed(const Copy &copy, Range range, bool alongOthers);
  mlir::Value factorOf(const Copy &copy, mlir::AffineExpr across, mlir::AffineExpr other);
  void clear(const Matrix &sums, int64_t columns);
  void storeResult(size_t result, Range range, bool adds);

  Indices scoreAt(mlir::AffineExpr row, mlir::AffineExpr term) const;
  Indices pointOf(llvm::ArrayRef<std::optional<unsigned>> loopOf, unsigned numLoops,
                  mlir::AffineExpr row, mlir::AffineExpr term) const;
  Indices pointOf(const AttentionProduct &product, mlir::AffineExpr row, mlir::AffineExpr term,
                  mlir::AffineExpr other) const;
  mlir::Value at(const Matrix &matrix, mlir::Value row, mlir::Value column);
  mlir::Value maximum(mlir::Value lhs, mlir::Value rhs);
  mlir::VectorType vectorType() const { return mlir::VectorType::get({plan.lanes}, type); }

  KernelEmitter &e;
  const Target &target;
  const AttentionPlan &plan;
  const AttentionForm &form;
  mlir::Type type;

  Indices inBatch;
  /// The point of the batch of the next unit, if that reads other rows and terms in one block.
  Indices nextInBatch;
  Range rows, terms; // of the block
  /// The scores and, in the same place, the factors computed from them.
  std::vector<Matrix> scores;
  /// For each result, the number of its factor among the different ones.
  llvm::SmallVector<unsigned> factorOfResult;
  std::vector<Matrix> sums; // of each result
  Values rowValues;         // of each reduction, for all rows of the block
  std::vector<Copy> copies;
};

} // namespace tfc::cpu
