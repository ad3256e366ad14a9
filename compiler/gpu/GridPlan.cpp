//===- GridPlan.cpp - How a GPU computes a kernel -------------------------===//
//
// Divides the nests of a schedule into launches, and their loops into those whose points are
// threads and those that a thread runs.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/GridPlan.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/Specials.h"
#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::linalg_ext;
namespace kernel = tfc::kernel;

/// Values of more elements than this are in memory of the kernel instead of the thread, whose own
/// is as slow, but larger by the number of threads that are there at once.
static constexpr int64_t kStackElements = 64;

GridPlan::GridPlan(Operation *op)
    : shapes(cast<kernel::FuncOp>(op)),
      schedule(shapes, {!cast<kernel::FuncOp>(op).getTargetDescription().getWithoutProducts(),
                        kStackElements, takesTiles, takesAttention}) {
  if (failed())
    return;
  for (const Nest &nest : schedule.nests())
    divide(nest);
  findShared();
  findHeld();
}

/// The loops of a sweep whose points are independent: all of them without a reduction, else those
/// around the accumulators. The loop along which lanes run comes last.
static SmallVector<unsigned> parallelLoops(const LoopSweep &sweep) {
  bool isParallel =
      llvm::all_of(sweep.stages, [](LoopStage *stage) { return stage->isParallel(); });
  SmallVector<unsigned> loops(sweep.loops);
  if (!isParallel)
    loops.truncate(sweep.numParallel);
  if (auto *lane = sweep.laneLoop ? llvm::find(loops, *sweep.laneLoop) : loops.end();
      lane != loops.end())
    std::rotate(lane, lane + 1, loops.end());
  return loops;
}

AffineExpr Grid::points() const {
  AffineExpr count = getAffineConstantExpr(1, nest->stages.front()->op->getContext());
  for (AffineExpr size : sizes)
    count = normalize(count * size);
  return count;
}

/// The reduction loop of a sweep with the most points.
static unsigned longestReduction(const Grid &grid, const LoopSweep &sweep) {
  auto extentOf = [&](unsigned loop) {
    return constantOf(normalize(grid.nest->sizes[loop])).value_or(INT64_MAX);
  };
  ArrayRef<unsigned> inside = sweep.inside();
  return *std::max_element(inside.begin(), inside.end(),
                           [&](unsigned a, unsigned b) { return extentOf(a) < extentOf(b); });
}

std::optional<unsigned> Grid::dividedLoop(const LoopSweep &sweep) const {
  if (groupStride > 1)
    return longestReduction(*this, sweep);
  bool isInside = groupThreads > 1 && sweep.laneLoop &&
                  llvm::is_contained(sweep.loops, *sweep.laneLoop) &&
                  !llvm::is_contained(loops, *sweep.laneLoop);
  return isInside ? sweep.laneLoop : std::nullopt;
}

/// Rows of up to this many elements are computed by one thread, those of up to `kWarpRow` by a
/// warp, longer ones by a block.
static constexpr int64_t kThreadRow = 4, kWarpRow = 1024;
/// Of a row whose length is known when it runs, this many points are enough for warps.
static constexpr int64_t kManyPoints = 1024;

/// The registers of a thread, of 32 bits, for the elements of its points, and the cost of all its
/// points in units of simple operations, since their code is repeated.
static constexpr int64_t kHeldRegisters = 96, kUnrolledCost = 8192;

/// Returns the tensors of which a sweep reads another element at each point of a loop.
static llvm::SmallDenseSet<Value> readAlong(const LoopSweep &sweep, unsigned loop) {
  llvm::SmallDenseSet<Value> tensors;
  for (const LoopStage *stage : sweep.stages)
    for (const Access &read : stage->footprint.reads)
      if (llvm::any_of(Schedule::readIndices(*stage, read),
                       [&](AffineExpr index) { return index.isFunctionOfDim(loop); }))
        tensors.insert(read.tensor);
  return tensors;
}

/// Returns the registers for a point that sweeps leave to later ones.
static int64_t registersOf(ArrayRef<const LoopSweep *> sweeps, ArrayRef<unsigned> loops) {
  int64_t most = 0;
  llvm::SmallDenseSet<Value> known, needed;
  for (unsigned i = 0; i + 1 < sweeps.size(); ++i) {
    known.insert_range(readAlong(*sweeps[i], loops[i]));
    for (const LoopStage *stage : sweeps[i]->stages)
      if (stage->isParallel())
        known.insert_range(stage->op->getResults());
    needed.clear();
    for (unsigned later = i + 1; later < sweeps.size(); ++later)
      needed.insert_range(readAlong(*sweeps[later], loops[later]));
    int64_t count = 0;
    for (Value tensor : known)
      if (needed.contains(tensor))
        count += llvm::divideCeil(getElementTypeOrSelf(tensor).getIntOrFloatBitWidth(), 32u);
    most = std::max(most, count);
  }
  return most;
}

/// Returns the points of each thread if sweeps that share a divided loop can pass their elements on
/// in registers: the loop has a known extent, and nothing else is inside of it.
static int64_t heldPointsOf(const Grid &grid) {
  std::optional<int64_t> extent;
  int64_t cost = 0;
  SmallVector<const LoopSweep *> sweeps;
  SmallVector<unsigned> loops;
  for (const LoopSweep *sweep : grid.sweeps) {
    std::optional<unsigned> loop = grid.dividedLoop(*sweep);
    if (!loop)
      continue;
    std::optional<int64_t> known = constantOf(normalize(grid.nest->sizes[*loop]));
    bool isAlone = llvm::all_of(sweep->loops, [&](unsigned other) {
      return other == loop || llvm::is_contained(grid.loops, other);
    });
    if (!known || !isAlone || extent.value_or(*known) != *known)
      return 0;
    extent = known;
    sweeps.push_back(sweep);
    loops.push_back(*loop);
    for (const LoopStage *stage : sweep->stages)
      cost += stage->footprint.cost;
  }
  if (sweeps.size() < 2)
    return 0;
  int64_t points = llvm::divideCeil(*extent, grid.groupThreads);
  bool fits =
      points * registersOf(sweeps, loops) <= kHeldRegisters && points * cost <= kUnrolledCost;
  return fits ? points : 0;
}

/// Returns true if a sweep has reductions, whose parts can be combined.
static bool hasPartialReductions(const LoopSweep &sweep) {
  bool hasReduction = false;
  for (const LoopStage *stage : sweep.stages)
    for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i) {
      Operation *combiner = combinerOf(stage->generic(), i);
      if (!combiner || !arith::getNeutralElement(combiner))
        return false;
      hasReduction = true;
    }
  return hasReduction;
}

/// Columns with few terms are left to a thread each, and so are many columns: the exchange at the
/// end costs more than what the threads gain.
static constexpr int64_t kFewTerms = 64, kMoreTerms = 256;
static constexpr int64_t kManyColumns = 1 << 10, kMostColumns = 1 << 15;

/// The points of a block whose threads take turns along reductions of columns: enough for whole
/// sectors of 32 bytes. 1 if a thread computes a column.
static int64_t columnsOfBlock(const Grid &grid) {
  if (grid.sweeps.size() != 1)
    return 1;
  const LoopSweep &sweep = *grid.sweeps.front();
  int64_t points = constantOf(grid.points()).value_or(0);
  if (sweep.kind != LoopSweep::Kind::Column || sweep.inside().empty() || points >= kMostColumns)
    return 1;
  AffineExpr longest = normalize(grid.nest->sizes[longestReduction(grid, sweep)]);
  int64_t enough = points < kManyColumns ? kFewTerms : kMoreTerms;
  if (constantOf(longest).value_or(enough) < enough)
    return 1;
  if (!hasPartialReductions(sweep))
    return 1;
  int64_t columns = 8;
  for (const LoopStage *stage : sweep.stages)
    for (const Access &read : stage->footprint.reads)
      if (getElementTypeOrSelf(read.tensor).getIntOrFloatBitWidth() <= 16)
        columns = 16;
  return columns;
}

/// Divides the innermost loops at a point among threads: neighbours access neighbouring elements,
/// and there are enough threads for few, long rows.
void GridPlan::formGroups(Grid &grid) {
  grid.groupThreads = kWarpThreads;
  int64_t longest = 1;
  bool isKnown = true;
  for (const LoopSweep *sweep : grid.sweeps)
    if (std::optional<unsigned> loop = grid.dividedLoop(*sweep)) {
      std::optional<int64_t> extent = constantOf(normalize(grid.nest->sizes[*loop]));
      isKnown &= extent.has_value();
      longest = std::max(longest, extent.value_or(longest));
    }
  bool areFew = constantOf(grid.points()).value_or(kManyPoints) < kManyPoints;
  if (isKnown && longest <= kThreadRow)
    grid.groupThreads = 1;
  else if (isKnown ? longest > kWarpRow : areFew)
    grid.groupThreads = kBlockThreads;
  if (grid.groupThreads > 1) {
    grid.heldPoints = heldPointsOf(grid);
    if (grid.heldPoints > 0)
      joinHeldPoints(grid);
    return;
  }
  grid.groupStride = columnsOfBlock(grid);
  if (grid.groupStride > 1)
    grid.groupThreads = kBlockThreads / grid.groupStride;
}

/// Blocks that fill a GPU, and the terms of a thread that are worth a block. If the number of terms
/// is known when it runs, reductions of few blocks have parts with more terms.
static constexpr int64_t kFullBlocks = 1024, kTermsOfThread = 32;
static constexpr int64_t kFewBlocks = 8, kUnknownTermsOfThread = 64;

/// Returns the parts of a launch's reductions; none if groups compute whole ones. The first loop of
/// an unknown length is cut, else that which is divided among the threads if it is long enough, or
/// the longest of the others.
static std::optional<Grid::Parts> partsOf(const Grid &grid) {
  std::optional<int64_t> points = constantOf(grid.points());
  if (grid.sweeps.size() != 1 || grid.groupThreads == 1 || !points || *points == 0)
    return std::nullopt;
  const LoopSweep &sweep = *grid.sweeps.front();
  std::optional<unsigned> divided = grid.dividedLoop(sweep);
  if (!divided || !llvm::is_contained(sweep.inside(), *divided) || !hasPartialReductions(sweep))
    return std::nullopt;
  int64_t blocks = llvm::divideCeil(*points, kBlockThreads / grid.groupThreads);
  auto parts = [&](unsigned loop, int64_t extent) {
    return Grid::Parts{normalize(grid.nest->sizes[loop].ceilDiv(extent)), loop, extent};
  };
  auto termsOf = [&](unsigned loop) { return constantOf(normalize(grid.nest->sizes[loop])); };
  int64_t terms = 1, longest = 1;
  unsigned other = *divided;
  for (unsigned loop : sweep.inside()) {
    std::optional<int64_t> own = termsOf(loop);
    if (!own && blocks > kFewBlocks)
      return std::nullopt;
    if (!own)
      return parts(loop, loop == *divided ? grid.groupThreads * kUnknownTermsOfThread
                                          : kUnknownTermsOfThread);
    terms *= *own;
    if (loop != *divided && *own > longest) {
      longest = *own;
      other = loop;
    }
  }
  int64_t count = std::min(kFullBlocks / blocks, terms / (grid.groupThreads * kTermsOfThread));
  if (count < 2)
    return std::nullopt;
  if (int64_t own = *termsOf(*divided); own >= count * grid.groupThreads || longest == 1)
    return parts(*divided, llvm::alignTo(llvm::divideCeil(own, count), grid.groupThreads));
  return parts(other, llvm::divideCeil(longest, std::min(count, longest)));
}

/// Divides long reductions of few points among blocks. A second launch combines their parts.
void GridPlan::divideReductions(Grid &grid) {
  grid.parts = partsOf(grid);
  if (!grid.parts)
    return;
  Grid end = grid;
  end.kind = Grid::Kind::PartEnd;
  end.groupStride = 1;
  constexpr int64_t kPartsOfThread = 4;
  int64_t count = constantOf(end.parts->count).value_or(kWarpThreads);
  end.groupThreads = count <= kPartsOfThread ? 1 : kWarpThreads;
  grid.sizes.insert(grid.sizes.begin(), grid.parts->count);
  grids.push_back(std::move(end));
}

/// Parts for which the sweeps of a nest are launches of their own.
static constexpr int64_t kPartsForSweeps = 8;

/// Returns true if the sweeps of a nest share loops, whose points are groups: unless long
/// reductions of few points need other blocks.
static bool isOneLaunch(const Nest &nest) {
  if (nest.outer.empty() || nest.sweeps.size() == 1)
    return false;
  int64_t points = 1;
  for (unsigned loop : nest.outer) {
    std::optional<int64_t> extent = constantOf(normalize(nest.sizes[loop]));
    if (!extent || (points *= *extent) > kFullBlocks / kPartsForSweeps)
      return true;
  }
  return llvm::none_of(nest.sweeps, [&](const LoopSweep &sweep) {
    return hasPartialReductions(sweep) && llvm::any_of(sweep.inside(), [&](unsigned loop) {
             int64_t terms = constantOf(normalize(nest.sizes[loop])).value_or(0);
             return terms >= kPartsForSweeps * kBlockThreads * kTermsOfThread;
           });
  });
}

/// A thread accesses 16 bytes at once if there are enough threads without that, and if the code for
/// its points, in units of simple operations, is not too long.
static constexpr int64_t kAccessBytes = 16, kMostNeighbours = 8;
static constexpr int64_t kFewPoints = 1 << 13, kNeighboursCost = 1024;

/// Returns the number of neighbours along a loop of which no access has more than 16 bytes.
int64_t GridPlan::neighboursAlong(const LoopSweep &sweep, unsigned loop) {
  int64_t least = 0;
  auto addAccess = [&](Value tensor, AffineExpr offset) {
    if (isContiguous(offset, loop))
      least = least ? std::min(least, bytesOf(tensor)) : bytesOf(tensor);
  };
  for (const LoopStage *stage : sweep.stages) {
    if (stage->isParallel())
      for (OpResult result : stage->op->getResults())
        addAccess(result, offsetOf(shapes, *stage, result));
    for (const Access &read : stage->footprint.reads)
      addAccess(read.tensor, denseOffset(shapes, read.tensor, Schedule::readIndices(*stage, read)));
  }
  return least ? std::min(kMostNeighbours, kAccessBytes / least) : 1;
}

/// Lets threads hold neighbours, as long as they do not hold more points for that.
void GridPlan::joinHeldPoints(Grid &grid) {
  int64_t count = kMostNeighbours, extent = 0;
  for (const LoopSweep *sweep : grid.sweeps)
    if (std::optional<unsigned> loop = grid.dividedLoop(*sweep)) {
      count = std::min(count, neighboursAlong(*sweep, *loop));
      extent = *constantOf(normalize(grid.nest->sizes[*loop]));
    }
  auto fits = [&] {
    int64_t rounds = llvm::divideCeil(extent, grid.groupThreads * count);
    return extent % count == 0 && rounds * count <= grid.heldPoints;
  };
  while (count > 1 && !fits())
    count /= 2;
  grid.neighbours = count;
}

/// Lets threads compute several neighbours along the last loop of a launch, in whose rows, if there
/// are several, whole accesses fit.
void GridPlan::joinNeighbours(Grid &grid) {
  bool isPointwise = grid.sweeps.size() == 1 && !grid.loops.empty() && grid.groupThreads == 1 &&
                     llvm::all_of(grid.sweeps.front()->stages,
                                  [](LoopStage *stage) { return stage->isParallel(); });
  if (!isPointwise || constantOf(grid.points()).value_or(kFewPoints) < kFewPoints)
    return;
  int64_t cost = 0;
  for (const LoopStage *stage : grid.sweeps.front()->stages)
    cost += stage->footprint.cost;
  int64_t count = neighboursAlong(*grid.sweeps.front(), grid.loops.back());
  while (count > 1 && count * cost > kNeighboursCost)
    count /= 2;
  std::optional<int64_t> extent = constantOf(normalize(grid.sizes.back()));
  if (grid.sizes.size() > 1)
    while (count > 1 && (!extent || *extent % count != 0))
      count /= 2;
  grid.neighbours = count;
  grid.sizes.back() = grid.sizes.back().ceilDiv(count);
}

/// Makes squares the points of a launch that reads along another loop than it writes.
bool GridPlan::transpose(Grid &grid) {
  if (grid.sweeps.size() != 1)
    return false;
  grid.transposition = findTransposition(shapes, *grid.nest, *grid.sweeps.front(), grid.loops);
  if (!grid.transposition)
    return false;
  for (unsigned loop : {grid.transposition->readLoop, grid.transposition->storeLoop}) {
    llvm::erase(grid.loops, loop);
    grid.loops.push_back(loop);
  }
  grid.sizes.clear();
  for (unsigned loop : grid.loops)
    grid.sizes.push_back(grid.nest->sizes[loop]);
  for (AffineExpr &size : MutableArrayRef(grid.sizes).take_back(2))
    size = size.ceilDiv(grid.transposition->tile);
  grid.groupThreads = kBlockThreads;
  return true;
}

/// A nest whose sweeps share loops is one launch; its sweeps without common loops are launches of
/// their own, since each of them has other points.
void GridPlan::divide(const Nest &nest) {
  if (Operation *op = nest.stages.front()->op; !isa<linalg::GenericOp>(op))
    return addSpecial(nest, op);
  if (nest.sweeps.front().product)
    return addTiles(nest);
  if (nest.sweeps.front().attention)
    return addAttention(nest);
  auto add = [&](ArrayRef<const LoopSweep *> sweeps, ArrayRef<unsigned> loops) {
    Grid &grid = grids.emplace_back();
    grid.nest = &nest;
    grid.sweeps.assign(sweeps.begin(), sweeps.end());
    grid.loops.assign(loops.begin(), loops.end());
    for (unsigned loop : loops)
      grid.sizes.push_back(nest.sizes[loop]);
    if (transpose(grid))
      return;
    formGroups(grid);
    joinNeighbours(grid);
    divideReductions(grid);
  };
  if (isOneLaunch(nest)) {
    SmallVector<const LoopSweep *> all;
    for (const LoopSweep &sweep : nest.sweeps)
      all.push_back(&sweep);
    return add(all, nest.outer);
  }
  for (const LoopSweep &sweep : nest.sweeps) {
    SmallVector<unsigned> loops(nest.outer);
    loops.append(parallelLoops(sweep));
    add(&sweep, loops);
  }
}

void GridPlan::addTiles(const Nest &nest) {
  Grid &grid = grids.emplace_back();
  grid.kind = Grid::Kind::Tile;
  grid.nest = &nest;
  grid.product.emplace(shapes, nest.sweeps.front().product->op,
                       shapes.kernel().getTargetDescription().getFactors());
  grid.sizes = grid.product->gridSizes();
  grid.groupThreads = kBlockThreads;
  if (grid.product->parts == 1)
    return;
  Grid sum = grid;
  sum.kind = Grid::Kind::PartSum;
  sum.sizes = sum.product->elementSizes();
  sum.groupThreads = 1;
  grids.push_back(std::move(sum));
}

void GridPlan::addAttention(const Nest &nest) {
  Grid &grid = grids.emplace_back();
  grid.kind = Grid::Kind::Attention;
  grid.nest = &nest;
  grid.attention.emplace(shapes, *nest.sweeps.front().attention,
                         shapes.kernel().getTargetDescription().getFactors());
  grid.sizes = grid.attention->gridSizes();
  grid.groupThreads = kBlockThreads;
}

/// Lets groups of threads scan lines where that is faster than a thread for each.
bool GridPlan::addScan(const Nest &nest, ScanOp op) {
  std::optional<ScanShape> scan = shapeOfScan(shapes, op);
  if (!scan)
    return false;
  Grid grid;
  grid.nest = &nest;
  grid.scan = scan;
  grid.groupThreads = scan->threads;
  grid.sizes = lineSizes(shapes, op);
  if (scan->parts) {
    grid.sizes.push_back(scan->parts);
    grid.kind = Grid::Kind::ScanTotal;
    grids.push_back(grid);
  }
  grid.kind = Grid::Kind::Scan;
  grids.push_back(std::move(grid));
  return true;
}

void GridPlan::addSpecial(const Nest &nest, Operation *op) {
  auto add = [&](Grid::Kind kind, ArrayRef<AffineExpr> sizes) {
    Grid &grid = grids.emplace_back();
    grid.kind = kind;
    grid.nest = &nest;
    grid.sizes.assign(sizes.begin(), sizes.end());
  };
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    add(Grid::Kind::Copy, shapes.shapeOf(scatter.getResult()));
    Parallelism linking = linkingOf(shapes, scatter);
    if (linking != Parallelism::Never) {
      add(Grid::Kind::Link, updateSizes(shapes, scatter));
      SmallVector<AffineExpr> sizes(updateSizes(shapes, scatter));
      llvm::append_range(sizes, rowSizes(shapes, scatter));
      add(Grid::Kind::Chain, sizes);
    }
    if (linking != Parallelism::Always)
      add(Grid::Kind::Update, rowSizes(shapes, scatter));
    return;
  }
  if (auto scan = dyn_cast<ScanOp>(op); scan && addScan(nest, scan))
    return;
  auto sort = dyn_cast<SortOp>(op);
  Parallelism ranking = sort ? rankingOf(shapes, sort) : Parallelism::Never;
  if (ranking != Parallelism::Never) {
    add(Grid::Kind::Rank, keySizes(shapes, sort));
    if (hasRest(shapes, sort))
      add(Grid::Kind::Rest, placeSizes(shapes, sort));
  }
  if (ranking != Parallelism::Always)
    add(Grid::Kind::Line, lineSizes(shapes, op));
}

void GridPlan::findShared() {
  auto isInOneLaunch = [&](const LoopStage *writer, const LoopStage *reader) {
    auto [nest, sweep] = schedule.position(writer);
    auto place = schedule.position(reader);
    return place.first == nest && (place.second == sweep || isOneLaunch(schedule.nests()[nest]));
  };
  for (const Nest &nest : schedule.nests())
    for (const LoopStage *stage : nest.stages)
      for (const Access &read : stage->footprint.reads) {
        const LoopStage *writer = schedule.stage(read.tensor.getDefiningOp());
        if (writer && !isInOneLaunch(writer, stage))
          shared.insert(read.tensor);
      }
}

/// A reader of another element of a row computes it again.
void GridPlan::findHeld() {
  auto hold = [&](const LoopStage &stage) {
    for (Value value : stage.op->getResults())
      if (!shared.contains(value) && schedule.storage(value) != Storage::Result)
        held.insert(value);
  };
  for (const Grid &grid : grids) {
    if (grid.heldPoints == 0)
      continue;
    for (const LoopSweep *sweep : grid.sweeps)
      for (const LoopStage *stage : sweep->stages)
        if (grid.dividedLoop(*sweep) && stage->isParallel())
          hold(*stage);
  }
}

Storage GridPlan::storage(Value value) const {
  Storage storage = schedule.storage(value);
  if (held.contains(value))
    return Storage::Register;
  return shared.contains(value) && storage != Storage::Result ? Storage::Scratch : storage;
}
