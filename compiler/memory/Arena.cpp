// Live ranges of the values of an entry, and offsets in the arena by best fit over them.

#include "compiler/memory/Arena.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::memory {

static constexpr int64_t kAlignment = 64;

Arena::Arena(EntryOp entry, const EntryInfo &info, SymbolTable &symbols)
    : info(info), isRemote(dfg::isRemote(entry)) {
  regions.push_back({DimExpr(1), 0});
  collectValues(entry, symbols);
  place();
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

/// Creates a buffer for each value in the arena, live from the step that defines it to its last
/// reader.
///
/// Steps are numbered across regions. A value defined outside a region and read inside is live
/// until the region's operation ends, because a loop may read it again.
void Arena::collectValues(EntryOp entry, SymbolTable &symbols) {
  Block &block = entry.getBody().front();
  visit(block, symbols);
  ++step;
  for (AssignOp assign : copiedAtEnd(block))
    extend(assign.getValue());
  collectSaved(entry, step);
}

unsigned Arena::addBuffer(Value value) {
  buffers.push_back({bytesOf(value.getType()), step, step});
  return buffers.size() - 1;
}

/// Extends the live range of a value that is read in the current step.
void Arena::extend(Value value) {
  Value root = rootOf(value);
  for (auto *map : {&values, &others})
    if (auto it = map->find(root); it != map->end())
      buffers[it->second].end = step;
}

void Arena::visit(Block &block, SymbolTable &symbols) {
  for (Operation &op : block) {
    if (!isStep(&op))
      continue;
    ++step;
    forEachRead(&op, [&](Value value) { extend(value); });
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      visitLaunch(launch, symbols);
      continue;
    }
    if (op.getNumRegions() > 0) {
      visitRegions(&op, symbols);
      continue;
    }
    visitSend(dyn_cast<SendOp>(op));
    auto receive = dyn_cast<ReceiveOp>(op);
    bool isReadInPlace = receive && !receive.getCopied();
    // Received values are in memory of their senders, unless they are copied.
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) &&
          (isRegister(result) ? isReadFromMemory(result) : !isReadInPlace))
        values[result] = addBuffer(result);
  }
}

/// The receiver may read a buffer until the end of the call. Messages from memory that it cannot
/// read are copied to the host by the runtime.
void Arena::visitSend(SendOp send) {
  if (!send || send.getBufferCount() == 0 || isRemote)
    return;
  scratch[send] = buffers.size();
  buffers.push_back({sendBufferBytes(send) * DimExpr(send.getBufferCount()), 0, UINT_MAX});
}

void Arena::visitLaunch(LaunchOp launch, SymbolTable &symbols) {
  for (Value output : launch.getOutputs()) {
    if (!isInArena(output))
      continue;
    Value storage = storageOf(output);
    values[output] = storage == output ? addBuffer(output) : values.lookup(storage);
  }
  kernel::AbiAttr abi = kernel::abiOf(symbols.lookup(launch.getKernel()));
  DimExpr bytes = abi ? launchSize(launch, abi.getScratch()) : DimExpr(0);
  if (bytes.isConstant(0))
    return;
  scratch[launch] = buffers.size();
  buffers.push_back({bytes, step, step});
}

/// The memory of results is live throughout the operation, because its regions write to it.
void Arena::visitRegions(Operation *op, SymbolTable &symbols) {
  SmallVector<unsigned> own;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (isa<ListType>(result.getType()))
      continue;
    auto loop = dyn_cast<WhileOp>(op);
    bool isScalar = isRegister(result), isRead = isReadFromMemory(result);
    if (loop)
      for (Block *block : {&loop.getConditionBlock(), &loop.getBodyBlock()})
        isRead |= isReadFromMemory(block->getArgument(i));
    if (isScalar && !isRead)
      continue;
    own.push_back(values[result] = addBuffer(result));
    if (!loop)
      continue;
    for (Block *block : {&loop.getConditionBlock(), &loop.getBodyBlock()})
      values[block->getArgument(i)] = values[result];
    if (!isScalar && !hasSingleBuffer(loop, i))
      own.push_back(others[result] = addBuffer(result));
  }
  for (mlir::Region &region : op->getRegions()) {
    visit(region.front(), symbols);
    ++step;
    forEachRead(region.front().getTerminator(), [&](Value value) { extend(value); });
  }
  ++step;
  forEachRead(op, [&](Value value) { extend(value); });
  for (unsigned buffer : own)
    buffers[buffer].end = step;
}

void Arena::collectSaved(EntryOp entry, unsigned lastStep) {
  for (ReadOp read : savedBeforeCopies(entry.getBody().front())) {
    values[read.getValue()] = buffers.size();
    buffers.push_back({bytesOf(read.getType()), lastStep, lastStep});
  }
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

/// Splits a size into units * unit such that the unit has no constant divisor.
static std::pair<DimExpr, int64_t> splitSize(const DimExpr &bytes, DimExpr::Bounds bounds) {
  DimExpr::Interval interval = bytes.interval(bounds);
  if (interval.second)
    return {DimExpr(1), std::max<int64_t>(*interval.second, 0)};
  int64_t units = 0;
  for (auto &[monomial, coefficient] : bytes.getTerms())
    units = std::gcd(units, coefficient);
  return {DimExpr::floorDiv(bytes, DimExpr(units)), units};
}

/// Returns true if the upper bound of a size overflows although each name in it has a bound.
static bool isUncountable(const DimExpr &bytes, DimExpr::Bounds bounds) {
  SmallVector<std::string> names;
  bytes.collectSymbols(names);
  return !bytes.interval(bounds).second &&
         llvm::all_of(names, [&](StringRef name) { return bounds(name).second.has_value(); });
}

/// Makes every size a multiple of the alignment: either by rounding, if the largest size is so
/// large that this wastes little, or by using a larger unit.
static void align(Arena::Region &region, MutableArrayRef<std::pair<unsigned, int64_t>> sizes) {
  int64_t common = kAlignment, largest = 0;
  for (auto [number, size] : sizes) {
    common = std::gcd(common, size);
    largest = std::max(largest, size);
  }
  if (region.unit.constant() || largest >= 16 * kAlignment) {
    for (auto &[number, size] : sizes)
      size = llvm::alignTo(size, kAlignment);
    return;
  }
  int64_t step = kAlignment / common;
  region.unit = DimExpr::floorDiv(region.unit + DimExpr(step - 1), DimExpr(step));
  for (auto &[number, size] : sizes)
    size *= step;
}

/// Divides the buffers into regions and places each region separately.
void Arena::place() {
  auto bounds = [&](StringRef name) { return info.boundsOf(name); };
  slots.resize(buffers.size());
  std::vector<SmallVector<std::pair<unsigned, int64_t>>> sizes(1);
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    DimExpr bytes = info.atMost(buffer.bytes);
    if ((tooLarge = tooLarge || isOverflow(bytes) || isUncountable(bytes, bounds)))
      return;
    auto [unit, units] = splitSize(bytes, bounds);
    if ((tooLarge = tooLarge || units > kMaxTensorBytes))
      return;
    auto region = llvm::find_if(regions, [&](Region &known) { return known.unit == unit; });
    size_t number = region - regions.begin();
    if (region == regions.end()) {
      regions.push_back({unit, 0});
      sizes.emplace_back();
    }
    sizes[number].push_back({i, std::max<int64_t>(units, 1)});
  }
  for (unsigned region = 0; region < regions.size(); ++region) {
    align(regions[region], sizes[region]);
    // Place large buffers first, so that small ones fill the gaps.
    llvm::stable_sort(sizes[region], [](auto &a, auto &b) { return a.second > b.second; });
    placeRegion(region, sizes[region]);
  }
}

void Arena::placeRegion(unsigned region, ArrayRef<std::pair<unsigned, int64_t>> sizes) {
  struct Range {
    int64_t begin, end;
  };
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto [number, size] = sizes[i];
    const Buffer &buffer = buffers[number];
    SmallVector<Range> taken;
    for (auto [other, otherSize] : sizes.take_front(i))
      if (buffers[other].begin <= buffer.end && buffer.begin <= buffers[other].end)
        taken.push_back({slots[other].offset, slots[other].offset + otherSize});
    llvm::sort(taken, [](Range a, Range b) { return a.begin < b.begin; });
    int64_t best = -1, bestGap = 0, end = 0;
    for (Range range : taken) {
      int64_t gap = range.begin - end;
      if (gap >= size && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, range.end);
    }
    slots[number] = {region, best < 0 ? end : best};
    int64_t limit;
    if ((tooLarge = tooLarge || llvm::AddOverflow(slots[number].offset, size, limit)))
      return;
    regions[region].units = std::max(regions[region].units, limit);
  }
}

} // namespace tfc::memory
