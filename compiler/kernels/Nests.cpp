// Holds the part of the schedule that decides which stages share loops, and along which loops lanes
// run. Schedule.cpp decides which values are materialized, and where.

#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tfc::kernels;

static AffineExpr loopDim(const LoopStage &stage, unsigned loop) {
  return getAffineDimExpr(loop, stage.op->getContext());
}

/// Returns the parallel loop of `stage` that is exactly `expr`, if there is one.
static std::optional<unsigned> parallelLoop(const LoopStage &stage, AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (dim && llvm::is_contained(stage.parallelLoops, dim.getPosition()))
    return dim.getPosition();
  return std::nullopt;
}

/// Returns the loop among `loops` with the best score for lanes, if any is suitable.
static std::optional<unsigned> bestLaneLoop(KernelShapes &shapes, const LoopStage &stage,
                                            ArrayRef<unsigned> loops) {
  bool combines = llvm::all_of(stage.generic()->getResults(), [&](OpResult result) {
    return combinerOf(stage.generic(), result.getResultNumber());
  });
  std::optional<unsigned> best;
  int64_t bestScore = std::numeric_limits<int64_t>::min();
  for (unsigned loop : loops) {
    bool reduction = llvm::is_contained(stage.reductionLoops, loop);
    auto size = dyn_cast<AffineConstantExpr>(stage.sizes[loop]);
    if ((reduction && !combines) || (size && size.getValue() == 1))
      continue;
    int64_t score = laneScore(shapes, stage, loop);
    if (score >= bestScore) {
      best = loop;
      bestScore = score;
    }
  }
  return best;
}

//===--- which stages share outer loops -----------------------------------===//

/// Returns the number of the last nest that produces an operand of `stage`, if any.
static std::optional<unsigned> lastProducer(const LoopStage &stage,
                                            function_ref<std::optional<unsigned>(Value)> nestOf) {
  std::optional<unsigned> last;
  for (const Access &read : stage.footprint.reads)
    if (std::optional<unsigned> nest = nestOf(read.tensor))
      last = std::max(last.value_or(0), *nest);
  return last;
}

std::optional<unsigned> Schedule::nestOf(Value value) const {
  const LoopStage *stage = stageOf.lookup(value.getDefiningOp());
  for (auto [i, nest] : llvm::enumerate(allNests))
    if (stage && llvm::is_contained(nest.stages, stage))
      return i;
  return std::nullopt;
}

/// Returns true if the target emits the operation as a sum of products.
bool Schedule::hasEmitter(linalg::GenericOp op) const {
  if (!options.emitsProducts)
    return false;
  std::optional<ContractionForm> form = matchContraction(op, shapes);
  return form && (!options.takesProduct || options.takesProduct(op, *form));
}

void Schedule::placeStage(LoopStage &stage) {
  if (linalg::GenericOp op = stage.generic()) {
    SmallVector<unsigned> loops(stage.parallelLoops);
    loops.append(stage.reductionLoops);
    stage.laneLoop = bestLaneLoop(shapes, stage, loops);
    stage.loops.resize(stage.sizes.size());
    stage.isProduct = !stage.isParallel() && hasEmitter(op);
    std::optional<unsigned> producer =
        lastProducer(stage, [&](Value value) { return nestOf(value); });
    for (unsigned i = allNests.size(); i > producer.value_or(0); --i)
      if (join(allNests[i - 1], stage)) {
        allNests[i - 1].stages.push_back(&stage);
        return;
      }
    if (producer && join(allNests[*producer], stage)) {
      allNests[*producer].stages.push_back(&stage);
      return;
    }
  }
  Nest nest;
  nest.stages.push_back(&stage);
  for (unsigned loop : stage.parallelLoops) {
    nest.outer.push_back(nest.sizes.size());
    stage.loops[loop] = loopDim(stage, nest.sizes.size());
    nest.sizes.push_back(stage.sizes[loop]);
  }
  allNests.push_back(std::move(nest));
}

/// Adds an independent stage with the same loops to the nest if it reads some of the same data.
bool Schedule::joinSibling(Nest &nest, LoopStage &stage) {
  const LoopStage &first = *nest.stages.front();
  if (!first.generic() || first.isProduct || first.parallelLoops.size() != nest.outer.size() ||
      stage.parallelLoops.size() != nest.outer.size() ||
      stage.reductionLoops.empty() != first.reductionLoops.empty())
    return false;
  for (auto [outer, loop] : llvm::zip(nest.outer, stage.parallelLoops))
    if (nest.sizes[outer] != stage.sizes[loop])
      return false;
  auto sizes = [](const LoopStage &s) {
    return llvm::map_to_vector(s.reductionLoops, [&](unsigned loop) { return s.sizes[loop]; });
  };
  if (sizes(stage) != sizes(first) || stage.isRowReduction() != first.isRowReduction())
    return false;
  DenseSet<Value> tensors;
  for (LoopStage *member : nest.stages)
    member->footprint.addTensors(tensors);
  bool shares = false;
  for (const Access &read : stage.footprint.reads)
    shares |= !tensors.insert(read.tensor).second;
  if (!shares || tensors.size() + nest.stages.size() > kMaxStreams)
    return false;
  for (auto [outer, loop] : llvm::zip(nest.outer, stage.parallelLoops))
    stage.loops[loop] = loopDim(stage, outer);
  return true;
}

/// Adds a stage to the nest if it reads the nest's values at the indices of the outer loops. Outer
/// loops for which this does not hold become inner loops of the nest's stages.
bool Schedule::join(Nest &nest, LoopStage &stage) {
  if (!nest.stages.front()->generic())
    return false;
  SmallVector<std::optional<unsigned>> wanted(nest.outer.size());
  unsigned common = nest.outer.size();
  bool depends = false;
  for (const Access &read : stage.footprint.reads) {
    const LoopStage *producer = stageOf.lookup(read.tensor.getDefiningOp());
    if (!producer || !llvm::is_contained(nest.stages, producer))
      continue;
    depends = true;
    AffineMap map = producer->generic().getIndexingMapMatchingResult(cast<OpResult>(read.tensor));
    for (auto [expr, index] : llvm::zip(map.getResults(), read.indices)) {
      // Loops that the nest does not share have no position yet.
      AffineExpr written = producer->loops[cast<AffineDimExpr>(expr).getPosition()];
      const unsigned *place = llvm::find_if(
          nest.outer, [&](unsigned outer) { return written == loopDim(stage, outer); });
      if (!written || place == nest.outer.end())
        continue;
      unsigned number = place - nest.outer.begin();
      std::optional<unsigned> loop = parallelLoop(stage, index);
      if (!loop || (wanted[number] && wanted[number] != loop) ||
          stage.sizes[*loop] != nest.sizes[*place])
        common = std::min(common, number);
      else
        wanted[number] = loop;
    }
  }
  if (!depends)
    return joinSibling(nest, stage);
  for (unsigned i = 0; i < common; ++i)
    if (!wanted[i])
      common = i;
  bool product = nest.stages.front()->isProduct;
  if (product && (common < nest.outer.size() || !stage.isParallel()))
    return false;
  if (common == 0 && !(nest.outer.empty() && stage.sizes.empty()))
    return false;
  for (LoopStage *member : nest.stages)
    for (unsigned loop : member->parallelLoops)
      for (unsigned i = common; i < nest.outer.size(); ++i)
        if (member->loops[loop] == loopDim(stage, nest.outer[i]))
          member->loops[loop] = AffineExpr();
  nest.outer.truncate(common);
  nest.sizes.truncate(common);
  for (unsigned i = 0; i < common; ++i)
    stage.loops[*wanted[i]] = loopDim(stage, i);
  return true;
}

//===--- sweeps -----------------------------------------------------------===//

/// Returns the loops of a stage that the nest's outer loops do not fix: parallel loops, then
/// reduction loops.
static SmallVector<unsigned> innerLoops(const LoopStage &stage) {
  SmallVector<unsigned> inner;
  for (unsigned loop : stage.parallelLoops)
    if (!stage.loops[loop])
      inner.push_back(loop);
  inner.append(stage.reductionLoops);
  return inner;
}

static unsigned numInnerParallel(const LoopStage &stage, ArrayRef<unsigned> inner) {
  return inner.size() - stage.reductionLoops.size();
}

/// Returns true if a reduction keeps one accumulator per lane, that is, the lanes are different
/// elements of the result.
static bool isColumnReduction(KernelShapes &shapes, const LoopStage &stage) {
  if (stage.reductionLoops.empty())
    return false;
  std::optional<unsigned> loop = bestLaneLoop(shapes, stage, innerLoops(stage));
  return !loop || !llvm::is_contained(stage.reductionLoops, *loop);
}

void Schedule::addSweep(Nest &nest, LoopStage &stage, ArrayRef<unsigned> inner) {
  LoopSweep sweep;
  sweep.stages.push_back(&stage);
  sweep.kind = !stage.generic()                   ? LoopSweep::Kind::Special
               : isColumnReduction(shapes, stage) ? LoopSweep::Kind::Column
                                                  : LoopSweep::Kind::Pointwise;
  sweep.numParallel = stage.isParallel() ? 0 : numInnerParallel(stage, inner);
  for (unsigned loop : inner) {
    sweep.loops.push_back(nest.sizes.size());
    stage.loops[loop] = loopDim(stage, nest.sizes.size());
    nest.sizes.push_back(stage.sizes[loop]);
  }
  nest.sweeps.push_back(std::move(sweep));
}

bool Schedule::joinSweep(Nest &nest, LoopSweep &sweep, LoopStage &stage, ArrayRef<unsigned> inner) {
  bool column = sweep.kind == LoopSweep::Kind::Column;
  unsigned used = column && stage.isParallel() ? sweep.numParallel : sweep.loops.size();
  if (sweep.kind == LoopSweep::Kind::Special || !stage.generic() || inner.size() != used)
    return false;
  if (!stage.isParallel() && column != isColumnReduction(shapes, stage))
    return false;
  bool reduces = llvm::any_of(sweep.stages, [](LoopStage *s) { return !s->isParallel(); });
  unsigned parallel = stage.isParallel() ? sweep.numParallel : numInnerParallel(stage, inner);
  if (reduces && parallel != sweep.numParallel)
    return false;
  for (auto [outer, loop] : llvm::zip(sweep.loops, inner))
    if (nest.sizes[outer] != stage.sizes[loop])
      return false;
  for (auto [outer, loop] : llvm::zip(sweep.loops, inner))
    stage.loops[loop] = loopDim(stage, outer);
  bool depends = false, fits = true;
  for (const Access &read : stage.footprint.reads) {
    LoopStage *producer = stageOf.lookup(read.tensor.getDefiningOp());
    if (!producer || !llvm::is_contained(sweep.stages, producer))
      continue;
    depends = true;
    fits &= producer->isParallel() || (column && stage.isParallel());
    fits &= readIndices(stage, read) ==
            resultIndices(*producer, cast<OpResult>(read.tensor).getResultNumber());
  }
  fits &= depends || !column || !stage.isParallel();
  // The reductions of a column run before its parallel stages.
  fits &= !(depends && column && !stage.isParallel());
  if (!fits) {
    for (unsigned loop : inner)
      stage.loops[loop] = AffineExpr();
    return false;
  }
  if (!stage.isParallel())
    sweep.numParallel = parallel;
  sweep.stages.push_back(&stage);
  return true;
}

/// Turns a reduction followed by parallel stages on its result into a contraction for the emitter
/// of matrix products.
void Schedule::formProduct(LoopSweep &sweep) {
  const LoopStage &root = *sweep.stages.front();
  ContractionNest product;
  product.op = root.generic();
  SmallVector<AffineExpr> indices = resultIndices(root, 0);
  for (LoopStage *stage : llvm::drop_begin(sweep.stages)) {
    if (!stage->isParallel())
      return;
    SmallVector<unsigned> loops;
    for (AffineExpr loop : stage->loops)
      loops.push_back(llvm::find(indices, loop) - indices.begin());
    product.epilogues.push_back(stage->generic());
    product.epilogueLoops.push_back(loops);
  }
  Operation *terminator = shapes.kernel().getBody().front().getTerminator();
  product.storesProduct = llvm::is_contained(product.op->getUsers(), terminator);
  sweep.kind = LoopSweep::Kind::Contraction;
  sweep.product = product;
}

/// If all stages share all parallel loops, these become the loops of a single sweep.
bool Schedule::formFullSweep(Nest &nest) {
  for (LoopStage *stage : nest.stages)
    if (!stage->generic() || stage->parallelLoops.size() != nest.outer.size() ||
        (stage->isRowReduction() && !nest.stages.front()->isProduct))
      return false;
  SmallVector<SmallVector<AffineExpr>> saved;
  for (LoopStage *stage : nest.stages)
    saved.push_back(stage->loops);
  Nest full;
  full.stages = nest.stages;
  for (LoopStage *stage : full.stages) {
    SmallVector<unsigned> inner(stage->parallelLoops.size());
    for (unsigned loop : stage->parallelLoops)
      inner[cast<AffineDimExpr>(stage->loops[loop]).getPosition()] = loop;
    inner.append(stage->reductionLoops);
    stage->loops.assign(stage->loops.size(), AffineExpr());
    if (full.sweeps.empty()) {
      addSweep(full, *stage, inner);
      if (stage->isProduct)
        full.sweeps.front().kind = LoopSweep::Kind::Column;
    } else if (!joinSweep(full, full.sweeps.front(), *stage, inner)) {
      for (auto [member, loops] : llvm::zip(nest.stages, saved))
        member->loops = loops;
      return false;
    }
  }
  if (full.stages.front()->isProduct)
    formProduct(full.sweeps.front());
  nest = std::move(full);
  return true;
}

void Schedule::formSweeps(Nest &nest) {
  if (formFullSweep(nest))
    return;
  auto isFull = [&](LoopStage *stage) {
    return stage->generic() && stage->parallelLoops.size() == nest.outer.size();
  };
  bool columns = llvm::any_of(nest.stages, [&](LoopStage *stage) {
    return stage->generic() && !stage->isParallel() && !stage->isRowReduction();
  });
  if (columns && !nest.outer.empty() && llvm::all_of(nest.stages, isFull)) {
    AffineExpr last = loopDim(*nest.stages.front(), nest.outer.size() - 1);
    for (LoopStage *stage : nest.stages)
      llvm::replace(stage->loops, last, AffineExpr());
    nest.outer.pop_back();
    nest.sizes.pop_back();
  }
  for (LoopStage *stage : nest.stages) {
    SmallVector<unsigned> inner = innerLoops(*stage);
    if (nest.sweeps.empty() || !joinSweep(nest, nest.sweeps.back(), *stage, inner))
      addSweep(nest, *stage, inner);
  }
}

//===--- loops ------------------------------------------------------------===//

/// Chooses the loop of the lanes of all stages of a sweep by their accesses in the nest's loops.
void Schedule::chooseLaneLoop(Nest &nest, LoopSweep &sweep) {
  if (sweep.kind != LoopSweep::Kind::Pointwise && sweep.kind != LoopSweep::Kind::Column)
    return;
  ArrayRef<unsigned> candidates =
      sweep.kind == LoopSweep::Kind::Column ? sweep.around() : sweep.inside();
  int64_t bestScore = std::numeric_limits<int64_t>::min();
  for (unsigned candidate : candidates) {
    auto dim = loopDim(*sweep.stages.front(), candidate);
    int64_t score = 0;
    for (LoopStage *stage : sweep.stages)
      for (unsigned loop = 0; loop < stage->loops.size(); ++loop)
        if (stage->loops[loop] == dim)
          score += laneScore(shapes, *stage, loop);
    if (score >= bestScore) {
      sweep.laneLoop = candidate;
      bestScore = score;
    }
  }
}

/// Replaces loop `loop` by zero in a nest and removes it from all lists of loops.
static void removeLoop(Nest &nest, unsigned loop) {
  llvm::erase(nest.outer, loop);
  for (LoopSweep &sweep : nest.sweeps) {
    auto *place = llvm::find(sweep.loops, loop);
    if (place == sweep.loops.end())
      continue;
    sweep.numParallel -= place - sweep.loops.begin() < sweep.numParallel;
    sweep.loops.erase(place);
  }
  for (LoopStage *stage : nest.stages) {
    if (!stage->generic())
      continue;
    MLIRContext *context = stage->op->getContext();
    AffineExpr dim = getAffineDimExpr(loop, context), zero = getAffineConstantExpr(0, context);
    for (AffineExpr &expr : stage->loops)
      expr = normalize(expr.replace(dim, zero));
  }
}

void Schedule::dropUnitLoops(Nest &nest) {
  for (unsigned loop = 0; loop < nest.sizes.size(); ++loop)
    if (auto size = dyn_cast<AffineConstantExpr>(nest.sizes[loop]); size && size.getValue() == 1)
      removeLoop(nest, loop);
}

/// Returns true if `outer` and `inner` can be merged into one loop: for each access, one step of
/// `outer` advances the address as much as `size(inner)` steps of `inner`, and no body uses the
/// index of either loop.
bool Schedule::collapsible(ArrayRef<LoopStage *> users, const Nest &nest, unsigned outer,
                           unsigned inner) {
  AffineExpr size = nest.sizes[inner];
  for (LoopStage *stage : users) {
    if (!stage->generic())
      return false;
    auto a = cast<AffineDimExpr>(loopDim(*stage, outer));
    auto c = cast<AffineDimExpr>(loopDim(*stage, inner));
    auto moves = [&](AffineExpr offset) {
      AffineExpr outerStride, innerStride, rest;
      Polynomial polynomial(offset);
      return polynomial.split(a, outerStride, rest) && polynomial.split(c, innerStride, rest) &&
             outerStride == normalize(innerStride * size);
    };
    for (const Access &read : stage->footprint.reads)
      if (!moves(denseOffset(shapes, read.tensor, readIndices(*stage, read))))
        return false;
    for (AffineExpr use : stage->footprint.indexUses)
      if (AffineExpr expr = use.replaceDims(stage->loops); usesDim(expr, a) || usesDim(expr, c))
        return false;
    for (OpResult result : stage->op->getResults())
      if (!moves(denseOffset(shapes, result, resultIndices(*stage, result.getResultNumber()))))
        return false;
  }
  return true;
}

void Schedule::collapseLoops(Nest &nest) {
  auto collapse = [&](ArrayRef<LoopStage *> users, SmallVector<unsigned> loops) {
    for (unsigned i = loops.size(); i > 1; --i) {
      unsigned outer = loops[i - 2], inner = loops[i - 1];
      if (!collapsible(users, nest, outer, inner))
        continue;
      nest.sizes[inner] = normalize(nest.sizes[outer] * nest.sizes[inner]);
      removeLoop(nest, outer);
      loops[i - 2] = inner;
    }
  };
  for (LoopSweep &sweep : nest.sweeps) {
    if (sweep.kind == LoopSweep::Kind::Contraction)
      continue;
    SmallVector<unsigned> front(sweep.around()), back(sweep.inside());
    collapse(sweep.stages, front);
    collapse(sweep.stages, back);
  }
  collapse(nest.stages, nest.outer);
}
