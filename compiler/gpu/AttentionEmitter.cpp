//===- AttentionEmitter.cpp - Attention in one kernel ---------------------===//
//
// After Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness"
// (2022). Gradients are kernels of the same form without a softmax of their own, whose products
// read scores that are computed again.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/AttentionEmitter.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/AsyncCopy.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

static constexpr int64_t kTile = TiledAttention::kTile;

AttentionEmitter::AttentionEmitter(KernelEmitter &emitter, const TiledAttention &tiled,
                                   ThreadGroup &group)
    : IndexArithmetic(emitter), e(emitter), tiled(tiled), attention(*tiled.attention),
      group(group) {
  for (const AttentionProduct &product : attention.scores)
    scoreNests.push_back(ContractionNest{product.op, {}, {}});
  for (size_t i = 0; i < tiled.scores.size(); ++i)
    scoreTiles.push_back(std::make_unique<TileEmitter>(e, scoreNests[i], tiled.scores[i], group,
                                                       PartSums(e, tiled.scores[i], Value())));
  for (size_t i = 0; i < tiled.results.size(); ++i)
    resultTiles.push_back(std::make_unique<TileEmitter>(
        e, attention.nests[i], tiled.results[i], group, PartSums(e, tiled.results[i], Value())));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The steps of a product with a tile of scores.
static int64_t stepsOf(const TiledProduct &product) { return kTile / product.tile.depth; }

/// Memory for stages, beside the scores and a value of each row for each warp that has it.
static constexpr int64_t kRowBytes = kTile * 4 * sizeof(float);

/// Gives all tiles their memory: the scores as a factor, then stages for one product at a time. The
/// results are stored in the end, when nothing else needs memory.
void AttentionEmitter::placeMemory() {
  int64_t scoreBytes = this->scoreBytes(), stageBytes = 0, sliceBytes = 0;
  for (auto &tile : resultTiles)
    sliceBytes = std::max(sliceBytes, tile->sliceBytes());
  int64_t room = kMostSharedBytes - kRowBytes - scoreBytes;
  for (auto &tile : scoreTiles)
    stageBytes =
        std::max(stageBytes, std::min<int64_t>(room / tile->stageBytes(), 3) * tile->stageBytes());
  for (size_t i = 0; i < resultTiles.size(); ++i)
    stageBytes =
        std::max(stageBytes, chunkOf(i) * resultTiles[i]->getMultiplier().panelBytes(false));
  Value memory = group.sharedMemory(std::max(scoreBytes + stageBytes, sliceBytes) + kRowBytes);
  auto at = [&](int64_t offset) {
    return elementAt(b, loc, memory, b.getI8Type(), constant(offset));
  };
  rowMemory = at(0);
  exchange = at(kTile * sizeof(float));
  scoreMemory = at(kRowBytes);
  stageMemory = at(kRowBytes + scoreBytes);
  for (auto &tile : scoreTiles)
    tile->setMemory(stageMemory, stageBytes / tile->stageBytes());
  for (auto &tile : resultTiles)
    tile->setMemory(scoreMemory, 0);
}

/// The memory of scores as a factor.
int64_t AttentionEmitter::scoreBytes() const {
  int64_t bytes = 0;
  for (auto [tile, product] : llvm::zip_equal(resultTiles, tiled.results))
    bytes = std::max(bytes, stepsOf(product) * tile->getMultiplier().panelBytes(true));
  return bytes;
}

/// The steps of a product whose panels are in memory together.
int64_t AttentionEmitter::chunkOf(size_t product) const {
  TileMultiplier &multiplier = resultTiles[product]->getMultiplier();
  int64_t room = kMostSharedBytes - kRowBytes - scoreBytes();
  return std::min(stepsOf(tiled.results[product]), room / multiplier.panelBytes(false));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The indices of the batch for a product, which has no loops over dimensions of one element.
AttentionEmitter::Indices AttentionEmitter::inBatchOf(const AttentionProduct &product) const {
  Indices result;
  for (auto [dim, index] : llvm::zip_equal(attention.batch, inBatch))
    if (product.loopOf[dim])
      result.push_back(index);
  return result;
}

/// The loops of an operation at an element of the scores.
AttentionEmitter::Indices AttentionEmitter::pointOf(ArrayRef<std::optional<unsigned>> loopOf,
                                                    unsigned numLoops, ArrayRef<AffineExpr> score) {
  Indices point(numLoops, e.constantExpr(0));
  for (auto [loop, index] : llvm::zip_equal(loopOf, score))
    if (loop)
      point[*loop] = index;
  return point;
}

AttentionEmitter::Indices AttentionEmitter::scoreAt(int64_t row, const Columns &columns,
                                                    int64_t column) {
  return tiled.scoreAt(inBatch, rows[row], columns.indices[column]);
}

/// The indices of a reduction's result for an own row.
AttentionEmitter::Indices AttentionEmitter::rowIndices(size_t number, int64_t row) {
  linalg::GenericOp op = attention.rowOps[number];
  Indices point = pointOf(attention.rowLoops[number], op.getNumLoops(),
                          tiled.scoreAt(inBatch, rows[row], e.constantExpr(0)));
  return productIndices(op, point);
}

void AttentionEmitter::placeProducts(ArrayRef<AffineExpr> point) {
  inBatch.assign(point.begin(), point.end() - 2);
  rowTile = point[point.size() - 2];
  for (auto [tile, product] : llvm::zip_equal(resultTiles, attention.results))
    tile->place(inBatchOf(product), rowTile, point.back());
  Value first = mul(e.indexValue(rowTile), kTile);
  Value extent = e.indexValue(attention.extentOf(attention.rows)), last = add(extent, -1);
  for (int64_t row = 0; row < layout().ownRows(); ++row) {
    Value index = add(first, layout().ownRow(row));
    areRowsInside.push_back(
        b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, extent));
    rows.push_back(e.addDim(minimum(index, last)));
  }
  auto isZero = [&](Value number) {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, number, constant(0));
  };
  isLeader =
      b.createOrFold<arith::AndIOp>(loc, isZero(divide(group.lane(), layout().lanesOfRow()).second),
                                    isZero(layout().warpOfRow()));
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The value from which a reduction starts.
Value AttentionEmitter::neutral(size_t number) {
  Operation *combiner = combinerOf(attention.rowOps[number], 0);
  return arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
}

AttentionEmitter::State AttentionEmitter::initialState() {
  State state;
  for (auto &tile : resultTiles) {
    TileMultiplier &multiplier = tile->getMultiplier();
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(multiplier.sumType()));
    state.sums.emplace_back(multiplier.numSums(), zero);
  }
  for (size_t i = 0; i < attention.rowOps.size(); ++i)
    state.rows.emplace_back(layout().ownRows(), neutral(i));
  return state;
}

AttentionEmitter::Values AttentionEmitter::flatten(const State &state) const {
  Values all;
  for (const std::vector<Values> *part : {&state.sums, &state.rows})
    for (const Values &values : *part)
      all.append(values);
  return all;
}

AttentionEmitter::State AttentionEmitter::unflatten(Values values) const {
  State state;
  ArrayRef<Value> rest(values);
  auto take = [&](std::vector<Values> &part, int64_t count) {
    part.emplace_back(rest.take_front(count));
    rest = rest.drop_front(count);
  };
  for (auto &tile : resultTiles)
    take(state.sums, tile->getMultiplier().numSums());
  for (size_t i = 0; i < attention.rowOps.size(); ++i)
    take(state.rows, scoreTiles.front()->getMultiplier().ownRows());
  return state;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Adds the own scores of a tile to the accumulators of a reduction.
AttentionEmitter::Values AttentionEmitter::reduce(size_t number, const Columns &columns,
                                                  Values accumulators) {
  linalg::GenericOp op = attention.rowOps[number];
  for (auto [row, accumulator] : llvm::enumerate(accumulators))
    for (int64_t column = 0; column < layout().ownColumns(); ++column) {
      Indices point =
          pointOf(attention.rowLoops[number], op.getNumLoops(), scoreAt(row, columns, column));
      Value next = e.body(op, point, {accumulator}).front();
      accumulator = arith::SelectOp::create(b, loc, columns.areInside[column], next, accumulator);
    }
  return accumulators;
}

/// Combines the values of all threads that have the same rows.
AttentionEmitter::Values AttentionEmitter::combineRows(size_t number, const Values &values) {
  Operation *combiner = combinerOf(attention.rowOps[number], 0);
  Values result;
  for (Value value : values)
    result.push_back(group.combineLanes(combiner, value, layout().lanesOfRow()));
  int64_t warps = layout().warpsOfRow();
  if (warps == 1)
    return result;
  Type type = values.front().getType();
  auto slot = [&](int64_t row, Value warp) {
    return elementAt(b, loc, exchange, type, add(mul(warp, kTile), layout().ownRow(row)));
  };
  group.wait(); // for the readers of other values
  Value isFirst = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                divide(group.lane(), layout().lanesOfRow()).second,
                                                constant(0));
  emitIf(e, isFirst, [&] {
    for (auto [row, value] : llvm::enumerate(result))
      LLVM::StoreOp::create(b, loc, value, slot(row, layout().warpOfRow()));
  });
  group.wait();
  for (auto [row, value] : llvm::enumerate(result)) {
    value = {};
    for (int64_t warp = 0; warp < warps; ++warp) {
      Value part = LLVM::LoadOp::create(b, loc, type, slot(row, constant(warp)));
      value = value ? combine(b, loc, combiner, value, part) : part;
    }
  }
  return result;
}

/// Puts a value of each row into memory, for all threads.
void AttentionEmitter::storeRowValues(const Values &values) {
  emitIf(e, isLeader, [&] {
    for (auto [row, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(b, loc, value,
                            elementAt(b, loc, rowMemory, value.getType(), layout().ownRow(row)));
  });
}

/// Changes the sums of a product by the values of their rows in memory.
void AttentionEmitter::forSums(size_t product, Values &sums,
                               function_ref<Value(Value, Value)> change) {
  TileMultiplier &multiplier = resultTiles[product]->getMultiplier();
  for (int64_t row = 0; row < multiplier.ownRows(); ++row) {
    Value ofRow = LLVM::LoadOp::create(
        b, loc, multiplier.sumType(),
        elementAt(b, loc, rowMemory, multiplier.sumType(), multiplier.ownRow(row)));
    for (int64_t column = 0; column < multiplier.ownColumns(); ++column) {
      Value &sum = sums[multiplier.sumAt(row, column)];
      sum = change(sum, ofRow);
    }
  }
}

/// A scale that says that earlier sums do not count.
static constexpr double kDrop = -1;

/// Scales what was summed before the maximum of its row grew.
Value AttentionEmitter::scaled(Value sum, Value scale) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sum.getType()));
  Value drops = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, scale, zero);
  Value product = arith::MulFOp::create(b, loc, sum, scale);
  return arith::SelectOp::create(b, loc, drops, zero, product);
}

/// Moves the maxima on to a tile and adds its exponentials. Returns by how much earlier sums of a
/// row are to be scaled. Until there is a score above minus infinity, exponentials are NaN, as
/// those of a row without any: sums of them do not count when there is one.
AttentionEmitter::Values AttentionEmitter::updateSoftmax(const Columns &columns, State &state) {
  Values scales, &maxima = state.rows[0], &sums = state.rows[1];
  Values next = reduce(0, columns, Values(layout().ownRows(), neutral(0)));
  next = combineRows(0, next);
  Type type = next.front().getType();
  Value lowest = neutral(0);
  Value drop = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, kDrop));
  for (int64_t row = 0; row < layout().ownRows(); ++row) {
    Value maximum = combine(b, loc, combinerOf(attention.rowOps[0], 0), maxima[row], next[row]);
    Value wasLowest = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maxima[row], lowest);
    Value grown = arith::SubFOp::create(b, loc, maxima[row], maximum);
    Value scale = math::ExpOp::create(b, loc, grown);
    scales.push_back(arith::SelectOp::create(b, loc, wasLowest, drop, scale));
    // Sums of rows without a score so far are NaN, but those of no tile are zero.
    sums[row] = scaled(sums[row], scales.back());
    maxima[row] = maximum;
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1.0));
    e.bind(attention.rowOps[0]->getResult(0), rowIndices(0, row), maximum);
    e.bind(attention.rowOps[1]->getResult(0), rowIndices(1, row), one);
  }
  sums = reduce(1, columns, sums);
  return scales;
}

/// Stores what a reduction returns; the first blocks of columns do.
void AttentionEmitter::storeRows(size_t number, const Values &values, AffineExpr columnTile) {
  linalg::GenericOp op = attention.rowOps[number];
  Value result = op->getResult(0);
  if (!e.buffer(result))
    return;
  Value isFirst = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                e.indexValue(columnTile), constant(0));
  for (auto [row, value] : llvm::enumerate(values)) {
    Value stores = arith::AndIOp::create(b, loc, isLeader, isFirst);
    stores = arith::AndIOp::create(b, loc, stores, areRowsInside[row]);
    emitIf(e, stores, [&] {
      Indices indices = rowIndices(number, row);
      Value init = e.element(op.getDpsInits()[0], indices);
      e.store(result, indices, combine(b, loc, combinerOf(op, 0), init, value));
    });
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Makes the sums of the products the elements that the scores are computed from.
void AttentionEmitter::bindScores(const std::vector<Values> &sums, const Columns &columns) {
  for (auto [product, own] : llvm::zip_equal(attention.scores, sums)) {
    linalg::GenericOp op = product.op;
    for (int64_t row = 0; row < layout().ownRows(); ++row)
      for (int64_t column = 0; column < layout().ownColumns(); ++column) {
        Indices point = pointOf(product.loopOf, op.getNumLoops(), scoreAt(row, columns, column));
        Indices indices = productIndices(op, point);
        Value sum = own[layout().sumAt(row, column)];
        e.bind(op->getResult(0), indices, productValue(e, op, product.form, indices, sum));
      }
  }
}

/// Computes the own scores of a tile as factors of each product.
std::vector<AttentionEmitter::Values> AttentionEmitter::factors(const Columns &columns) {
  std::vector<Values> result;
  for (auto [product, own] : llvm::zip_equal(attention.results, tiled.results)) {
    linalg::GenericOp op = product.op;
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(product.form.computeType));
    Values &values = result.emplace_back();
    for (int64_t row = 0; row < layout().ownRows(); ++row)
      for (int64_t column = 0; column < layout().ownColumns(); ++column) {
        Indices point = pointOf(product.loopOf, op.getNumLoops(), scoreAt(row, columns, column));
        Value value = factorAt(e, op, product.form, product.form.a, point);
        value = arith::SelectOp::create(b, loc, columns.areInside[column], value, zero);
        values.push_back(convertNumber(b, loc, value, own.panelType()));
      }
  }
  return result;
}

/// Brings some steps of the other factor of a product, from a term on. Nobody reads stages.
void AttentionEmitter::bringPanels(size_t number, Value term, int64_t first, int64_t count) {
  TileEmitter &tile = *resultTiles[number];
  PanelLoader &loader = tile.loaderOf(false);
  int64_t bytes = tile.getMultiplier().panelBytes(false);
  for (int64_t i = 0; i < count; ++i) {
    KernelEmitter::Scope scope(e);
    Value k = add(term, (first + i) * tiled.results[number].tile.depth);
    Value panel = elementAt(b, loc, stageMemory, b.getI8Type(), constant(i * bytes));
    if (loader.copies())
      loader.copy(k, panel);
    else
      loader.store(loader.load(k), panel);
  }
  if (loader.copies())
    endCopyGroup(b, loc);
}

/// Puts the own scores into the panels of a product's first factor.
void AttentionEmitter::storeFactor(size_t number, const Values &values) {
  const TiledProduct &product = tiled.results[number];
  TileMultiplier &multiplier = resultTiles[number]->getMultiplier();
  ArrayRef<Value> rest(values);
  int64_t size = layout().columnPiece();
  for (int64_t row = 0; row < layout().ownRows(); ++row)
    for (int64_t column = 0; column < layout().ownColumns(); column += size) {
      auto [step, along] = divide(layout().ownColumn(column), product.tile.depth);
      Value panel =
          elementAt(b, loc, scoreMemory, b.getI8Type(), mul(step, multiplier.panelBytes(true)));
      Value position = multiplier.positionInPanel(true, layout().ownRow(row), along);
      storePiece(b, loc, elementAt(b, loc, panel, product.panelType(), position),
                 rest.take_front(size));
      rest = rest.drop_front(size);
    }
}

/// Adds the products of some steps to the sums.
void AttentionEmitter::multiply(size_t number, int64_t first, int64_t count, Values &sums) {
  TileMultiplier &multiplier = resultTiles[number]->getMultiplier();
  sums = e.forLoop(constant(0), constant(count), 1, sums, [&](LoopDim dim, Values inner) {
    Value step = e.indexValue(dim);
    Value left = elementAt(b, loc, scoreMemory, b.getI8Type(),
                           mul(add(step, first), multiplier.panelBytes(true)));
    Value right =
        elementAt(b, loc, stageMemory, b.getI8Type(), mul(step, multiplier.panelBytes(false)));
    multiplier.multiply(left, right, inner);
    return inner;
  });
}

AttentionEmitter::State AttentionEmitter::addTile(LoopDim number, State state) {
  Value firstTerm = mul(e.indexValue(number), kTile);
  Value extent = e.indexValue(attention.extentOf(attention.terms)), last = add(extent, -1);
  std::vector<Values> scores;
  for (auto [tile, product, own] : llvm::zip_equal(scoreTiles, attention.scores, tiled.scores)) {
    tile->place(inBatchOf(product), rowTile, number);
    group.wait(); // for the readers of stages
    scores.push_back(tile->sumUp(constant(0), e.indexValue(own.form.extentOf(own.k))));
  }
  group.wait();
  if (!resultTiles.empty())
    bringPanels(0, firstTerm, 0, chunkOf(0));
  Columns columns;
  for (int64_t column = 0; column < layout().ownColumns(); ++column) {
    Value index = add(firstTerm, layout().ownColumn(column));
    columns.areInside.push_back(
        b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, extent));
    columns.indices.push_back(e.addDim(minimum(index, last)));
  }
  bindScores(scores, columns);
  if (attention.isSoftmax) {
    Values scales = updateSoftmax(columns, state);
    storeRowValues(scales);
  } else {
    for (auto [i, values] : llvm::enumerate(state.rows))
      values = reduce(i, columns, values);
  }
  std::vector<Values> values = factors(columns);
  for (size_t i = 0; i < resultTiles.size(); ++i) {
    int64_t chunk = chunkOf(i), steps = stepsOf(tiled.results[i]);
    if (i > 0) {
      group.wait(); // for the readers of the last product
      bringPanels(i, firstTerm, 0, chunk);
    }
    storeFactor(i, values[i]);
    for (int64_t first = 0; first < steps; first += chunk) {
      int64_t count = std::min(chunk, steps - first);
      if (first > 0) {
        group.wait();
        bringPanels(i, firstTerm, first, count);
      }
      if (resultTiles[i]->loaderOf(false).copies())
        waitForCopies(b, loc, 0);
      group.wait();
      if (first == 0 && attention.isSoftmax)
        forSums(i, state.sums[i], [&](Value sum, Value scale) { return scaled(sum, scale); });
      multiply(i, first, count, state.sums[i]);
    }
  }
  return state;
}

void AttentionEmitter::emit(ArrayRef<AffineExpr> point) {
  placeProducts(point);
  placeMemory();
  AffineExpr columnTile = point.back();
  Value tiles = e.indexValue(normalize(attention.extentOf(attention.terms).ceilDiv(kTile)));
  State state = unflatten(e.forLoop(
      constant(0), tiles, 1, flatten(initialState()), [&](LoopDim number, Values carried) {
        return flatten(addTile(number, unflatten(std::move(carried))));
      }));
  for (auto [i, values] : llvm::enumerate(state.rows)) {
    // The threads know the maximum of a softmax already.
    if (!attention.isSoftmax || i > 0)
      values = combineRows(i, values);
    storeRows(i, values, columnTile);
  }
  if (attention.isSoftmax) {
    // Without a score above minus infinity, elements of the softmax are NaN, but those that a
    // selection drops are zero, and so are sums over no terms: they need no division.
    Value one =
        arith::ConstantOp::create(b, loc, b.getFloatAttr(state.rows[1].front().getType(), 1));
    Values divisors;
    for (auto [maximum, total] : llvm::zip_equal(state.rows[0], state.rows[1])) {
      Value isLowest =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maximum, neutral(0));
      divisors.push_back(arith::SelectOp::create(b, loc, isLowest, one, total));
    }
    group.wait(); // for the readers of scales
    storeRowValues(divisors);
    group.wait();
    for (auto [i, sums] : llvm::enumerate(state.sums))
      forSums(i, sums, [&](Value sum, Value divisor) -> Value {
        return arith::DivFOp::create(b, loc, sum, divisor);
      });
  }
  for (auto [tile, sums] : llvm::zip_equal(resultTiles, state.sums))
    tile->store(sums);
}
