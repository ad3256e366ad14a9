// Prefetches of the tiles of a contraction: the next panel of a constant, the next rows of a, and
// operands of the epilogue.

#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// The steps along k that take longer than reading from memory.
static constexpr int64_t kHidingSteps = 64;

void ContractionEmitter::prefetch(Value pointer) {
  LLVM::Prefetch::create(b, loc, pointer, /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

/// The prefetch of a tile that reads a panel of a constant: a part of the next panel, which the
/// tiles of the unit share. Small constants are in the cache soon enough, a panel that exceeds the
/// cache would not stay there, and a single tile needs all memory that it can read itself.
Prefetch ContractionEmitter::prefetchOf(const Panel &panel, Value row) {
  AffineExpr steps = form.kSize();
  for (unsigned loop : tileLoops())
    steps = steps * form.loopSizes[loop];
  std::optional<int64_t> count = constantOf(normalize(steps));
  std::optional<int64_t> size =
      constantOf(normalize(form.kOuterSize() * form.kSize() * form.nSize()));
  int64_t bytes = elementBytes(bOperand.elementType);
  int64_t rowTiles = llvm::divideCeil(plan.unitRows, plan.tile.rows);
  bool isUseful = plan.unitPoints * rowTiles > 1 && kBlock == 0 && count && size &&
                  isFar(target, *size * bytes) && *count * panel.width * bytes <= target.l2Bytes;
  if (!isUseful)
    return {};
  Value tilesOfPoint = divide(add(mCount, plan.tile.rows - 1), plan.tile.rows).first;
  Value number = add(mul(point, tilesOfPoint), divide(row, plan.tile.rows).first);
  Value points = form.mOuter.empty() ? constant(1) : pointCount;
  return sharePrefetch(b, loc, target, *count * panel.width, panel.width * plan.group,
                       bOperand.elementType, number, mul(tilesOfPoint, points));
}

/// Returns true if a tensor is expected in memory, rather than in a cache, and tiles of so many
/// steps take longer than reading it.
static bool isWorthFetching(Value tensor, std::optional<int64_t> steps, const Target &target) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || steps.value_or(kHidingSteps) < kHidingSteps)
    return false;
  if (!type.hasStaticShape())
    return type.getRank() > 1;
  return type.getNumElements() * elementBytes(type.getElementType()) >= target.l2Bytes / 2;
}

/// Prefetches what the epilogue of a tile reads, if it is in memory: without that, the processor
/// waits for it after the tile's products.
void ContractionEmitter::prefetchEpilogue(const Panel &panel, Value row, int64_t rows) {
  std::optional<int64_t> steps = constantOf(normalize(form.kOuterSize() * form.kSize()));
  if (buffered)
    return;
  KernelEmitter::Scope scope(emitter);
  LoopDim mDim = emitter.addDim(add(m0, row)), nDim = emitter.addDim(panel.n0);
  llvm::SmallDenseSet<Value> fetched;
  for (auto [epilogue, loops] : llvm::zip_equal(nest.epilogues, nest.epilogueLoops)) {
    linalg::GenericOp op = epilogue;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value tensor = operand->get();
      if (!emitter.buffer(tensor) || !isWorthFetching(tensor, steps, target) ||
          !fetched.insert(tensor).second)
        continue;
      AffineMap map = op.getMatchingIndexingMap(operand);
      auto fetch = [&](AffineExpr m, AffineExpr n) {
        SmallVector<AffineExpr> product =
            productIndices(nest.op, form.point(fixedIndices, m, n, emitter.constantExpr(0)));
        SmallVector<AffineExpr> own =
            llvm::map_to_vector(loops, [&](unsigned loop) { return product[loop]; });
        SmallVector<AffineExpr> indices = llvm::map_to_vector(
            map.getResults(), [&](AffineExpr expr) { return normalize(expr.replaceDims(own)); });
        prefetch(emitter.addressOf(tensor, indices));
      };
      int64_t elements = kLineBytes / elementBytes(getElementTypeOrSelf(tensor.getType()));
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t n = 0; n < panel.vectors * plan.lanes; n += elements)
          fetch(mDim + i, nDim + n);
    }
  }
}

/// Prefetches the rows of a that follow those of a tile, if they are in a farther cache and short
/// pieces of them are read for several panels: each panel fetches a part.
void ContractionEmitter::prefetchRows(const Panel &panel, Value row, int64_t rows, Value k0,
                                      Value kCount) {
  std::optional<int64_t> m = constantOf(form.mSize()), k = constantOf(form.kSize());
  int64_t bytes = elementBytes(a.elementType);
  bool isUseful = bOperand.packed && !a.packed && a.isContiguousAlongK() && !hasPairs() &&
                  form.kOuter.empty() && plan.unitPanels > 1 && rows == plan.tile.rows && m && k &&
                  isFar(target, *m * *k * bytes);
  if (!isUseful)
    return;
  // Whole lines for each panel.
  int64_t line = kLineBytes / bytes, lines = plan.unitPanels * line;
  Value part = mul(divide(add(kCount, lines - 1), constant(lines)).first, line);
  Value begin = minimum(mul(part, panel.number), kCount), end = minimum(add(begin, part), kCount);
  Value next = linearPointer(a, add(m0, add(row, rows)), k0);
  forLoop(begin, end, line, [&](Value step) {
    Value pointer = advance(b, loc, next, a.elementType, step, a.k);
    for (int64_t i = 0; i < rows; ++i)
      prefetch(advance(b, loc, pointer, a.elementType, i, a.across));
  });
}

} // namespace tfc::cpu
