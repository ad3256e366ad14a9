//===- AttentionEmitter.cpp - Blocks of attention kernels -----------------===//
//
// Loops over the blocks of scores, and the products of a block. After Dao, "FlashAttention-2:
// Faster Attention with Better Parallelism and Work Partitioning" (2023), but a gradient is one
// kernel: a thread has all rows of a head, so that sums along rows need no other pass.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/AttentionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// Rows that a register tile may have beyond those of a block.
static constexpr int64_t kSpareRows = 16;

AttentionEmitter::AttentionEmitter(KernelEmitter &emitter, const Target &target,
                                   const AttentionPlan &plan)
    : LoopEmitter(emitter), e(emitter), target(target), plan(plan), form(*plan.form),
      type(plan.type()) {}

Value AttentionEmitter::maximum(Value lhs, Value rhs) {
  return b.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
}

Value AttentionEmitter::at(const Matrix &matrix, Value row, Value column) {
  Value pointer = advance(b, loc, matrix.pointer, type, row, Stride{matrix.stride, {}});
  return advance(b, loc, pointer, type, column, Stride{1, {}});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

AttentionEmitter::Matrix AttentionEmitter::matrix(int64_t rows, int64_t columns) {
  int64_t stride = plan.strideOf(columns);
  return {stackMemory(b, loc, type, (rows + kSpareRows) * stride), stride};
}

/// Allocates what all units use. Products with the same factor share it.
void AttentionEmitter::placeMemory() {
  size_t factors = 0;
  for (auto [i, product] : llvm::enumerate(form.results)) {
    linalg::GenericOp op = product.op;
    auto isLike = [&](size_t other) {
      const AttentionProduct &earlier = form.results[other];
      linalg::GenericOp otherOp = earlier.op;
      return isa<BlockArgument>(product.form.a.root) && isa<BlockArgument>(earlier.form.a.root) &&
             product.form.factorType == earlier.form.factorType &&
             op.getDpsInputOperand(product.form.a.inputs.front())->get() ==
                 otherOp.getDpsInputOperand(earlier.form.a.inputs.front())->get();
    };
    size_t same = 0;
    while (same < i && !isLike(same))
      ++same;
    factorOfResult.push_back(same < i ? factorOfResult[same] : factors++);
  }
  for (size_t i = 0; i < std::max(form.scores.size(), factors); ++i)
    scores.push_back(matrix(plan.block, plan.block));
  for (const AttentionProduct &product : form.results)
    sums.push_back(matrix(plan.block, othersOf(product)));
  for (size_t i = 0; i < form.rowOps.size(); ++i)
    rowValues.push_back(stackMemory(b, loc, type, plan.block));
  for (const AttentionProduct &product : form.scores) {
    addCopy(product, product.form.a, /*isOfRows=*/true, /*isTransposed=*/false);
    addCopy(product, product.form.b, /*isOfRows=*/false, /*isTransposed=*/true);
  }
  for (const AttentionProduct &product : form.results)
    addCopy(product, product.form.b, product.sumsRows, /*isTransposed=*/false);
}

//===----------------------------------------------------------------------===//
// Units and blocks
//===----------------------------------------------------------------------===//

void AttentionEmitter::emit(Value begin, Value end) {
  placeMemory();
  forLoop(toIndex(begin), toIndex(end), 1, [&](Value unit) { emitUnit(unit); });
}

/// The indices of the dimensions of the batch at a point of it.
AttentionEmitter::Indices AttentionEmitter::batchAt(Value number) {
  Indices indices(form.batch.size());
  for (size_t i = form.batch.size(); i-- > 0;) {
    Value index = number;
    if (i > 0)
      std::tie(number, index) = divide(number, e.indexValue(form.sizes[form.batch[i]]));
    indices[i] = e.addDim(index);
  }
  return indices;
}

void AttentionEmitter::emitUnit(Value unit) {
  Value number = unit, block;
  if (!form.sumsRows())
    std::tie(number, block) =
        divide(unit, e.indexValue(normalize(form.extentOf(form.rows).ceilDiv(plan.block))));
  inBatch = batchAt(number);
  // Longer rows are read from the cache again before they are used up.
  std::optional<int64_t> most = constantOf(normalize(form.extentOf(form.rows))),
                         terms = constantOf(normalize(form.extentOf(form.terms)));
  if (most && terms && std::max(*most, *terms) <= plan.block && !form.batch.empty()) {
    Value last = add(e.indexValue(form.extentOf(form.batch)), -1);
    nextInBatch = batchAt(minimum(add(number, 1), last));
  }
  if (form.sumsRows())
    emitAllRows();
  else
    emitRowsOfUnit(block);
}

AttentionEmitter::Range AttentionEmitter::blockOf(Value number, ArrayRef<unsigned> dims) {
  AffineExpr extent = form.extentOf(dims);
  Value first = mul(number, plan.block);
  std::optional<int64_t> all = constantOf(extent);
  Value count = constant(plan.block);
  if (!all || *all % plan.block != 0)
    count = minimum(count, sub(e.indexValue(extent), first));
  return {first, count};
}

static AffineExpr blocksOf(const AttentionForm &form, ArrayRef<unsigned> dims, int64_t block) {
  return normalize(form.extentOf(dims).ceilDiv(block));
}

/// Emits a block of rows, for all terms.
void AttentionEmitter::emitRowsOfUnit(Value number) {
  rows = blockOf(number, form.rows);
  for (const Copy &copy : copies)
    if (copy.isOfRows)
      fill(copy, rows);
  for (auto [matrix, product] : llvm::zip_equal(sums, form.results))
    clear(matrix, othersOf(product));
  resetRows();
  Value blocks = e.indexValue(blocksOf(form, form.terms, plan.block));
  if (form.endOfTerms) {
    // The last row has the most terms.
    Value end = add(add(rows.first, rows.count), *form.endOfTerms - 1);
    blocks = minimum(blocks, divide(add(end, plan.block - 1), plan.block).first);
  }
  forLoop(constant(0), blocks, 1, [&](Value block) {
    terms = blockOf(block, form.terms);
    for (const Copy &copy : copies)
      if (!copy.isOfRows)
        fill(copy, terms);
    addBlock();
    sumResults(/*alongRows=*/false);
  });
  finishRows();
  for (size_t i = 0; i < form.results.size(); ++i)
    storeResult(i, rows, /*adds=*/false);
}

/// Emits all rows of a point of the batch. Sums along rows are complete after the last block of
/// rows, the other ones grow in the results.
void AttentionEmitter::emitAllRows() {
  AffineExpr termBlocks = blocksOf(form, form.terms, plan.block);
  forLoop(constant(0), e.indexValue(termBlocks), 1, [&](Value block) {
    terms = blockOf(block, form.terms);
    for (const Copy &copy : copies)
      if (!copy.isOfRows)
        fill(copy, terms);
    for (auto [matrix, product] : llvm::zip_equal(sums, form.results))
      if (product.sumsRows)
        clear(matrix, othersOf(product));
    Value first = constant(0);
    if (form.endOfTerms) {
      Value row = maximum(add(terms.first, 1 - *form.endOfTerms), constant(0));
      first = divide(row, plan.block).first;
    }
    forLoop(first, e.indexValue(blocksOf(form, form.rows, plan.block)), 1, [&](Value rowBlock) {
      rows = blockOf(rowBlock, form.rows);
      for (const Copy &copy : copies)
        if (copy.isOfRows)
          fill(copy, rows);
      addBlock();
      for (auto [matrix, product] : llvm::zip_equal(sums, form.results))
        if (!product.sumsRows)
          clear(matrix, othersOf(product));
      sumResults(/*alongRows=*/false);
      sumResults(/*alongRows=*/true);
      Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, block, constant(0));
      auto store = [&](bool adds) {
        for (auto [i, product] : llvm::enumerate(form.results))
          if (!product.sumsRows)
            storeResult(i, rows, adds);
      };
      if (constantOf(termBlocks) == 1)
        store(false);
      else
        ifElse(isFirst, [&] { store(false); }, [&] { store(true); });
    });
    for (auto [i, product] : llvm::enumerate(form.results))
      if (product.sumsRows)
        storeResult(i, terms, /*adds=*/false);
  });
}

void AttentionEmitter::addBlock() {
  sumScores();
  computeFactors();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The number of terms of the block that count for a row of it.
Value AttentionEmitter::endOf(Value row) {
  if (!form.endOfTerms)
    return terms.count;
  Value end = sub(add(add(rows.first, row), *form.endOfTerms), terms.first);
  return minimum(maximum(end, constant(0)), terms.count);
}

/// The same in whole vectors, which are computed.
Value AttentionEmitter::endOfColumns(Value row) {
  if (!form.endOfTerms)
    return terms.count;
  Value whole = mul(divide(add(endOf(row), plan.lanes - 1), plan.lanes).first, plan.lanes);
  return minimum(whole, terms.count);
}

/// The first row of the block for which a term, or a later one, counts.
Value AttentionEmitter::startOfRows(Value term) {
  if (!form.endOfTerms)
    return constant(0);
  Value row = sub(add(add(terms.first, term), 1 - *form.endOfTerms), rows.first);
  return minimum(maximum(row, constant(0)), rows.count);
}

void AttentionEmitter::sumScores() {
  std::optional<int64_t> all = constantOf(form.extentOf(form.terms));
  for (auto [product, tile, matrix] :
       llvm::zip(form.scores, plan.scores, ArrayRef(scores).take_front(form.scores.size()))) {
    const Matrix &left = copyOf(product, product.form.a, /*isTransposed=*/false);
    const Matrix &right = copyOf(product, product.form.b, /*isTransposed=*/true);
    int64_t rowsOfTile = tile.rows;
    bool isWhole = all && *all % (tile.vectors * plan.lanes) == 0 && !form.endOfTerms;
    multiply(
        {tile, {left.pointer, type, {left.stride, {}}, nullptr}, {1, {}}, right, matrix, isWhole},
        rows.count,
        [&](Value row) {
          Value end = endOf(add(row, rowsOfTile - 1));
          return divide(add(end, plan.lanes - 1), plan.lanes).first;
        },
        [&](Value) { return std::pair(constant(0), constant(othersOf(product))); },
        /*adds=*/false);
  }
}

void AttentionEmitter::sumResults(bool alongRows) {
  for (auto [i, product] : llvm::enumerate(form.results)) {
    if (product.sumsRows != alongRows)
      continue;
    RegisterTile tile = plan.results[i];
    const Matrix &left = scores[factorOfResult[i]];
    const Matrix &right = copyOf(product, product.form.b, /*isTransposed=*/false);
    Value vectors = constant(plan.vectorsOf(othersOf(product)));
    TileSource a{left.pointer, type, {alongRows ? 1 : left.stride, {}}, nullptr};
    multiply(
        {tile, a, {alongRows ? left.stride : 1, {}}, right, sums[i], /*hasWholePanels=*/true},
        alongRows ? terms.count : rows.count, [&](Value) { return vectors; },
        [&](Value row) {
          return alongRows ? std::pair(startOfRows(row), rows.count)
                           : std::pair(constant(0), endOf(add(row, tile.rows - 1)));
        },
        /*adds=*/true);
  }
}

/// Computes tiles of a product for all rows. `vectors` and `steps` say how many vectors of columns
/// a tile at some row has, and which steps it sums.
void AttentionEmitter::multiply(const TiledFactors &factors, Value count,
                                function_ref<Value(Value)> vectors,
                                function_ref<std::pair<Value, Value>(Value)> steps, bool adds) {
  RegisterTile tile = factors.tile;
  forLoop(constant(0), count, tile.rows, [&](Value row) {
    auto [begin, end] = steps(row);
    Value stepCount = maximum(sub(end, begin), constant(0));
    Value all = vectors(row), whole = all;
    if (!factors.hasWholePanels)
      whole = mul(divide(all, tile.vectors).first, tile.vectors);
    forLoop(constant(0), whole, tile.vectors, [&](Value vector) {
      multiplyTile(factors, tile, row, mul(vector, plan.lanes), begin, stepCount, adds);
    });
    if (!factors.hasWholePanels)
      forLoop(whole, all, 1, [&](Value vector) {
        multiplyTile(factors, {tile.rows, 1}, row, mul(vector, plan.lanes), begin, stepCount, adds);
      });
  });
}

void AttentionEmitter::multiplyTile(const TiledFactors &factors, RegisterTile tile, Value row,
                                    Value column, Value begin, Value count, bool adds) {
  MicroTile micro{tile, plan.lanes, type, factors.a, {}, {}, {}};
  micro.a.pointer = advance(b, loc, factors.a.pointer, type, row, factors.a.across);
  micro.a.pointer = advance(b, loc, micro.a.pointer, type, begin, factors.aStep);
  micro.b = {at(factors.b, begin, column), type, {}, nullptr};
  micro.loops.push_back({count, factors.aStep, {factors.b.stride, {}}});
  auto sumAt = [&](int64_t i, int64_t v) {
    return at(factors.result, add(row, i), add(column, v * plan.lanes));
  };
  Values initial;
  for (int64_t i = 0; adds && i < tile.rows; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v)
      initial.push_back(loadLanes(b, loc, sumAt(i, v), type, plan.lanes, nullptr));
  Values all = emitMicroTile(b, loc, target, micro, initial);
  for (int64_t i = 0; i < tile.rows; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v)
      storeLanes(b, loc, all[i * tile.vectors + v], sumAt(i, v));
}

} // namespace tfc::cpu
