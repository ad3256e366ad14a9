//===- GridEmitter.cpp - The work of a thread -----------------------------===//
//
// Emits the sweeps of a launch at a point of its index space: loops over the rest of the points,
// with accumulators in registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/GridEmitter.h"
#include "compiler/gpu/AttentionEmitter.h"
#include "compiler/gpu/TileEmitter.h"
#include "compiler/gpu/TransposeEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::linalg_ext;

void GridEmitter::emit(ArrayRef<AffineExpr> point) {
  Operation *op = nest.stages.front()->op;
  switch (grid.kind) {
  case Grid::Kind::Sweeps:
    if (grid.transposition)
      return TransposeEmitter(e, nest, *grid.sweeps.front(), *grid.transposition, group)
          .emit(ArrayRef(grid.loops).drop_back(2), point);
    if (grid.parts) {
      part = point.front();
      point = point.drop_front();
    }
    for (auto [loop, index] : llvm::zip_equal(grid.loops, point))
      loops[loop] = index;
    if (grid.heldPoints > 0)
      makePoints();
    else if (grid.neighbours > 1)
      return emitNeighbours(point.back());
    for (const LoopSweep *sweep : grid.sweeps) {
      if (sweep != grid.sweeps.front())
        wait();
      emitSweep(*sweep);
    }
    return;
  case Grid::Kind::PartEnd:
    for (auto [loop, index] : llvm::zip_equal(grid.loops, point))
      loops[loop] = index;
    return emitSweep(*grid.sweeps.front());
  case Grid::Kind::Line:
    if (auto scan = dyn_cast<ScanOp>(op))
      return emitScanLine(e, scan, point);
    [[fallthrough]];
  case Grid::Kind::Rank:
  case Grid::Kind::Rest:
    return emitSort(cast<SortOp>(op), point);
  case Grid::Kind::Scan:
    return ScanEmitter(e, cast<ScanOp>(op), *grid.scan, group, partMemory).emitElements(point);
  case Grid::Kind::ScanTotal:
    return ScanEmitter(e, cast<ScanOp>(op), *grid.scan, group, partMemory).emitTotal(point);
  case Grid::Kind::Tile:
    return TileEmitter(e, *nest.sweeps.front().product, *grid.product, group,
                       PartSums(e, *grid.product, partMemory))
        .emit(point);
  case Grid::Kind::Attention:
    return AttentionEmitter(e, *grid.attention, group).emit(point);
  case Grid::Kind::PartSum: {
    PartSums parts(e, *grid.product, partMemory);
    return emitPartSum(e, *nest.sweeps.front().product, *grid.product, parts, point);
  }
  case Grid::Kind::Copy:
    return emitScatterCopy(e, cast<ScatterOp>(op), point);
  case Grid::Kind::Update:
  case Grid::Kind::Link:
  case Grid::Kind::Chain:
    return emitScatter(cast<ScatterOp>(op), point);
  }
}

/// Emits the work of all threads or of one. If the sizes choose between these when the kernel runs,
/// `usesAll` is the choice, else null.
void GridEmitter::emitEither(Value usesAll, bool isForAll, llvm::function_ref<void()> work) {
  if (!usesAll)
    return work();
  if (!isForAll)
    usesAll = arith::XOrIOp::create(b, loc, usesAll,
                                    arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  emitIf(e, usesAll, work);
}

void GridEmitter::emitSort(SortOp op, ArrayRef<AffineExpr> point) {
  emitEither(areRanked(e, op), grid.kind != Grid::Kind::Line, [&] {
    if (grid.kind == Grid::Kind::Line)
      emitSortLine(e, op, point);
    else if (grid.kind == Grid::Kind::Rank)
      emitRank(e, op, point);
    else
      emitRest(e, op, point);
  });
}

void GridEmitter::emitScatter(ScatterOp op, ArrayRef<AffineExpr> point) {
  emitEither(areLinked(e, op), grid.kind != Grid::Kind::Update, [&] {
    if (grid.kind == Grid::Kind::Update)
      emitScatterUpdates(e, op, point);
    else if (grid.kind == Grid::Kind::Link)
      emitLink(e, op, point, partMemory);
    else
      emitChain(e, op, point, partMemory);
  });
}

/// Emits the points of a thread, all of them at once if they are there: their loads and stores are
/// adjacent then.
void GridEmitter::emitNeighbours(AffineExpr number) {
  unsigned loop = grid.loops.back();
  Value from = e.indexValue(number * grid.neighbours), extent = e.indexValue(nest.sizes[loop]);
  Value to = arith::AddIOp::create(b, loc, from, e.indexConstant(grid.neighbours));
  auto emitAll = [&] {
    AffineExpr first = e.addDim(from);
    for (int64_t i = 0; i < grid.neighbours; ++i) {
      loops[loop] = first + i;
      emitSweep(*grid.sweeps.front());
    }
  };
  if (constantOf(normalize(nest.sizes[loop] % grid.neighbours)) == 0)
    return emitAll();
  Value areThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, to, extent);
  auto branch = scf::IfOp::create(b, loc, areThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  {
    KernelEmitter::Scope scope(e);
    emitAll();
  }
  b.setInsertionPointToStart(branch.elseBlock());
  KernelEmitter::Scope scope(e);
  e.forLoop(from, extent, 1, {}, [&](LoopDim dim, Values) -> Values {
    loops[loop] = dim;
    emitSweep(*grid.sweeps.front());
    return {};
  });
}

void GridEmitter::emitSweep(const LoopSweep &sweep) {
  // At the end of parts no loop of the sweep is left.
  if (grid.kind != Grid::Kind::PartEnd)
    divided = grid.dividedLoop(sweep);
  if (sweep.kind == LoopSweep::Kind::Column)
    emitColumn(sweep);
  else
    emitPointwise(sweep);
}

//===--- loops ------------------------------------------------------------===//

/// Computes the indices of this thread's points along the divided loop, once for all sweeps, so
/// that they find each other's elements. Neighbours beyond the last ones are replaced by these:
/// their elements are read, but neither combined nor stored.
void GridEmitter::makePoints() {
  const LoopSweep *sweep =
      *llvm::find_if(grid.sweeps, [&](const LoopSweep *each) { return grid.dividedLoop(*each); });
  int64_t extent = *constantOf(normalize(nest.sizes[*grid.dividedLoop(*sweep)]));
  int64_t width = grid.neighbours, step = group.size() * width;
  Value first = arith::MulIOp::create(b, loc, group.lane(), e.indexConstant(width));
  for (int64_t begin = 0; begin < extent; begin += step) {
    Value isInside, index = arith::AddIOp::create(b, loc, first, e.indexConstant(begin));
    if (begin + step > extent) {
      Value end = e.indexConstant(extent), last = e.indexConstant(extent - width);
      isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, end);
      index = arith::MinSIOp::create(b, loc, index, last);
    }
    AffineExpr dim = e.addDim(index);
    for (int64_t i = 0; i < width; ++i)
      points.push_back({dim + i, isInside});
  }
}

/// Emits the body of the divided loop for each point, without a scope of its own, then the stores
/// that it has postponed.
GridEmitter::Values GridEmitter::emitPoints(unsigned number, Values carried, Body body) {
  for (const HeldPoint &held : points) {
    loops[number] = held.index;
    point = &held;
    Values next = body(carried);
    for (auto [old, value] : llvm::zip_equal(carried, next))
      if (held.isInside)
        value = arith::SelectOp::create(b, loc, held.isInside, value, old);
    carried = next;
  }
  point = nullptr;
  if (!postponed.empty())
    wait();
  for (auto [stage, held] : postponed) {
    loops[number] = held->index;
    storeIf(held->isInside, *stage);
  }
  postponed.clear();
  return carried;
}

/// The first point of a loop and the end, those of the part if it is the loop that is cut.
std::pair<Value, Value> GridEmitter::boundsOf(unsigned number) {
  Value end = e.indexValue(nest.sizes[number]);
  if (!part || number != grid.parts->loop)
    return {e.indexConstant(0), end};
  Value from = e.indexValue(normalize(part * grid.parts->extent));
  Value next = arith::AddIOp::create(b, loc, from, e.indexConstant(grid.parts->extent));
  return {from, arith::MinSIOp::create(b, loc, next, end)};
}

/// Loops that are open already are points of the group. A thread runs its share of the divided
/// loop.
GridEmitter::Values GridEmitter::emitLoops(ArrayRef<unsigned> numbers, Values carried, Body body) {
  while (!numbers.empty() && llvm::is_contained(grid.loops, numbers.front()))
    numbers = numbers.drop_front();
  if (numbers.empty())
    return body(carried);
  unsigned number = numbers.front();
  bool isShared = number == divided;
  if (isShared && grid.heldPoints > 0)
    return emitPoints(number, carried,
                      [&](Values inner) { return emitLoops(numbers.drop_front(), inner, body); });
  auto [from, to] = boundsOf(number);
  if (isShared)
    from = b.createOrFold<arith::AddIOp>(loc, group.lane(), from);
  return e.forLoop(from, to, isShared ? group.size() : 1, carried, [&](LoopDim dim, Values inner) {
    loops[number] = dim;
    return emitLoops(numbers.drop_front(), inner, body);
  });
}

Value GridEmitter::neutral(Operation *combiner) {
  return arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
}

/// Like `emitLoops`, but sums restart for each block of points and the sums of blocks are added up,
/// so that the error grows with the number of blocks rather than with the number of points.
GridEmitter::Values GridEmitter::emitSums(ArrayRef<unsigned> numbers,
                                          ArrayRef<Operation *> combiners, Values carried,
                                          Body body) {
  static constexpr int64_t kBlock = 64;
  bool isHeld = grid.heldPoints > 0 && divided && llvm::is_contained(numbers, *divided);
  if (numbers.empty() || combiners.empty() || isHeld)
    return emitLoops(numbers, carried, body);
  unsigned number = numbers.front();
  int64_t step = number == divided ? group.size() : 1;
  auto [first, end] = boundsOf(number);
  Value upper = end;
  return e.forLoop(first, upper, kBlock * step, carried, [&](LoopDim block, Values totals) {
    Values sums;
    for (Operation *combiner : combiners)
      sums.push_back(neutral(combiner));
    Value from = e.indexValue(block);
    Value to = arith::AddIOp::create(b, loc, from, e.indexConstant(kBlock * step));
    to = arith::MinSIOp::create(b, loc, to, upper);
    if (step > 1)
      from = arith::AddIOp::create(b, loc, from, group.lane());
    sums = e.forLoop(from, to, step, sums, [&](LoopDim dim, Values inner) {
      loops[number] = dim;
      return emitSums(numbers.drop_front(), combiners, inner, body);
    });
    for (auto [combiner, total, sum] : llvm::zip_equal(combiners, totals, sums))
      total = combine(b, loc, combiner, total, sum);
    return totals;
  });
}

/// Emits the inner loops of a sweep from accumulators on; all threads of the group return the same.
GridEmitter::Values GridEmitter::emitReductions(const LoopSweep &sweep, Values carried, Body body) {
  ArrayRef<unsigned> inside = sweep.inside();
  SmallVector<Operation *> sums = sumsOf(sweep);
  carried = sums.empty() ? emitLoops(inside, carried, body) : emitSums(inside, sums, carried, body);
  if (!divided || !llvm::is_contained(inside, *divided))
    return carried;
  unsigned next = 0;
  for (const LoopStage *stage : sweep.stages)
    for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i, ++next)
      carried[next] = group.combine(combinerOf(stage->generic(), i), carried[next]);
  return carried;
}

//===--- stores -----------------------------------------------------------===//

/// Lets each thread of the group wait for all others, and remembers where.
void GridEmitter::wait() {
  group.wait();
  if (group.size() > 1)
    lastWait = &*std::prev(b.getInsertionPoint());
}

/// Returns true if a stage writes where threads of the group have read since they last waited: its
/// result is written over an argument.
bool GridEmitter::overwritesReads(const LoopStage &stage) {
  auto isSinceWait = [&](Operation *read) {
    Operation *ancestor = lastWait ? lastWait->getBlock()->findAncestorOpInBlock(*read) : nullptr;
    return !ancestor || lastWait->isBeforeInBlock(ancestor);
  };
  auto reads = [&](Operation *op) { return isa<LLVM::LoadOp>(op) && isSinceWait(op); };
  return llvm::any_of(stage.op->getResults(), [&](Value result) {
    const Buffer *memory = e.buffer(result);
    return memory && llvm::any_of(memory->pointer.getUsers(), [&](Operation *address) {
             return llvm::any_of(address->getUsers(), reads);
           });
  });
}

/// Returns true if each thread stores elements of its own inside of the loops `open`. If none of
/// these is divided, the first thread stores what all threads have computed.
bool GridEmitter::isOwn(ArrayRef<unsigned> open) {
  return !group.isFirst() || (divided && llvm::is_contained(open, *divided));
}

/// Returns the stages of a sweep that only the first thread computes inside of the loops `open`.
/// The others do not need them, and would have to read what some of them overwrite before it does.
llvm::SmallDenseSet<Operation *> GridEmitter::leftToFirst(const LoopSweep &sweep,
                                                          ArrayRef<unsigned> open) {
  llvm::SmallDenseSet<Operation *> left;
  if (isOwn(open))
    return left;
  tfc::kernel::FuncOp kernel = e.shapes().kernel();
  Operation *terminator = kernel.getBody().front().getTerminator();
  bool overwrites = false;
  for (const LoopStage *stage : llvm::reverse(sweep.stages)) {
    auto isNeededByFirst = [&](Operation *user) {
      return user == terminator || left.contains(user);
    };
    if (!stage->isParallel() || !llvm::all_of(stage->op->getUsers(), isNeededByFirst))
      continue;
    left.insert(stage->op);
    for (OpOperand &use : stage->op->getUses())
      overwrites |= use.getOwner() == terminator && kernel.getInPlace(use.getOperandNumber());
  }
  if (!overwrites)
    left.clear();
  return left;
}

/// Stores elements of a stage inside of the loops `open`. A thread may overwrite what others read:
/// if it is the first one, all of them may have read the operands, and at the last of held points
/// also those without a point of their own have. They wait for each other then.
void GridEmitter::store(const LoopStage &stage, ArrayRef<unsigned> open) {
  Value condition = !isOwn(open) ? group.isFirst() : point ? point->isInside : Value();
  if (!condition)
    return storeStage(stage);
  if (overwritesReads(stage)) {
    if (isOwn(open))
      return postponed.push_back({&stage, point});
    wait();
  }
  storeIf(condition, stage);
}

void GridEmitter::storeIf(Value condition, const LoopStage &stage) {
  if (llvm::any_of(stage.op->getResults(), [&](Value value) { return e.buffer(value); }))
    emitIf(e, condition, [&] { storeStage(stage); });
}

/// Stores elements of a sweep's stages inside of the loops `open`, with reductions if
/// `withReductions`. Those that are left to the first thread are computed here, before others are
/// written over what they read.
void GridEmitter::storeAll(const LoopSweep &sweep, ArrayRef<unsigned> open, bool withReductions) {
  llvm::SmallDenseSet<Operation *> left = leftToFirst(sweep, open);
  auto forEachLeft = [&](llvm::function_ref<void(const LoopStage &)> visit) {
    for (const LoopStage *stage : sweep.stages)
      if (left.contains(stage->op))
        visit(*stage);
  };
  if (!left.empty()) {
    bool waits = false;
    forEachLeft([&](const LoopStage &stage) { waits |= overwritesReads(stage); });
    if (waits)
      wait();
    auto branch = scf::IfOp::create(b, loc, group.isFirst(), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::GuardedScope scope(e);
    forEachLeft([&](const LoopStage &stage) { evaluateParallel(stage); });
    forEachLeft([&](const LoopStage &stage) { storeStage(stage); });
  }
  for (const LoopStage *stage : sweep.stages)
    if (!left.contains(stage->op) && (withReductions || stage->isParallel()))
      store(*stage, open);
}

//===--- parts ------------------------------------------------------------===//

/// Accumulators of any type take as much.
static constexpr int64_t kAccumulatorBytes = 8;

AffineExpr GridEmitter::partBytes(const Grid &end) {
  int64_t accumulators = 0;
  for (const LoopStage *stage : end.sweeps.front()->stages)
    accumulators += stage->isParallel() ? 0 : stage->op->getNumResults();
  return end.points() * end.parts->count * accumulators * kAccumulatorBytes;
}

/// The address of an accumulator of a part at the current point.
Value GridEmitter::partAt(AffineExpr number, size_t accumulator) {
  AffineExpr position = grid.parts->count * int64_t(accumulator) + number;
  for (unsigned loop : grid.loops)
    position = position * nest.sizes[loop] + loops[loop];
  return elementAt(b, loc, partMemory, b.getI64Type(), e.indexValue(normalize(position)));
}

/// Stores what the group has accumulated, for the launch that combines the parts.
void GridEmitter::storePart(const Values &accumulators) {
  emitIf(e, group.isFirst(), [&] {
    for (auto [i, value] : llvm::enumerate(accumulators))
      storeNumber(b, loc, value, partAt(part, i));
  });
}

/// Combines the parts of each accumulator, in the same order in all threads of the group.
GridEmitter::Values GridEmitter::combineParts(const LoopSweep &sweep) {
  SmallVector<Operation *> combiners;
  Values totals;
  for (const LoopStage *stage : sweep.stages)
    for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i) {
      combiners.push_back(combinerOf(stage->generic(), i));
      totals.push_back(neutral(combiners.back()));
    }
  Value from = group.size() > 1 ? group.lane() : e.indexConstant(0);
  totals = e.forLoop(from, e.indexValue(grid.parts->count), group.size(), totals,
                     [&](LoopDim number, Values carried) {
                       for (auto [i, combiner] : llvm::enumerate(combiners)) {
                         Value value = loadNumber(b, loc, carried[i].getType(), partAt(number, i));
                         carried[i] = combine(b, loc, combiner, carried[i], value);
                       }
                       return carried;
                     });
  for (auto [total, combiner] : llvm::zip_equal(totals, combiners))
    total = group.combine(combiner, total);
  return totals;
}

//===--- sweeps -----------------------------------------------------------===//

/// Parallel stages are stored and reductions accumulate at each point.
void GridEmitter::emitPointwise(const LoopSweep &sweep) {
  ArrayRef<unsigned> around = sweep.around();
  emitLoops(around, {}, [&](Values) -> Values {
    Values accumulators;
    for (const LoopStage *stage : sweep.stages)
      for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i)
        accumulators.push_back(neutral(combinerOf(stage->generic(), i)));
    if (grid.kind == Grid::Kind::PartEnd)
      accumulators = combineParts(sweep);
    else
      accumulators = emitReductions(sweep, accumulators,
                                    [&](Values carried) { return emitPoint(sweep, carried); });
    if (part) {
      storePart(accumulators);
      return {};
    }
    ArrayRef<Value> rest(accumulators);
    for (const LoopStage *stage : sweep.stages) {
      if (stage->isParallel())
        continue;
      linalg::GenericOp op = stage->generic();
      for (OpResult result : op->getResults()) {
        unsigned number = result.getResultNumber();
        SmallVector<AffineExpr> indices = resultAt(*stage, number);
        Value init = e.element(op.getDpsInits()[number], indices);
        e.bind(result, indices, combine(b, loc, combinerOf(op, number), init, rest.front()));
        rest = rest.drop_front();
      }
      store(*stage, around);
    }
    return {};
  });
}

/// Adds a point to the accumulators of the reductions, and evaluates the parallel stages between
/// them if `withParallel`.
GridEmitter::Values GridEmitter::accumulate(const LoopSweep &sweep, Values carried,
                                            bool withParallel) {
  llvm::SmallDenseSet<Operation *> left = leftToFirst(sweep, sweep.loops);
  unsigned next = 0;
  for (const LoopStage *stage : sweep.stages) {
    if (stage->isParallel()) {
      if (withParallel && !left.contains(stage->op))
        evaluateParallel(*stage);
      continue;
    }
    unsigned count = stage->op->getNumResults();
    Values values = e.body(stage->generic(), loopsAt(*stage),
                           llvm::to_vector(ArrayRef(carried).slice(next, count)));
    llvm::copy(values, carried.begin() + next);
    next += count;
  }
  return carried;
}

/// Emits the stages at a point and returns the new accumulators.
GridEmitter::Values GridEmitter::emitPoint(const LoopSweep &sweep, Values carried) {
  carried = accumulate(sweep, carried, /*withParallel=*/true);
  storeAll(sweep, sweep.loops, /*withReductions=*/false);
  return carried;
}

/// Reductions from their initial values on, then the parallel stages that read their results.
void GridEmitter::emitColumn(const LoopSweep &sweep) {
  ArrayRef<unsigned> around = sweep.around();
  emitLoops(around, {}, [&](Values) -> Values {
    Values accumulators;
    // If threads or blocks have parts, the initial value is added to all of them.
    bool isEnd = grid.kind == Grid::Kind::PartEnd, hasParts = divided || isEnd;
    auto initial = [&](const LoopStage &stage, unsigned number) {
      return e.element(stage.generic().getDpsInits()[number], resultAt(stage, number));
    };
    for (const LoopStage *stage : sweep.stages)
      for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i)
        accumulators.push_back(hasParts ? neutral(combinerOf(stage->generic(), i))
                                        : initial(*stage, i));
    if (isEnd)
      accumulators = combineParts(sweep);
    else
      accumulators = emitReductions(sweep, accumulators, [&](Values carried) {
        return accumulate(sweep, carried, /*withParallel=*/false);
      });
    if (part) {
      storePart(accumulators);
      return {};
    }
    llvm::SmallDenseSet<Operation *> left = leftToFirst(sweep, around);
    unsigned next = 0;
    for (const LoopStage *stage : sweep.stages) {
      if (stage->isParallel()) {
        if (!left.contains(stage->op))
          evaluateParallel(*stage);
        continue;
      }
      for (OpResult result : stage->op->getResults()) {
        unsigned number = result.getResultNumber();
        Value value = accumulators[next++];
        if (hasParts)
          value =
              combine(b, loc, combinerOf(stage->generic(), number), initial(*stage, number), value);
        e.bind(result, resultAt(*stage, number), value);
      }
    }
    storeAll(sweep, around, /*withReductions=*/true);
    return {};
  });
}
