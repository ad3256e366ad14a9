//===- Transposition.cpp - Reads along other loops than writes ------------===//
//
// Finds the reads of a sweep that would touch a sector for each element, and that stay inside of
// their tensors, so that they may be done ahead.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Transposition.h"
#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

/// Lines of fewer points are read as they are: the sectors that neighbouring threads touch are
/// still in the cache when they read the rest.
static constexpr int64_t kShortest = 8;
/// Shared memory of a block, so that a multiprocessor has room for several.
static constexpr int64_t kMostSharedBytes = 34 << 10;
/// The bytes that memory moves at once, and the most that an access of a warp does.
static constexpr int64_t kSectorBytes = 32, kRequestBytes = 128;

/// Returns true if an offset is inside of a tensor at all points of a nest, also those at which the
/// nest may leave out the read: it grows with all loops, from zero or more to the last element at
/// most.
static bool staysInside(KernelShapes &shapes, const Nest &nest, Value tensor, AffineExpr offset) {
  Polynomial sum(offset);
  for (const Polynomial::Term &term : sum.terms())
    if (term.coefficient < 0 ||
        !llvm::all_of(
            term.atoms, [](AffineExpr atom) { return isa<AffineDimExpr, AffineSymbolExpr>(atom); }))
      return false;
  SmallVector<AffineExpr> last =
      llvm::map_to_vector(nest.sizes, [](AffineExpr size) { return size - 1; });
  AffineExpr beyond = normalize(offset.replaceDims(last) + 1 - shapes.numElements(tensor));
  return constantOf(beyond).value_or(1) <= 0;
}

/// Returns true if indices depend on loops and sizes alone, rather than on values.
static bool isStatic(KernelShapes &shapes, ArrayRef<AffineExpr> indices) {
  bool hasValue = false;
  for (AffineExpr index : indices)
    index.walk([&](AffineExpr expr) {
      auto symbol = dyn_cast<AffineSymbolExpr>(expr);
      hasValue |= symbol && symbol.getPosition() >= shapes.numSizes();
    });
  return !hasValue;
}

namespace {

/// A read of a sweep whose elements have a constant place at each point.
struct Candidate {
  Transposition::Read read;
  AffineExpr offset;
};

} // namespace

static SmallVector<Candidate> candidatesOf(KernelShapes &shapes, const Nest &nest,
                                           const LoopSweep &sweep) {
  auto isMade = [&](Value tensor) {
    return llvm::any_of(nest.stages,
                        [&](LoopStage *stage) { return stage->op == tensor.getDefiningOp(); });
  };
  SmallVector<Candidate> candidates;
  for (const LoopStage *stage : sweep.stages)
    for (const Access &access : stage->footprint.reads) {
      if (access.indices.empty() || isMade(access.tensor))
        continue;
      SmallVector<AffineExpr> indices = Schedule::readIndices(*stage, access);
      if (!isStatic(shapes, indices))
        continue;
      AffineExpr offset = denseOffset(shapes, access.tensor, indices);
      bool isKnown = llvm::any_of(candidates, [&](const Candidate &other) {
        return other.read.tensor == access.tensor && other.read.indices == indices;
      });
      if (!isKnown && staysInside(shapes, nest, access.tensor, offset))
        candidates.push_back({{access.tensor, std::move(indices)}, offset});
    }
  return candidates;
}

/// Returns the loop along which all results of a sweep are contiguous, if there is one.
static std::optional<unsigned> storeLoopOf(KernelShapes &shapes, const LoopSweep &sweep,
                                           ArrayRef<unsigned> loops) {
  auto isAlong = [&](unsigned loop) {
    return llvm::all_of(sweep.stages, [&](LoopStage *stage) {
      return llvm::all_of(stage->op->getResults(), [&](OpResult result) {
        return isContiguous(offsetOf(shapes, *stage, result), loop);
      });
    });
  };
  const unsigned *found = llvm::find_if(loops, isAlong);
  return found == loops.end() ? std::nullopt : std::optional(*found);
}

/// Makes a tensor's lines along a loop those of a side if they are the narrowest.
static void include(Transposition::Lines &lines, Value tensor, AffineExpr offset, unsigned loop) {
  int64_t bytes = bytesOf(tensor);
  if (lines.offset && lines.elementBytes <= bytes)
    return;
  lines = {offset, bytes, 1};
  int64_t sector = kSectorBytes / bytes;
  AffineExpr begin = normalize(offset.replace(getAffineDimExpr(loop, offset.getContext()),
                                              getAffineConstantExpr(0, offset.getContext())));
  if (bytes * kWarpThreads < kRequestBytes && !begin.isMultipleOf(sector))
    lines.sector = sector;
}

/// Chooses the width of the squares: their lines fill a request if shared memory has room for them.
static void chooseTile(Transposition &found) {
  auto sharedBytes = [&] {
    int64_t bytes = 0;
    for (const Transposition::Read &read : found.reads)
      bytes += found.bytes(bytesOf(read.tensor));
    return bytes;
  };
  found.tile = std::max(kWarpThreads, kRequestBytes / std::min(found.readLines.elementBytes,
                                                               found.storeLines.elementBytes));
  while (found.tile > kWarpThreads && sharedBytes() > kMostSharedBytes)
    found.tile /= 2;
  while (sharedBytes() > kMostSharedBytes)
    found.reads.pop_back();
}

std::optional<Transposition> tfc::gpu::findTransposition(KernelShapes &shapes, const Nest &nest,
                                                         const LoopSweep &sweep,
                                                         ArrayRef<unsigned> loops) {
  bool isParallel =
      llvm::all_of(sweep.stages, [](LoopStage *stage) { return stage->isParallel(); });
  std::optional<unsigned> storeLoop = isParallel ? storeLoopOf(shapes, sweep, loops) : std::nullopt;
  auto isLong = [&](unsigned loop) {
    return constantOf(normalize(nest.sizes[loop])).value_or(kShortest) >= kShortest;
  };
  if (!storeLoop || !isLong(*storeLoop))
    return std::nullopt;
  Transposition::Lines storeLines;
  for (const LoopStage *stage : sweep.stages)
    for (OpResult result : stage->op->getResults())
      include(storeLines, result, offsetOf(shapes, *stage, result), *storeLoop);
  SmallVector<Candidate> candidates = candidatesOf(shapes, nest, sweep);
  std::optional<Transposition> best;
  for (unsigned loop : loops) {
    if (loop == *storeLoop || !isLong(loop))
      continue;
    Transposition found{loop, *storeLoop, 0, {}, {}, storeLines};
    for (const Candidate &candidate : candidates) {
      AffineExpr across = strideOf(candidate.offset, *storeLoop);
      bool isElsewhere = across && constantOf(across) != 0 && constantOf(across) != 1;
      if (!isElsewhere || !isContiguous(candidate.offset, loop))
        continue;
      found.reads.push_back(candidate.read);
    }
    if (found.reads.empty())
      continue;
    auto findReadLines = [&] {
      found.readLines = {};
      for (const Transposition::Read &read : found.reads)
        include(found.readLines, read.tensor, denseOffset(shapes, read.tensor, read.indices), loop);
    };
    findReadLines();
    size_t wanted = found.reads.size();
    chooseTile(found);
    if (!found.reads.empty() && found.reads.size() < wanted)
      findReadLines();
    if (!found.reads.empty() && (!best || found.reads.size() > best->reads.size()))
      best = std::move(found);
  }
  return best;
}
