// Packing of the operands of a contraction into buffers in the order in which tiles read them.

#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// The steps after which runs of an operand, which are far from each other, are packed when they
/// are fetched.
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
  if (hasPairs()) {
    linalg::GenericOp op = nest.op;
    SmallVector<AffineExpr> indices =
        llvm::map_to_vector(indicesOf(op, op.getDpsInputOperand(operand.factor->inputs.front())),
                            [&](AffineExpr index) { return index.replaceDims(point); });
    return emitter.broadcast(emitter.element(operand.tensor, indices));
  }
  return emitter.broadcast(kernels::factorAt(emitter, nest.op, form, *operand.factor, point));
}

//===----------------------------------------------------------------------===//
// Words of several steps
//===----------------------------------------------------------------------===//

AffineExpr ContractionEmitter::wordCount() const {
  return normalize(form.kSize().ceilDiv(wordSteps()));
}

/// Returns how many of kCount words after k0 have all their steps.
Value ContractionEmitter::wholeWords(Value k0, Value kCount) {
  std::optional<int64_t> steps = constantOf(form.kSize());
  if (!hasPairs() || (steps && *steps % wordSteps() == 0))
    return kCount;
  Value all = emitter.indexValue(normalize(form.kSize().floorDiv(wordSteps())));
  return minimum(kCount, sub(all, k0));
}

/// Emits `body` for each of kCount words after k0, with its steps.
void ContractionEmitter::forEachWord(Value k0, Value kCount,
                                     function_ref<void(Value, int64_t)> body) {
  Value whole = wholeWords(k0, kCount);
  forLoop(constant(0), whole, 1, [&](Value k) { body(k, wordSteps()); });
  if (whole != kCount)
    forLoop(whole, kCount, 1, [&](Value k) { body(k, 1); });
}

/// Returns the mask of a vector of steps from word k of kCount words after k0 on.
Value ContractionEmitter::maskOfSteps(Value k0, Value kCount, Value k) {
  Value steps = mul(sub(kCount, k), wordSteps());
  if (hasPairs())
    steps = minimum(steps, sub(emitter.indexValue(form.kSize()), mul(add(k0, k), wordSteps())));
  return firstLanes(stepLanes(), steps);
}

/// Returns elements along k as words, with zeros where the mask has none.
Value ContractionEmitter::wordsOf(Value elements, Value mask) {
  auto type = cast<VectorType>(elements.getType());
  elements = arith::SelectOp::create(b, loc, mask, elements, zeroOf(b, loc, type));
  return vector::BitCastOp::create(b, loc, VectorType::get({plan.lanes}, copyType()), elements);
}

/// Loads a vector of elements along k as factors or words.
Value ContractionEmitter::loadRun(const ContractionOperand &operand, Value pointer, Value mask) {
  std::function<Value(Value)> convert = conversion(operand);
  Value run = loadLanes(b, loc, pointer, operand.elementType, stepLanes(), mask);
  if (hasPairs())
    return vector::BitCastOp::create(b, loc, VectorType::get({plan.lanes}, copyType()), run);
  return convert ? convert(run) : run;
}

/// Loads a factor, or a word of so many steps, for each lane of an operand that is contiguous
/// across k.
Value ContractionEmitter::loadWord(const ContractionOperand &operand, Value pointer, int64_t steps,
                                   Value mask) {
  std::function<Value(Value)> convert = conversion(operand);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < steps; ++i)
    elements.push_back(loadLanes(b, loc,
                                 advance(b, loc, pointer, operand.elementType, i, operand.k),
                                 operand.elementType, plan.lanes, mask));
  if (hasPairs())
    return joinPairs(b, loc, elements);
  return convert ? convert(elements.front()) : elements.front();
}

/// Fetches the runs of the steps of a word that is packed some words later.
void ContractionEmitter::prefetchAhead(const ContractionOperand &operand, Value pointer,
                                       int64_t steps) {
  for (int64_t i = 0; i < steps; ++i)
    prefetch(
        advance(b, loc, pointer, operand.elementType, kStepsAhead * wordSteps() + i, operand.k));
}

//===----------------------------------------------------------------------===//
// Panels of b: [k][columns]
//===----------------------------------------------------------------------===//

/// Packs the steps of all loops of kOuter consecutively.
void ContractionEmitter::packB(Value k0, Value kCount) {
  if (outerSteps.size() < form.kOuter.size())
    return openOuterStep([&] { packB(k0, kCount); });
  Value step = constant(0);
  for (auto [loop, index] :
       llvm::zip_equal(tileLoops(), ArrayRef(outerSteps).drop_front(plan.blockLoops)))
    step = add(b.createOrFold<arith::MulIOp>(loc, step, emitter.indexValue(form.loopSizes[loop])),
               index);
  firstPackedStep = b.createOrFold<arith::MulIOp>(loc, step, kCount);
  if (bOperand.isContiguousAlongK())
    return forEachPanel([&](const Panel &panel) { packTransposedB(panel, k0, kCount); });
  packRowsOfB(k0, kCount);
}

Value ContractionEmitter::packedPanel(const Panel &panel) {
  int64_t elements = (packedKCapacity + plan.lanes) * tileColumns();
  return advance(b, loc, packedB, form.computeType, panel.number, Stride{elements, {}});
}

/// The position of step k in the packed copy of a panel.
Value ContractionEmitter::packedStep(const Panel &panel, Value k) {
  return advance(b, loc, packedPanel(panel), form.computeType, add(firstPackedStep, k),
                 Stride{panel.vectors * plan.lanes, {}});
}

/// Packs rows of b, each of which is read in one run for all panels.
void ContractionEmitter::packRowsOfB(Value k0, Value kCount) {
  if (plan.unitPanels == 1)
    return forEachPanel([&](const Panel &panel) {
      forEachWord(k0, kCount, [&](Value k, int64_t steps) { packRowOfB(panel, k0, k, steps); });
    });
  forEachWord(k0, kCount, [&](Value k, int64_t steps) {
    forEachPanel([&](const Panel &panel) { packRowOfB(panel, k0, k, steps); });
  });
}

void ContractionEmitter::packRowOfB(const Panel &panel, Value k0, Value k, int64_t steps) {
  bool contiguous = bOperand.isContiguousAcross();
  LoopDim nDim = emitter.addDim(panel.n0);
  Value position = add(k0, k), packed = packedStep(panel, k);
  Value source = contiguous ? linearPointer(bOperand, panel.n0, position) : Value();
  LoopDim kDim = emitter.addDim(mul(position, wordSteps()));
  int64_t bytes = elementBytes(bOperand.elementType);
  std::optional<int64_t> elements =
      constantOf(normalize(form.kOuterSize() * form.kSize() * form.nSize()));
  bool isFetched = contiguous && bOperand.k.isFixed() && bOperand.k.fixed * bytes >= kFarBytes &&
                   isFar(target, elements.value_or(target.l2Bytes) * bytes);
  for (int64_t v = 0; v < panel.vectors; ++v) {
    Value factor;
    if (contiguous) {
      Value pointer = advance(b, loc, source, bOperand.elementType, v * plan.lanes, Stride{1, {}});
      if (isFetched && v * plan.lanes * bytes % kLineBytes == 0)
        prefetchAhead(bOperand, pointer, steps);
      factor = loadWord(bOperand, pointer, steps, panel.masks[v]);
    } else {
      KernelEmitter::VectorMode mode(emitter, nDim, plan.lanes, panel.masks[v]);
      SmallVector<Value> factors;
      for (int64_t i = 0; i < steps; ++i)
        factors.push_back(
            factorAt(bOperand, emitter.constantExpr(0), nDim + v * plan.lanes, kDim + i));
      factor = hasPairs() ? joinPairs(b, loc, factors) : factors.front();
    }
    storeLanes(b, loc, factor,
               advance(b, loc, packed, form.computeType, v * plan.lanes, Stride{1, {}}));
  }
}

/// If b is contiguous along k, squares of lanes x lanes elements are transposed in registers.
/// Columns beyond the last one repeat it; they are never stored.
void ContractionEmitter::packTransposedB(const Panel &panel, Value k0, Value kCount) {
  Value last = add(panel.columns, -1);
  auto emitSquare = [&](Value k, Value column, Value mask) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      Value n = add(panel.n0, minimum(add(column, i), last));
      rows.push_back(loadRun(bOperand, linearPointer(bOperand, n, add(k0, k)), mask));
    }
    kernels::transpose(b, loc, rows);
    for (int64_t i = 0; i < plan.lanes; ++i)
      storeLanes(
          b, loc, rows[i],
          advance(b, loc, packedStep(panel, add(k, i)), form.computeType, column, Stride{1, {}}));
  };
  forLoop(constant(0), constant(panel.vectors * plan.lanes), plan.lanes, [&](Value column) {
    auto [count, rest] = divide(wholeWords(k0, kCount), constant(plan.lanes));
    Value whole = mul(count, plan.lanes);
    forLoop(constant(0), whole, plan.lanes, [&](Value k) { emitSquare(k, column, nullptr); });
    Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, whole, kCount);
    ifElse(hasRest, [&] { emitSquare(whole, column, maskOfSteps(k0, kCount, whole)); }, nullptr);
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
  int64_t rows = plan.tile.rows;
  forEachWord(k0, kCount, [&](Value k, int64_t steps) {
    auto packTile = [&](Value row, Value count) {
      Value source = linearPointer(a, add(m0, row), add(k0, k));
      Value target = advance(b, loc, packedRows(row), form.computeType, k, Stride{rows, {}});
      prefetchAhead(a, source, steps);
      for (int64_t i = 0; i < rows; i += plan.lanes) {
        bool isFull = !count && rows - i >= plan.lanes;
        Value left = count ? sub(count, constant(i)) : constant(rows - i);
        Value lanes = loadWord(a, advance(b, loc, source, a.elementType, i, Stride{1, {}}), steps,
                               isFull ? Value() : firstLanes(plan.lanes, left));
        storeLanes(b, loc, lanes, advance(b, loc, target, form.computeType, i, Stride{1, {}}));
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
  bool alongK = a.isContiguousAlongK();
  if (a.isContiguousAcross() && !alongK) {
    int64_t width = llvm::alignTo(rows, plan.lanes);
    forEachWord(k0, kCount, [&](Value k, int64_t steps) {
      Value source = linearPointer(a, m, add(k0, k));
      Value target = advance(b, loc, packedA, form.computeType, k, Stride{width, {}});
      for (int64_t i = 0; i < rows; i += plan.lanes) {
        Value mask = rows - i < plan.lanes ? firstLanes(plan.lanes, constant(rows - i)) : Value();
        Value lanes =
            loadWord(a, advance(b, loc, source, a.elementType, i, Stride{1, {}}), steps, mask);
        storeLanes(b, loc, lanes, advance(b, loc, target, form.computeType, i, Stride{1, {}}));
      }
    });
    kStride = {width, {}};
    return {packedA, copyType(), {1, {}}, nullptr};
  }

  LoopDim mDim = emitter.addDim(m);
  forLoop(constant(0), kCount, plan.lanes, [&](Value k) {
    Value position = add(k0, k);
    Value mask = maskOfSteps(k0, kCount, k);
    LoopDim kDim = emitter.addDim(mul(position, wordSteps()));
    for (int64_t i = 0; i < rows; ++i) {
      Value factor;
      if (alongK) {
        Value pointer = advance(b, loc, linearPointer(a, m, position), a.elementType, i, a.across);
        factor = loadRun(a, pointer, mask);
      } else {
        KernelEmitter::VectorMode mode(emitter, kDim, stepLanes(), mask);
        factor = factorAt(a, mDim + i, emitter.constantExpr(0), kDim);
        if (hasPairs())
          factor = wordsOf(factor, mask);
      }
      storeLanes(
          b, loc, factor,
          advance(b, loc, packedA, form.computeType, add(k, i * packedRowStride), Stride{1, {}}));
    }
  });
  kStride = {1, {}};
  return {packedA, copyType(), {packedRowStride, {}}, nullptr};
}

} // namespace tfc::cpu
