#pragma once

#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/LoopBuilder.h"
#include "compiler/kernels/ContractionForm.h"

namespace tfc::cpu {

/// An operand as the loops of a contraction see it.
struct ContractionOperand {
  const ContractionFactor *factor = nullptr;
  /// Where one input is read at addresses linear in all counters.
  std::optional<LinearAccess> access;
  mlir::Value tensor;
  mlir::Type elementType;
  /// The access' strides along m (of a) or n (of b), k, and each loop of kOuter.
  Stride across, k;
  llvm::SmallVector<Stride> kOuter;
  /// Whether factors must be computed from elements.
  bool converts = false;
  /// Whether tiles read it from a packed copy.
  bool packed = false;

  bool isContiguousAcross() const { return access && across.isFixed() && across.fixed == 1; }
  bool isContiguousAlongK() const { return access && k.isFixed() && k.fixed == 1; }
};

/// Whether the rows of a are copied to the stack before tiles read them: they are computed, their
/// distance is not known, or several panels read them and they are too far apart along k for the
/// first level cache.
bool packsRows(const Target &target, const ContractionForm &form,
               const std::optional<LinearAccess> &a, int64_t elementBytes, RegisterTile tile,
               int64_t lanes);

/// Bytes of a packed copy of b, rows of a product that pay for one, and how far apart the rows of b
/// are that do not suit the cache.
inline constexpr int64_t kPanelBytes = 128 << 10, kPackingRows = 48, kFarBytes = 1024;
int64_t packedBytes(const ContractionForm &form, int64_t steps, int64_t columns);

/// Emits the units of one contraction.
class ContractionEmitter : LoopBuilder {
public:
  ContractionEmitter(KernelEmitter &emitter, const ContractionNest &nest,
                     const ContractionPlan &plan, ContractionForm form);

  void emit(mlir::Value begin, mlir::Value end);

private:
  /// Columns [n0, n0 + vectors * lanes) of the output, those that exist.
  struct Panel {
    int64_t vectors;
    /// The lanes that exist, for each vector; null for all.
    llvm::SmallVector<mlir::Value> masks;
    /// Columns that exist.
    mlir::Value columns;
    /// Its first column, and its number within the unit.
    mlir::Value n0, number;
  };
  using PanelBody = llvm::function_ref<void(const Panel &)>;

  // Units and loops (ContractionEmitter.cpp).
  void emitUnit(mlir::Value unit);
  void fixIndices(llvm::ArrayRef<unsigned> loops, mlir::Value number);
  void forEachPointOfRows(llvm::function_ref<void()> body);
  ContractionOperand analyzeOperand(bool isA);
  void choosePacking();
  void chooseBlocking();
  void allocateBuffers();
  void forEachPanel(PanelBody body);
  void forPanel(mlir::Value number, PanelBody body);
  void emitBlocks();
  void emitStepsOfBlocks();
  void openOuterStep(llvm::function_ref<void()> body);
  void emitRows(mlir::Value k0, mlir::Value kCount);
  void emitTiles(mlir::Value k0, mlir::Value kCount);
  void emitRowsOfTile(mlir::Value row, int64_t rows, mlir::Value k0, mlir::Value kCount);
  void emitTile(const Panel &panel, mlir::Value row, int64_t rows, const TileSource &source,
                llvm::ArrayRef<ReductionLoop> loops, mlir::Value k0);
  void stepThroughPacked(llvm::SmallVectorImpl<ReductionLoop> &loops, int64_t columns);
  llvm::SmallVector<mlir::Value> emitLaneTile(const Panel &panel, mlir::Value row);
  void emitBufferedResults(const Panel &panel);
  mlir::Value sumPointer(const Panel &panel, mlir::Value row, mlir::Value column);
  void storeProduct(mlir::AffineExpr m, mlir::AffineExpr n, mlir::Value sum);

  // Packed copies (ContractionPack.cpp).
  void packB(const Panel &panel, mlir::Value k0, mlir::Value kCount);
  void packSteps(const Panel &panel, mlir::Value k0, mlir::Value kCount);
  mlir::Value packedPanel(const Panel &panel);
  void packRowsOfB(const Panel &panel, mlir::Value k0, mlir::Value kCount);
  void packTransposedB(const Panel &panel, mlir::Value k0, mlir::Value kCount);
  TileSource packA(mlir::Value m, int64_t rows, mlir::Value k0, mlir::Value kCount,
                   Stride &kStride);
  mlir::Value factorAt(const ContractionOperand &operand, mlir::AffineExpr m, mlir::AffineExpr n,
                       mlir::AffineExpr k);

  /// Computes a factor from the elements of its inputs.
  mlir::Value evaluate(mlir::Value value, llvm::function_ref<mlir::Value(unsigned)> element);
  /// The conversion from elements to factors of a linear operand, or null.
  std::function<mlir::Value(mlir::Value)> conversion(const ContractionOperand &operand);
  mlir::Value linearPointer(const ContractionOperand &operand, mlir::Value across, mlir::Value k);

  /// Memory on the stack, allocated once in the function's entry block.
  mlir::Value stackBuffer(int64_t elements);

  /// The loops of kOuter that tiles run over.
  llvm::ArrayRef<unsigned> tileLoops() const {
    return llvm::ArrayRef(form.kOuter).drop_front(plan.blockLoops);
  }
  /// Whether tiles go on from sums in memory.
  bool accumulates() const { return kBlock != 0 || plan.blockLoops != 0; }
  int64_t tileColumns() const { return plan.tile.vectors * plan.lanes; }
  int64_t computeBytes() const { return form.computeType.getIntOrFloatBitWidth() / 8; }

  KernelEmitter &emitter;
  const ContractionNest &nest;
  const ContractionPlan &plan;
  ContractionForm form;

  // Of the unit that is being emitted.
  /// Indices of the loops that have no counter here, where they are open.
  llvm::SmallVector<mlir::AffineExpr> fixedIndices;
  ContractionOperand a, bOperand;
  /// The first point of the loops of mOuter, how many there are, and the number of the one at hand.
  mlir::Value firstPoint, pointCount, point;
  /// Indices of the loops of kOuter that are open around tiles and copies.
  llvm::SmallVector<mlir::Value> outerSteps;
  mlir::Value m0, mCount, firstPanel;
  /// Steps along k between packed blocks; 0 where k is not blocked.
  int64_t kBlock = 0;
  /// Whether sums are kept on the stack and stored at the end.
  bool buffered = false;
  mlir::Value packedA, packedB, sumBuffer;
  /// Where the steps of the loops of kOuter at hand stand in a panel's copy.
  mlir::Value packedStep;
  /// Steps along k that packed copies have room for, and the distance of rows in that of a, which
  /// is kept apart from multiples of 1 KiB.
  int64_t packedKCapacity = 0, packedRowStride = 0;
};

/// Transposes a square of vectors.
llvm::SmallVector<mlir::Value> transposeSquare(mlir::OpBuilder &b, mlir::Location loc,
                                               llvm::SmallVector<mlir::Value> rows);

/// A generic's element type converted to a wider or narrower one of its kind.
mlir::Value convertNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type elementType);

} // namespace tfc::cpu
