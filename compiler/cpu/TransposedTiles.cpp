// Holds the part of NestEmitter for parallel sweeps that read across cache lines, as transposes do.
// They run in tiles, so that each line is used up while it is in the cache, and whole tiles are
// transposed in registers.

#include "compiler/cpu/NestEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// The arithmetic at a point of which there are copies for all rows of a tile.
static constexpr int64_t kMostCost = 16;

/// Returns true if neighbouring points of a loop of the nest access neighbouring elements.
static bool isContiguous(AffineExpr offset, unsigned loop) {
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, offset.getContext()));
  AffineExpr stride, rest;
  return Polynomial(offset).split(dim, stride, rest) &&
         stride == getAffineConstantExpr(1, offset.getContext());
}

void NestEmitter::tileTransposed(const LoopSweep &sweep, Lanes &lanes) const {
  if (!llvm::all_of(sweep.stages, [](LoopStage *stage) { return stage->isParallel(); }))
    return;
  int64_t cost = 0;
  bool hasChecks = false;
  for (const LoopStage *stage : sweep.stages) {
    cost += stage->footprint.cost;
    hasChecks |= !stage->footprint.checks.empty();
  }
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(*sweep.laneLoop, b.getContext()));
  for (const LoopStage *stage : sweep.stages)
    for (const Access &read : stage->footprint.reads) {
      AffineExpr offset = denseOffset(e.shapes(), read.tensor, Schedule::readIndices(*stage, read));
      if (!usesDim(offset, dim) || isContiguous(offset, *sweep.laneLoop))
        continue;
      for (unsigned loop : sweep.loops)
        if (loop != *sweep.laneLoop && isContiguous(offset, loop)) {
          lanes.tileLoop = loop;
          lanes.unroll = 1;
          lanes.transposes = !hasChecks && cost <= kMostCost && canTranspose(lanes.width);
          return;
        }
    }
}

/// Emits the points of a tile one after the other.
NestEmitter::Values NestEmitter::rowByRow(const LoopSweep &sweep, const Lanes &lanes, Value from,
                                          Value to) {
  return e.forLoop(from, to, 1, {}, [&](LoopDim dim, Values) {
    loops[*lanes.tileLoop] = dim;
    return pointwiseBlock(sweep, lanes, 1, {});
  });
}

/// Emits the whole tiles in [lower, upper) of the tiled loop, in square blocks of several tiles:
/// their rows are in few pages, and long enough to be fetched ahead. Returns the end of the last.
Value NestEmitter::emitTransposed(const LoopSweep &sweep, const Lanes &lanes, Value lower,
                                  Value upper) {
  static constexpr int64_t kBlock = 64;
  Value width = e.indexConstant(lanes.width);
  Value count = b.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value tiles = b.createOrFold<arith::DivUIOp>(loc, count, width);
  Value whole = b.createOrFold<arith::MulIOp>(loc, tiles, width);
  Value end = b.createOrFold<arith::AddIOp>(loc, lower, whole);
  auto [laneLower, laneUpper] = bounds(*sweep.laneLoop);
  auto forBlocks = [&](Value from, Value to, function_ref<void(Value, Value)> body) {
    e.forLoop(from, to, kBlock, {}, [&](LoopDim block, Values) -> Values {
      Value first = e.indexValue(block);
      Value last = arith::AddIOp::create(b, loc, first, e.indexConstant(kBlock));
      body(first, arith::MinSIOp::create(b, loc, last, to));
      return {};
    });
  };
  forBlocks(lower, end, [&](Value first, Value last) {
    forBlocks(laneLower, laneUpper, [&](Value laneFirst, Value laneLast) {
      e.forLoop(first, last, lanes.width, {}, [&](LoopDim tile, Values) -> Values {
        laneBlock = {laneFirst, laneLast};
        emitLanes(sweep, lanes, {}, [&](int64_t, Values) -> Values {
          transposedTile(sweep, lanes, tile);
          return {};
        });
        laneBlock.reset();
        return {};
      });
    });
  });
  return end;
}

/// Emits a parallel sweep with the loops `around` around the vectorized loop, one of them in tiles.
void NestEmitter::emitTiles(const LoopSweep &sweep, const Lanes &lanes,
                            SmallVector<unsigned> around) {
  static constexpr int64_t kTile = 16; // elements of a cache line, for most types
  unsigned tiled = *lanes.tileLoop;
  llvm::erase(around, tiled);
  emitLoops(around, {}, [&](Values) -> Values {
    auto [lower, upper] = bounds(tiled);
    Value rest = lanes.transposes ? emitTransposed(sweep, lanes, lower, upper) : lower;
    return e.forLoop(rest, upper, kTile, {}, [&, upper = upper](LoopDim tile, Values) -> Values {
      Value from = e.indexValue(tile);
      Value to = arith::AddIOp::create(b, loc, from, e.indexConstant(kTile));
      to = arith::MinSIOp::create(b, loc, to, upper);
      return emitLanes(sweep, lanes, {},
                       [&](int64_t, Values) { return rowByRow(sweep, lanes, from, to); });
    });
  });
}

/// Emits a tile of as many points along the tiled loop as there are lanes. Reads that are
/// contiguous along the tiled loop are vectors along it, which are transposed. Masked lanes have
/// the elements of the last one that is not.
void NestEmitter::transposedTile(const LoopSweep &sweep, const Lanes &lanes, LoopDim tile) {
  unsigned tiled = *lanes.tileLoop, lane = *sweep.laneLoop;
  AffineExpr base = loops[lane];
  Value last = arith::SubIOp::create(b, loc, laneBlock->second, e.indexConstant(1));
  using Read = std::pair<Value, SmallVector<AffineExpr>>; // with indices over the nest's loops
  SmallVector<std::pair<Read, SmallVector<Value>>> reads;
  auto indicesAt = [&](const Read &read) {
    return llvm::map_to_vector(read.second, [&](AffineExpr i) { return i.replaceDims(loops); });
  };
  for (const LoopStage *stage : sweep.stages)
    for (const Access &access : stage->footprint.reads) {
      Read read{access.tensor, Schedule::readIndices(*stage, access)};
      AffineExpr offset = denseOffset(e.shapes(), read.first, read.second);
      Type element = getElementTypeOrSelf(access.tensor.getType());
      if (!e.buffer(read.first) || element.isInteger(1) || isContiguous(offset, lane) ||
          !isContiguous(offset, tiled))
        continue;
      SmallVector<Value> rows;
      bool isMasked = e.mask() != nullptr;
      KernelEmitter::VectorMode mode(e, tile, lanes.width, Value());
      loops[tiled] = tile;
      for (int64_t i = 0; i < lanes.width; ++i) {
        loops[lane] = base + i;
        if (isMasked)
          loops[lane] = e.addDim(arith::MinSIOp::create(b, loc, e.indexValue(base + i), last));
        rows.push_back(e.broadcast(e.element(read.first, indicesAt(read))));
      }
      transpose(b, loc, rows);
      reads.push_back({std::move(read), std::move(rows)});
    }
  loops[lane] = base;
  for (int64_t i = 0; i < lanes.width; ++i) {
    loops[tiled] = tile + i;
    KernelEmitter::Scope scope(e);
    for (auto &[read, rows] : reads)
      e.bind(read.first, indicesAt(read), rows[i]);
    pointwiseBlock(sweep, lanes, 1, {});
  }
}
