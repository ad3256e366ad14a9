// Packing of the operands of a contraction into buffers in the order in which tiles read them.

#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// The steps after which runs of a, which are far from each other, are packed when they are
/// fetched.
static constexpr int64_t kStepsAhead = 8;

//===----------------------------------------------------------------------===//
// Factors from elements
//===----------------------------------------------------------------------===//

std::function<Value(Value)> ContractionEmitter::conversion(const ContractionOperand &operand) {
  if (!operand.converts)
    return nullptr;
  return [this, root = operand.factor->root](Value value) {
    Value factor = evaluateFactor(b, loc, root, [&](unsigned) { return value; });
    return convertNumber(b, loc, factor, form.computeType);
  };
}

Value ContractionEmitter::factorAt(const ContractionOperand &operand, AffineExpr m, AffineExpr n,
                                   AffineExpr k) {
  SmallVector<AffineExpr> point = form.point(fixedIndices, m, n, k);
  return emitter.broadcast(kernels::factorAt(emitter, nest.op, form, *operand.factor, point));
}

//===----------------------------------------------------------------------===//
// Panels of b: [k][columns]
//===----------------------------------------------------------------------===//

/// Packs the steps of all loops of kOuter consecutively.
void ContractionEmitter::packB(const Panel &panel, Value k0, Value kCount) {
  if (outerSteps.size() < form.kOuter.size())
    return openOuterStep([&] { packB(panel, k0, kCount); });
  Value step = constant(0);
  for (auto [loop, index] :
       llvm::zip_equal(tileLoops(), ArrayRef(outerSteps).drop_front(plan.blockLoops)))
    step = add(b.createOrFold<arith::MulIOp>(loc, step, emitter.indexValue(form.loopSizes[loop])),
               index);
  step = b.createOrFold<arith::MulIOp>(loc, step, kCount);
  packedStep = advance(b, loc, packedPanel(panel), form.computeType, step,
                       Stride{panel.vectors * plan.lanes, {}});
  packSteps(panel, k0, kCount);
}

void ContractionEmitter::packSteps(const Panel &panel, Value k0, Value kCount) {
  if (bOperand.isContiguousAlongK())
    packTransposedB(panel, k0, kCount);
  else
    packRowsOfB(panel, k0, kCount);
}

Value ContractionEmitter::packedPanel(const Panel &panel) {
  int64_t elements = (packedKCapacity + plan.lanes) * tileColumns();
  return advance(b, loc, packedB, form.computeType, panel.number, Stride{elements, {}});
}

void ContractionEmitter::packRowsOfB(const Panel &panel, Value k0, Value kCount) {
  bool contiguous = bOperand.isContiguousAcross();
  std::function<Value(Value)> convert = conversion(bOperand);
  LoopDim nDim = emitter.addDim(panel.n0);
  forLoop(constant(0), kCount, 1, [&](Value k) {
    Value position = add(k0, k);
    Value source = contiguous ? linearPointer(bOperand, panel.n0, position) : Value();
    LoopDim kDim = emitter.addDim(position);
    for (int64_t v = 0; v < panel.vectors; ++v) {
      Value factor;
      if (contiguous) {
        Value pointer =
            advance(b, loc, source, bOperand.elementType, v * plan.lanes, Stride{1, {}});
        factor = loadLanes(b, loc, pointer, bOperand.elementType, plan.lanes, panel.masks[v]);
        factor = convert ? convert(factor) : factor;
      } else {
        KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, panel.masks[v]);
        factor = factorAt(bOperand, emitter.constantExpr(0), nDim + v * plan.lanes, kDim);
      }
      Value target = add(mul(k, panel.vectors * plan.lanes), v * plan.lanes);
      storeLanes(b, loc, factor,
                 advance(b, loc, packedStep, form.computeType, target, Stride{1, {}}));
    }
  });
}

/// If b is contiguous along k, squares of lanes x lanes elements are transposed in registers.
/// Columns beyond the last one repeat it; they are never stored.
void ContractionEmitter::packTransposedB(const Panel &panel, Value k0, Value kCount) {
  std::function<Value(Value)> convert = conversion(bOperand);
  int64_t width = panel.vectors * plan.lanes;
  Value last = add(panel.columns, -1);
  auto emitSquare = [&](Value k, Value column, Value mask) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      Value n = add(panel.n0, minimum(add(column, i), last));
      Value row = loadLanes(b, loc, linearPointer(bOperand, n, add(k0, k)), bOperand.elementType,
                            plan.lanes, mask);
      rows.push_back(convert ? convert(row) : row);
    }
    kernels::transpose(b, loc, rows);
    for (int64_t i = 0; i < plan.lanes; ++i)
      storeLanes(b, loc, rows[i],
                 advance(b, loc, packedStep, form.computeType, add(mul(add(k, i), width), column),
                         Stride{1, {}}));
  };
  forLoop(constant(0), constant(width), plan.lanes, [&](Value column) {
    auto [count, rest] = divide(kCount, constant(plan.lanes));
    Value whole = mul(count, plan.lanes);
    forLoop(constant(0), whole, plan.lanes, [&](Value k) { emitSquare(k, column, nullptr); });
    Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
    ifElse(hasRest, [&] { emitSquare(whole, column, firstLanes(plan.lanes, rest)); }, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Rows of a for all tiles of a unit: [tile][k][rows]
//===----------------------------------------------------------------------===//

/// The elements of a tile. A vector may be stored beyond the last of them.
int64_t ContractionEmitter::packedTileElements() const {
  return packedKCapacity * plan.tile.rows + plan.lanes;
}

/// The packed rows from `row` on, which are in one tile.
Value ContractionEmitter::packedRows(Value row) {
  auto [tile, rest] = divide(row, constant(plan.tile.rows));
  Value pointer =
      advance(b, loc, packedA, form.computeType, tile, Stride{packedTileElements(), {}});
  return advance(b, loc, pointer, form.computeType, rest, Stride{1, {}});
}

/// Packs steps [k0, k0 + kCount) of an a that is contiguous along m, reading runs of it, which are
/// fetched some steps ahead.
void ContractionEmitter::packUnitOfA(Value k0, Value kCount) {
  std::function<Value(Value)> convert = conversion(a);
  int64_t rows = plan.tile.rows;
  forLoop(constant(0), kCount, 1, [&](Value k) {
    auto packTile = [&](Value row, Value count) {
      Value source = linearPointer(a, add(m0, row), add(k0, k));
      Value target = advance(b, loc, packedRows(row), form.computeType, k, Stride{rows, {}});
      Value ahead = advance(b, loc, source, a.elementType, kStepsAhead, a.k);
      LLVM::Prefetch::create(b, loc, ahead, /*rw=*/0, /*hint=*/3, /*cache=*/1);
      for (int64_t i = 0; i < rows; i += plan.lanes) {
        bool isFull = !count && rows - i >= plan.lanes;
        Value left = count ? sub(count, constant(i)) : constant(rows - i);
        Value lanes =
            loadLanes(b, loc, advance(b, loc, source, a.elementType, i, Stride{1, {}}),
                      a.elementType, plan.lanes, isFull ? Value() : firstLanes(plan.lanes, left));
        storeLanes(b, loc, convert ? convert(lanes) : lanes,
                   advance(b, loc, target, form.computeType, i, Stride{1, {}}));
      }
    };
    Value rest = divide(mCount, constant(rows)).second, whole = sub(mCount, rest);
    forLoop(constant(0), whole, rows, [&](Value row) { packTile(row, nullptr); });
    Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, constant(0));
    ifElse(hasRest, [&] { packTile(whole, rest); }, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Rows of a for one tile
//===----------------------------------------------------------------------===//

/// Packs as [k][rows] if a is contiguous along m, else as [rows][k].
TileSource ContractionEmitter::packA(Value m, int64_t rows, Value k0, Value kCount,
                                     Stride &kStride) {
  std::function<Value(Value)> convert = conversion(a);
  bool alongK = a.isContiguousAlongK();
  if (a.isContiguousAcross() && !alongK) {
    int64_t width = llvm::alignTo(rows, plan.lanes);
    forLoop(constant(0), kCount, 1, [&](Value k) {
      Value source = linearPointer(a, m, add(k0, k));
      Value target = advance(b, loc, packedA, form.computeType, k, Stride{width, {}});
      for (int64_t i = 0; i < rows; i += plan.lanes) {
        Value mask = rows - i < plan.lanes ? firstLanes(plan.lanes, constant(rows - i)) : Value();
        Value lanes = loadLanes(b, loc, advance(b, loc, source, a.elementType, i, Stride{1, {}}),
                                a.elementType, plan.lanes, mask);
        storeLanes(b, loc, convert ? convert(lanes) : lanes,
                   advance(b, loc, target, form.computeType, i, Stride{1, {}}));
      }
    });
    kStride = {width, {}};
    return {packedA, form.computeType, {1, {}}, nullptr};
  }

  LoopDim mDim = emitter.addDim(m);
  forLoop(constant(0), kCount, plan.lanes, [&](Value k) {
    Value position = add(k0, k);
    Value mask = firstLanes(plan.lanes, sub(kCount, k));
    LoopDim kDim = emitter.addDim(position);
    for (int64_t i = 0; i < rows; ++i) {
      Value factor;
      if (alongK) {
        Value pointer = advance(b, loc, linearPointer(a, m, position), a.elementType, i, a.across);
        factor = loadLanes(b, loc, pointer, a.elementType, plan.lanes, mask);
        factor = convert ? convert(factor) : factor;
      } else {
        KernelEmitter::VectorMode mode(emitter, kDim, plan.lanes, mask);
        factor = factorAt(a, mDim + i, emitter.constantExpr(0), kDim);
      }
      storeLanes(
          b, loc, factor,
          advance(b, loc, packedA, form.computeType, add(k, i * packedRowStride), Stride{1, {}}));
    }
  });
  kStride = {1, {}};
  return {packedA, form.computeType, {packedRowStride, {}}, nullptr};
}

} // namespace tfc::cpu
