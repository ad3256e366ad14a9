//===- Barriers.cpp - Barriers and fences ---------------------------------===//
//
// Sections 9.7.13.1 to 9.7.13.5. Lanes wait at a barrier until as many threads as it expects have
// arrived. If no warp can run any more, the block reports the barriers that are incomplete.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Block.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include "test/gpu/emulator/instructions/Groups.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t { kAligned = 1, kArrive = 2, kReduce = 4, kNegated = 8, kHasCount = 16 };
enum Reduction { kPopc, kAll, kAny };
} // namespace

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

/// The reduction of the predicates is written to the lanes that wait. The instruction of each warp
/// is known by its place.
static void writeReduction(Warp &warp, const Instruction &i, uint32_t lanes, uint32_t count,
                           uint32_t threads) {
  if (i.value != kPopc)
    return warp.setPredicate(i.operands[0], lanes,
                             (i.value == kAll ? count == threads : count != 0) ? kAllLanes : 0);
  uint64_t *result = warp.cells(i.operands[0]);
  forEachLane(lanes, [&](unsigned lane) { result[lane] = count; });
}

/// Lets the waiting lanes go on. All of them have passed as many barriers as the one with the most,
/// and one more: what happened before then is ordered before what follows.
static void complete(Block &block, Barrier &barrier) {
  uint32_t passed = 0, waiting = 0;
  for (const std::unique_ptr<Warp> &warp : block.warps) {
    waiting += std::popcount(barrier.lanes[warp->number]);
    forEachLane(barrier.lanes[warp->number],
                [&](unsigned lane) { passed = std::max(passed, warp->barriers[lane] + 1); });
  }
  if (waiting == block.launch.block.count()) {
    block.globalRaces.passBarrier();
    block.sharedRaces.passBarrier();
  }
  passed = std::max(passed, barrier.passed + 1);
  for (const std::unique_ptr<Warp> &warp : block.warps) {
    uint32_t lanes = barrier.lanes[warp->number];
    forEachLane(lanes, [&](unsigned lane) {
      const Instruction &i = warp->instructionOf(lane);
      if (i.flags & kReduce)
        writeReduction(*warp, i, 1u << lane, barrier.count, barrier.expected);
      warp->barriers[lane] = passed;
    });
    warp->resume(lanes);
    barrier.lanes[warp->number] = 0;
  }
  barrier.expected = barrier.arrived = barrier.count = barrier.passed = 0;
  ++block.counters.barriers;
}

/// The threads that an instruction expects: all of the block, or a multiple of the warp's size.
static uint32_t expectedBy(Warp &warp, const Instruction &i, unsigned lane, Row row) {
  auto threads = static_cast<uint32_t>(warp.block.launch.block.count());
  if (!(i.flags & kHasCount))
    return threads;
  auto count = static_cast<uint32_t>(warp.cells(row)[lane]);
  if (count == 0 || count % kLanes != 0)
    warp.fail(lane,
              "a barrier for " + std::to_string(count) + " threads, which is no multiple of 32");
  if (count > (threads + kLanes - 1) / kLanes * kLanes)
    warp.fail(lane, "a barrier for " + std::to_string(count) + " threads in a block of " +
                        std::to_string(threads));
  return std::min(count, threads);
}

/// In an aligned barrier, all lanes of a warp are at one place (9.7.13.1); the active ones are.
static void checkAligned(Warp &warp, const Instruction &i, unsigned lane, uint32_t active,
                         const Barrier &barrier) {
  forEachLane(barrier.lanes[warp.number] & ~active, [&](unsigned other) {
    bool isAligned = (i.flags | warp.instructionOf(other).flags) & kAligned;
    if (isAligned && warp.placeOf(other) != warp.getPlace())
      warp.fail(lane, "thread " + std::to_string(warp.threadOf(other)) +
                          " of the warp waits at another aligned barrier, in line " +
                          std::to_string(warp.instructionOf(other).line));
  });
}

static void arrive(Warp &warp, const Instruction &i, unsigned lane, uint32_t active) {
  Block &block = warp.block;
  unsigned operand = i.results;
  uint64_t number = warp.cells(i.operands[operand++])[lane];
  if (number >= Block::kBarriers)
    return warp.fail(lane, "barrier " + std::to_string(number) + ", but there are 16");
  Barrier &barrier = block.barriers[number];
  uint32_t expected = expectedBy(warp, i, lane, i.operands[operand]);
  operand += i.flags & kHasCount ? 1 : 0;
  if (barrier.arrived != 0 && barrier.expected != expected)
    return warp.fail(lane, "barrier " + std::to_string(number) + " for " +
                               std::to_string(expected) + " threads, but others expect " +
                               std::to_string(barrier.expected));
  checkAligned(warp, i, lane, active, barrier);
  barrier.expected = expected;
  ++barrier.arrived;
  if (i.flags & kReduce) {
    bool holds = warp.predicate(i.operands[operand]) >> lane & 1;
    barrier.count += holds != bool(i.flags & kNegated);
  }
  if (i.flags & kArrive) {
    barrier.passed = std::max(barrier.passed, warp.barriers[lane]);
  } else {
    barrier.lanes[warp.number] |= 1u << lane;
    warp.suspend(1u << lane);
  }
  if (barrier.arrived == barrier.expected)
    complete(block, barrier);
}

static void runBarrier(Warp &warp, const Instruction &i, uint32_t active) {
  forEachLane(active, [&](unsigned lane) {
    if (!warp.block.hasFailed())
      arrive(warp, i, lane, active);
  });
}

/// Operands of barriers: a{, b}, and {!}c of reductions.
static void bindBarrier(Decoder &d, bool mustHaveCount) {
  d.endModifiers();
  bool isReduction = d.instruction.flags & kReduce;
  size_t first = isReduction, last = d.operandCount() - isReduction;
  bool hasCount = last == first + 2;
  if (last < first + 1 || last > first + 2 || (mustHaveCount && !hasCount))
    return d.requireCount(first + isReduction + (mustHaveCount ? 2 : 1));
  if (isReduction)
    d.addResult(d.operand(0), d.instruction.value == kPopc ? U32 : Pred);
  d.addSource(d.operand(first), U32);
  if (hasCount) {
    d.addSource(d.operand(first + 1), U32);
    d.instruction.flags |= kHasCount;
  }
  if (isReduction) {
    ptx::Operand c = d.operand(last);
    d.instruction.flags |= c.isNegated ? kNegated : 0;
    c.isNegated = false;
    d.addSource(c, Pred);
  }
  d.setExecute(runBarrier, Class::Barrier);
}

/// bar.op is barrier.op.aligned.
static void decodeBarrierOf(Decoder &d, bool isAligned) {
  int op = d.requireOneOf({"sync", "arrive", "red"});
  if (op == 2)
    d.instruction.value = d.requireOneOf({"popc", "and", "or"});
  bool hasAligned = !isAligned && d.takeIf("aligned");
  d.instruction.flags =
      (isAligned || hasAligned ? kAligned : 0) | (op == 1 ? kArrive : 0) | (op == 2 ? kReduce : 0);
  if (op == 2)
    d.takeType({d.instruction.value == kPopc ? U32 : Pred});
  bindBarrier(d, op == 1);
}

static void decodeBarrier(Decoder &d) {
  d.takeIf("cta");
  decodeBarrierOf(d, false);
}

static void runWarpBarrier(Warp &warp, const Instruction &i, uint32_t active) {
  forEachGroup(warp, i.operands[0], active, false, [&](uint32_t lanes) {
    uint32_t passed = 0;
    forEachLane(lanes,
                [&](unsigned lane) { passed = std::max(passed, warp.warpBarriers[lane] + 1); });
    forEachLane(lanes, [&](unsigned lane) { warp.warpBarriers[lane] = passed; });
  });
}

/// bar{.cta}.sync, .arrive, .red, and bar.warp.sync mask.
static void decodeBar(Decoder &d) {
  if (d.takeIf("warp")) {
    d.requireOneOf({"sync"});
    d.bind({}, {B32});
    return d.setExecute(runWarpBarrier, Class::Barrier);
  }
  d.takeIf("cta");
  decodeBarrierOf(d, true);
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// Accesses take effect in the order of the program here, so fences do nothing. They do not order
/// accesses of different threads by themselves.
static void runFence(Warp &, const Instruction &, uint32_t) {}

static void decodeFence(Decoder &d) {
  d.takeOneOf({"sc", "acq_rel"});
  d.requireOneOf({"cta", "gpu", "sys"});
  d.bind({}, {});
  d.setExecute(runFence, Class::Barrier);
}

static void decodeMemoryBarrier(Decoder &d) {
  d.requireOneOf({"cta", "gl", "sys"});
  d.bind({}, {});
  d.setExecute(runFence, Class::Barrier);
}

/// nanosleep.u32 t: the time is left open.
static void decodeSleep(Decoder &d) {
  d.takeType({U32});
  d.bind({}, {U32});
  d.setExecute(runFence, Class::Control);
}

const Entry kBarrierEntries[] = {
    {"bar", Entry::Any, decodeBar},         {"barrier", Entry::Any, decodeBarrier},
    {"fence", Entry::Any, decodeFence},     {"membar", Entry::Any, decodeMemoryBarrier},
    {"nanosleep", Entry::Any, decodeSleep}, {}};

} // namespace tfc::gpu
