// The part of the schedule that decides which values are materialized, and where. Loops are formed
// in Nests.cpp.

#include "compiler/kernels/Schedule.h"
#include "compiler/kernels/Polynomial.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

/// A producer of at least this cost is materialized rather than recomputed by each of its readers.
static constexpr int64_t kExpensive = 8;
/// The same for readers that are reductions, which repeat the work in each step.
static constexpr int64_t kExpensiveInReduction = 3;

AffineExpr tfc::kernels::denseOffset(KernelShapes &shapes, Value tensor,
                                     ArrayRef<AffineExpr> indices) {
  ArrayRef<AffineExpr> shape = shapes.shapeOf(tensor);
  AffineExpr offset = getAffineConstantExpr(0, tensor.getContext());
  for (auto [index, size] : llvm::zip(indices, shape))
    offset = offset * size + index;
  return normalize(offset);
}

/// Score of an access whose offset advances by `stride` per lane.
static int64_t strideScore(AffineExpr offset, AffineDimExpr dim, int64_t contiguous,
                           int64_t strided) {
  AffineExpr stride, rest;
  if (!Polynomial(offset).split(dim, stride, rest))
    return strided;
  auto constant = dyn_cast<AffineConstantExpr>(stride);
  if (!constant)
    return strided;
  int64_t step = constant.getValue();
  return step == 1 ? contiguous : step == 0 ? 0 : step == -1 ? contiguous - 1 : strided;
}

int64_t tfc::kernels::laneScore(KernelShapes &shapes, const LoopStage &stage, unsigned loop) {
  auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, stage.op->getContext()));
  int64_t score = 0;
  for (const Access &read : stage.footprint.reads)
    score += strideScore(denseOffset(shapes, read.tensor, read.indices), dim, 4, -8);
  if (llvm::is_contained(stage.reductionLoops, loop))
    return score - 2;
  linalg::GenericOp op = stage.generic();
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    score += strideScore(denseOffset(shapes, result, map.getResults()), dim, 6, -6);
  }
  return score;
}

SmallVector<AffineExpr> Schedule::resultIndices(const LoopStage &stage, unsigned number) {
  linalg::GenericOp op = stage.generic();
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : op.getIndexingMapMatchingResult(op->getResult(number)).getResults())
    indices.push_back(normalize(expr.replaceDims(stage.loops)));
  return indices;
}

SmallVector<AffineExpr> Schedule::readIndices(const LoopStage &stage, const Access &access) {
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : access.indices)
    indices.push_back(normalize(expr.replaceDims(stage.loops)));
  return indices;
}

//===--- materialized values ----------------------------------------------===//

/// Returns true if a generic can be computed at any element of its results: the element determines
/// all loop indices.
static bool isComputableInPlace(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && llvm::all_of(op->getResults(), [&](OpResult result) {
           AffineMap map = op.getIndexingMapMatchingResult(result);
           return map.isPermutation();
         });
}

/// Returns true if a stage that reads `indices` computes the same element repeatedly: the indices
/// are invariant in a loop that surrounds a loop on which they depend.
static bool repeats(const LoopStage &stage, ArrayRef<AffineExpr> indices) {
  SmallVector<unsigned> order(stage.parallelLoops);
  order.append(stage.reductionLoops);
  bool unused = false, repeated = false;
  for (unsigned loop : order) {
    auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, stage.op->getContext()));
    bool used = llvm::any_of(indices, [&](AffineExpr e) { return usesDim(e, dim); });
    auto size = dyn_cast<AffineConstantExpr>(stage.sizes[loop]);
    if (used)
      repeated |= unused;
    else if (!size || size.getValue() != 1)
      unused = true;
  }
  return repeated;
}

void Schedule::addStage(Operation *op) {
  auto stage = std::make_unique<LoopStage>();
  stage->op = op;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    stage->sizes = shapes.loopSizes(generic);
    AffineMap map = generic.getIndexingMapMatchingResult(generic->getResult(0));
    for (AffineExpr expr : map.getResults())
      stage->parallelLoops.push_back(cast<AffineDimExpr>(expr).getPosition());
    SmallVector<utils::IteratorType> types = generic.getIteratorTypesArray();
    for (unsigned loop = 0; loop < types.size(); ++loop)
      if (!llvm::is_contained(stage->parallelLoops, loop))
        stage->reductionLoops.push_back(loop);
  }
  stageOf[op] = stage.get();
  stages.push_back(std::move(stage));
}

using Use = std::pair<LoopStage *, Access *>;

/// Returns true if stages that read the same elements of `producer` can share loops. Scalars are
/// computed before the loops.
static bool canShareLoops(ArrayRef<Use> uses, Operation *producer) {
  DenseSet<Value> tensors;
  DenseSet<LoopStage *> readers;
  for (const Use &use : uses) {
    use.first->footprint.addTensors(tensors);
    readers.insert(use.first);
  }
  bool isScalar = cast<RankedTensorType>(producer->getResult(0).getType()).getRank() == 0;
  return isScalar || tensors.size() + readers.size() <= kMaxStreams + 1;
}

/// Materializes the last of the producers that would be recomputed too often. Returns false if
/// there is none.
bool Schedule::addCostlyProducer() {
  llvm::MapVector<Operation *, SmallVector<Use>> uses;
  for (auto &stage : stages)
    for (Access &access : stage->footprint.inlined)
      uses[access.tensor.getDefiningOp()].push_back({stage.get(), &access});
  auto isStage = [&](Operation *op) { return stageOf.contains(op); };
  for (Operation &op : llvm::reverse(shapes.kernel().getBody().front())) {
    auto use = uses.find(&op);
    if (use == uses.end())
      continue;
    int64_t cost = footprintOf(cast<linalg::GenericOp>(op), isStage).cost;
    LoopStage *first = use->second.front().first;
    bool isShared = use->second.size() > 1;
    bool costly = cost >= kExpensive && isShared && !canShareLoops(use->second, &op);
    for (auto &[stage, access] : use->second) {
      int64_t limit = stage->reductionLoops.empty() ? kExpensive : kExpensiveInReduction;
      costly |= cost >= limit && repeats(*stage, access->indices);
      bool together = stage->isParallel() && first->isParallel() && stage->sizes == first->sizes &&
                      access->indices == use->second.front().second->indices;
      costly |= cost >= kExpensive && !together && isShared;
    }
    if (costly) {
      addStage(&op);
      return true;
    }
  }
  return false;
}

bool Schedule::isReadByProducts(Operation *op) const {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && options.isReadByProducts && options.isReadByProducts(generic);
}

void Schedule::chooseStages() {
  Block &body = shapes.kernel().getBody().front();
  Operation *terminator = body.getTerminator();
  for (Operation &op : body) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool returned = llvm::is_contained(op.getUsers(), terminator);
    bool special = isa<linalg_ext::LinalgExtDialect>(op.getDialect());
    if (isReadByProducts(&op))
      continue;
    if (special || (generic && (returned || !isComputableInPlace(generic))))
      addStage(&op);
  }
  auto isStage = [&](Operation *op) { return stageOf.contains(op) || isReadByProducts(op); };
  do
    for (auto &stage : stages)
      if (stage->generic())
        stage->footprint = footprintOf(stage->generic(), isStage);
      else
        stage->footprint = specialFootprint(stage->op, isStage);
  while (addCostlyProducer());
  llvm::sort(stages, [](auto &l, auto &r) { return l->op->isBeforeInBlock(r->op); });
}

LogicalResult Schedule::checkShapes() {
  kernel::FuncOp kernel = shapes.kernel();
  auto check = [&](Value tensor) {
    if (!isa<RankedTensorType>(tensor.getType()))
      return success();
    if (llvm::is_contained(shapes.shapeOf(tensor), AffineExpr()))
      return LogicalResult(
          kernel.emitError("a tensor's shape is not known from the kernel's sizes"));
    return success();
  };
  for (Value argument : kernel.getArguments())
    if (mlir::failed(check(argument)))
      return failure();
  for (Operation &op : kernel.getBody().front())
    for (Value result : op.getResults())
      if (mlir::failed(check(result)))
        return failure();
  if (shapes.symbolValues().size() > shapes.numSizes())
    return kernel.emitError("a size is not an expression of the kernel's size arguments");
  return success();
}

/// Makes one sweep of an attention kernel: its stages are the operations with results outside of
/// the scores.
bool Schedule::formAttention() {
  if (!options.takesAttention || !options.emitsProducts)
    return false;
  std::optional<AttentionForm> form = matchAttention(shapes);
  if (!form || !options.takesAttention(*form))
    return false;
  for (linalg::GenericOp op : form->rowOps)
    addStage(op);
  for (const ContractionNest &nest : form->nests) {
    addStage(nest.op);
    for (linalg::GenericOp op : nest.epilogues)
      addStage(op);
  }
  auto isStage = [&](Operation *op) { return stageOf.contains(op); };
  Operation *terminator = shapes.kernel().getBody().front().getTerminator();
  Nest &nest = allNests.emplace_back();
  LoopSweep &sweep = nest.sweeps.emplace_back();
  sweep.kind = LoopSweep::Kind::Attention;
  for (auto &stage : stages) {
    stage->footprint = footprintOf(stage->generic(), isStage);
    positions[stage.get()] = {0, 0};
    nest.stages.push_back(stage.get());
    sweep.stages.push_back(stage.get());
    for (Value result : stage->op->getResults()) {
      bool isReturned = llvm::is_contained(result.getUsers(), terminator);
      places[result] = isReturned ? Storage::Result : Storage::Register;
    }
  }
  sweep.attention = std::move(form);
  return true;
}

Schedule::Schedule(KernelShapes &shapes, const ScheduleOptions &options)
    : shapes(shapes), options(options) {
  if (mlir::failed(checkShapes())) {
    hasFailed = true;
    return;
  }
  if (formAttention())
    return;
  chooseStages();
  for (auto &stage : stages) {
    if (llvm::is_contained(stage->sizes, AffineExpr())) {
      stage->op->emitError("a loop's extent does not follow from its operands' shapes");
      hasFailed = true;
      return;
    }
    placeStage(*stage);
  }
  for (auto [i, nest] : llvm::enumerate(allNests)) {
    formSweeps(nest);
    for (auto [j, sweep] : llvm::enumerate(nest.sweeps))
      for (LoopStage *stage : sweep.stages)
        positions[stage] = {i, j};
  }
  findInnerDims();
  chooseStorage();
  for (Nest &nest : allNests) {
    dropUnitLoops(nest);
    collapseLoops(nest);
    for (LoopSweep &sweep : nest.sweeps)
      chooseLaneLoop(nest, sweep);
  }
}

//===--- storage ----------------------------------------------------------===//

/// Finds, for every value, the dimensions that the loops around its nest's sweeps do not fix.
void Schedule::findInnerDims() {
  for (auto &stage : stages)
    for (OpResult result : stage->op->getResults()) {
      const Nest &nest = allNests[positions.lookup(stage.get()).first];
      unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
      SmallVector<unsigned> inner = llvm::to_vector(llvm::seq(rank));
      if (stage->generic()) {
        SmallVector<AffineExpr> indices = resultIndices(*stage, result.getResultNumber());
        llvm::erase_if(inner, [&](unsigned dim) {
          return llvm::any_of(nest.outer, [&](unsigned loop) {
            return indices[dim] == getAffineDimExpr(loop, result.getContext());
          });
        });
      }
      innerDimsOf[result] = inner;
    }
}

void Schedule::chooseStorage() {
  Operation *terminator = shapes.kernel().getBody().front().getTerminator();
  for (auto &stage : stages)
    for (OpResult result : stage->op->getResults()) {
      auto [nest, sweep] = positions.lookup(stage.get());
      bool sameNest = true, sameSweep = true;
      for (auto &reader : stages)
        for (const Access &read : reader->footprint.reads)
          if (read.tensor == result) {
            auto place = positions.lookup(reader.get());
            sameNest &= place.first == nest;
            sameSweep &= place.first == nest && place.second == sweep;
          }
      serial |= !sameNest;
      SmallVector<unsigned> &inner = innerDimsOf[result];
      if (!sameNest)
        inner = llvm::to_vector(llvm::seq<unsigned>(shapes.shapeOf(result).size()));
      AffineExpr count = getAffineConstantExpr(1, result.getContext());
      for (unsigned dim : inner)
        count = normalize(count * shapes.shapeOf(result)[dim]);
      auto constant = dyn_cast<AffineConstantExpr>(count);
      bool simple = allNests[nest].sweeps[sweep].kind != LoopSweep::Kind::Special;
      if (llvm::is_contained(result.getUsers(), terminator))
        places[result] = Storage::Result;
      else if (simple && (sameSweep || (sameNest && inner.empty())))
        places[result] = Storage::Register;
      else if (constant && constant.getValue() <= options.stackElements)
        places[result] = Storage::Stack;
      else
        places[result] = Storage::Scratch;
    }
}

//===--- reductions -------------------------------------------------------===//

SmallVector<Operation *> tfc::kernels::sumsOf(const LoopSweep &sweep) {
  SmallVector<Operation *> combiners;
  for (const LoopStage *stage : sweep.stages)
    for (unsigned i = 0; !stage->isParallel() && i < stage->op->getNumResults(); ++i) {
      combiners.push_back(combinerOf(stage->generic(), i));
      if (!isa_and_nonnull<arith::AddFOp>(combiners.back()))
        return {};
    }
  return combiners;
}
