// The emitter of contractions: loops over units, panels and tiles, and packing of operands.
#pragma once

#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/LoopEmitter.h"
#include "compiler/kernels/emit/ProductEmitter.h"

namespace tfc::cpu {

/// An operand in terms of the loops of a contraction.
struct ContractionOperand {
  const ContractionFactor *factor = nullptr;
  /// Access to the input at addresses that are linear in all counters; empty if there is none.
  std::optional<LinearAccess> access;
  mlir::Value tensor;
  mlir::Type elementType;
  /// Strides of the access along m (of a) or n (of b), along k, and along each loop of kOuter.
  Stride across, k;
  llvm::SmallVector<Stride> kOuter;
  /// True if factors are computed from elements rather than read.
  bool converts = false;
  /// True if tiles read it from a packed copy.
  bool packed = false;

  bool isContiguousAcross() const { return access && across.isFixed() && across.fixed == 1; }
  bool isContiguousAlongK() const { return access && k.isFixed() && k.fixed == 1; }
};

/// Returns true if the rows of a are packed on the stack before tiles read them: if they are
/// computed, if the stride between them is unknown, if several panels read them and their stride
/// along k is too large for the first-level cache, or if their words are not adjacent.
bool packsRows(const Target &target, const ContractionForm &form,
               const std::optional<LinearAccess> &a, int64_t elementBytes,
               const ContractionPlan &plan);

/// Returns the kind of the factors if both are bytes that are summed as i32.
std::optional<ByteSteps> matchBytes(const ContractionForm &form);

/// Returns true if both factors are bf16 that are summed as f32.
bool areShortFloats(const ContractionForm &form);

/// Maximum size of a packed copy of b, the number of rows of a product from which on packing b is
/// profitable, and the stride between rows of b from which on it may be.
inline constexpr int64_t kPanelBytes = 128 << 10, kPackingRows = 48, kFarBytes = 1024;
/// Maximum size of a packed copy of b for products without loops of kOuter.
inline int64_t panelBytes(const Target &target) {
  return std::clamp<int64_t>(target.l2Bytes / 4, kPanelBytes, 2 * kPanelBytes);
}
/// The same where a is read in place.
inline int64_t copyBytes(const Target &target) {
  return std::clamp<int64_t>(target.l2Bytes / 2, kPanelBytes, 2 * kPanelBytes);
}
int64_t packedBytes(const ContractionForm &form, int64_t steps, int64_t columns);

/// Emits the units of one contraction.
class ContractionEmitter : LoopEmitter {
public:
  ContractionEmitter(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                     const ContractionPlan &plan, ContractionForm form);

  void emit(mlir::Value begin, mlir::Value end);

private:
  /// The existing columns among columns [n0, n0 + vectors * lanes) of the output.
  struct Panel {
    int64_t vectors;
    /// For each vector, the mask of the lanes that exist; null for all lanes.
    llvm::SmallVector<mlir::Value> masks;
    /// Number of existing columns.
    mlir::Value columns;
    /// Its first column, and its number within the unit.
    mlir::Value n0, number;
    /// The same as `columns`, if that is known.
    int64_t width = 0;
  };
  using PanelBody = llvm::function_ref<void(const Panel &)>;

  // Units and loops (in ContractionEmitter.cpp).
  mlir::Value countFrom(mlir::Value first, int64_t most, mlir::AffineExpr size);
  void emitUnit(mlir::Value unit);
  void fixIndices(llvm::ArrayRef<unsigned> loops, mlir::Value number);
  void forEachPointOfRows(llvm::function_ref<void()> body);
  ContractionOperand analyzeOperand(bool isA);
  void choosePacking();
  void chooseBlocking();
  void allocateBuffers();
  void forEachPanel(PanelBody body);
  void forPanel(mlir::Value number, PanelBody body);
  void forEachVector(mlir::Value begin, mlir::Value end,
                     llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  void emitBlocks();
  void emitStepsOfBlocks();
  void openOuterStep(llvm::function_ref<void()> body);
  void emitRows(mlir::Value k0, mlir::Value kCount);
  void emitTiles(mlir::Value k0, mlir::Value kCount);
  void emitRowsOfTile(mlir::Value row, int64_t rows, mlir::Value k0, mlir::Value kCount);
  void emitTile(const Panel &panel, mlir::Value row, int64_t rows, const TileSource &source,
                llvm::ArrayRef<ReductionLoop> loops, mlir::Value k0);
  void prefetchEpilogue(const Panel &panel, mlir::Value row, int64_t rows);
  void prefetchRows(const Panel &panel, mlir::Value row, int64_t rows, mlir::Value k0,
                    mlir::Value kCount);
  Prefetch prefetchOf(const Panel &panel, mlir::Value row);
  void stepThroughPacked(llvm::SmallVectorImpl<ReductionLoop> &loops, int64_t columns);
  void setPairs(MicroTile &tile, const Panel &panel, mlir::Value k0);
  mlir::Value loadSteps(const ContractionOperand &operand, mlir::Value pointer, mlir::Value k,
                        mlir::Value mask);
  llvm::SmallVector<mlir::Value> addSteps(mlir::Value rowOfA, llvm::ArrayRef<mlir::Value> columns,
                                          int64_t vectors, mlir::Value begin, mlir::Value end,
                                          mlir::ValueRange sums, mlir::Value mask);
  void prefetchStream(mlir::Value column, mlir::Value k, int64_t number);
  mlir::Value multiplySteps(mlir::Value lhs, mlir::Value rhs, mlir::Value sum);
  llvm::SmallVector<mlir::Value> sumColumnsTogether(const Panel &panel, mlir::Value rowOfA);
  llvm::SmallVector<mlir::Value> sumColumnsInTurn(const Panel &panel, mlir::Value rowOfA);
  llvm::SmallVector<mlir::Value> emitLaneTile(const Panel &panel, mlir::Value row);
  void emitBufferedResults();
  mlir::Value sumPointer(const Panel &panel, mlir::Value row, mlir::Value column);
  void storeProduct(mlir::AffineExpr m, mlir::AffineExpr n, mlir::Value sum);

  // Streams of rows of b (in ContractionRows.cpp).
  bool readsRowsInPlace() const;
  void emitRowStream();
  void addRowsOfB(mlir::Value k, int64_t steps);

  // Packed copies (in ContractionPack.cpp).
  void packB(mlir::Value k0, mlir::Value kCount);
  mlir::Value packedPanel(const Panel &panel);
  mlir::Value packedStep(const Panel &panel, mlir::Value k);
  void packRowsOfB(mlir::Value k0, mlir::Value kCount);
  void packRowOfB(const Panel &panel, mlir::Value k0, mlir::Value k, int64_t steps);
  void packTransposedB(const Panel &panel, mlir::Value k0, mlir::Value kCount);
  int64_t packedTileElements() const;
  mlir::Value packedRows(mlir::Value row);
  void packUnitOfA(mlir::Value k0, mlir::Value kCount);
  TileSource packA(mlir::Value m, int64_t rows, mlir::Value k0, mlir::Value kCount,
                   Stride &kStride);
  mlir::Value factorAt(const ContractionOperand &operand, mlir::AffineExpr m, mlir::AffineExpr n,
                       mlir::AffineExpr k);
  mlir::Value wholeWords(mlir::Value k0, mlir::Value kCount);
  void forEachWord(mlir::Value k0, mlir::Value kCount,
                   llvm::function_ref<void(mlir::Value, int64_t)> body);
  mlir::Value maskOfSteps(mlir::Value k0, mlir::Value kCount, mlir::Value k);
  mlir::Value wordsOf(mlir::Value elements, mlir::Value mask);
  mlir::Value loadRun(const ContractionOperand &operand, mlir::Value pointer, mlir::Value mask);
  void prefetchAhead(const ContractionOperand &operand, mlir::Value pointer, int64_t steps);
  mlir::Value loadWord(const ContractionOperand &operand, mlir::Value pointer, int64_t steps,
                       mlir::Value mask);

  /// Returns the conversion from elements to factors of a linear operand, or null if there is none.
  std::function<mlir::Value(mlir::Value)> conversion(const ContractionOperand &operand);
  mlir::Value linearPointer(const ContractionOperand &operand, mlir::Value across, mlir::Value k);
  mlir::Value constantPointer(const Panel &panel, mlir::Value k0);

  /// Fetches a line into the first-level cache.
  void prefetch(mlir::Value pointer);
  /// Stack memory, allocated once in the function's entry block.
  mlir::Value stackBuffer(int64_t elements);

  /// The loops of kOuter that run inside the tiles.
  llvm::ArrayRef<unsigned> tileLoops() const {
    return llvm::ArrayRef(form.kOuter).drop_front(plan.blockLoops);
  }
  /// Returns true if tiles add to sums in memory.
  bool accumulates() const { return kBlock != 0 || plan.blockLoops != 0 || readsRowsInPlace(); }
  int64_t tileColumns() const { return plan.tileColumns(); }
  int64_t computeBytes() const { return packedBytes(form, 1, 1); }

  /// Steps along k are counted in words if products are those of pairs, else one by one.
  bool hasPairs() const { return plan.group == PairSteps::kGroup; }
  int64_t wordSteps() const { return hasPairs() ? PairSteps::kGroup : 1; }
  mlir::AffineExpr wordCount() const;
  /// The lanes of a vector of elements along k that become a word for each lane.
  int64_t stepLanes() const { return plan.lanes * wordSteps(); }
  /// The type of packed copies.
  mlir::Type copyType() { return hasPairs() ? mlir::Type(b.getI32Type()) : form.computeType; }

  KernelEmitter &emitter;
  const Target &target;
  const ContractionNest &nest;
  const ContractionPlan &plan;
  ContractionForm form;

  // State of the unit that is being emitted.
  /// Indices of the loops without merged counters, as far as they have been opened.
  llvm::SmallVector<mlir::AffineExpr> fixedIndices;
  ContractionOperand a, bOperand;
  /// The first point of the loops of mOuter, the number of points, and the number of the current
  /// one.
  mlir::Value firstPoint, pointCount, point;
  /// Indices of the open loops of kOuter around tiles and packing.
  llvm::SmallVector<mlir::Value> outerSteps;
  mlir::Value m0, mCount, firstPanel;
  /// Steps along k per packed block; 0 if k is not blocked.
  int64_t kBlock = 0;
  /// True if sums are kept on the stack and stored at the end.
  bool buffered = false;
  mlir::Value packedA, packedB, sumBuffer;
  /// The step in the packed copy of a panel for the current indices of the loops of kOuter.
  mlir::Value firstPackedStep;
  /// Capacity of packed copies, in steps along k, and the row stride in the packed copy of a, which
  /// is not a multiple of 1 KiB.
  int64_t packedKCapacity = 0, packedRowStride = 0;
  /// True if the rows of all tiles are packed before the first tile of a block along k.
  bool packsUnit = false;
};

} // namespace tfc::cpu
