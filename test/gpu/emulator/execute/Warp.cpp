//===- Warp.cpp - A warp of threads ---------------------------------------===//
//
// Chooses the lanes that run next. A lane is active, waits for its turn at its own program counter,
// is held by an instruction for which other lanes of the warp have to arrive, waits at a barrier of
// the block, or has ended.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Warp.h"

namespace tfc::gpu {

/// How long lanes may spin before others get their turn, which they may be waiting for.
static constexpr uint32_t kMostSpins = 4096;
static constexpr int64_t kPatience = 65536;
static constexpr uint32_t kNowhere = UINT32_MAX;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static uint32_t lanesOf(const Launch &launch, uint32_t warp) {
  uint64_t threads = launch.block.count() - uint64_t(warp) * kLanes;
  return threads >= kLanes ? kAllLanes : (1u << threads) - 1;
}

Warp::Warp(Block &block, uint32_t number)
    : block(block), instructions(block.launch.kernel.instructions), number(number),
      all(lanesOf(block.launch, number)), file(block.launch.kernel.rows() * kLanes),
      written(block.launch.kernel.rows()) {
  const std::vector<uint64_t> &constants = block.launch.kernel.constants;
  for (size_t i = 0; i < constants.size(); ++i)
    std::fill_n(cells(kSpecialRows + i), kLanes, constants[i]);
}

static Extent positionIn(Extent extent, uint64_t number) {
  return {static_cast<uint32_t>(number % extent.x),
          static_cast<uint32_t>(number / extent.x % extent.y),
          static_cast<uint32_t>(number / extent.x / extent.y)};
}

void Warp::begin() {
  const Launch &launch = block.launch;
  size_t known = kSpecialRows + launch.kernel.constants.size();
  std::fill(written.begin(), written.begin() + known, kAllLanes);
  std::fill(written.begin() + known, written.end(), 0);
  Extent place = positionIn(launch.grid, block.number);
  auto setAll = [&](Row row, uint64_t value) { std::fill_n(cells(row), kLanes, value); };
  auto setExtent = [&](Row row, Extent extent) {
    setAll(row, extent.x);
    setAll(row + 1, extent.y);
    setAll(row + 2, extent.z);
  };
  setExtent(kThreadsRow, launch.block);
  setExtent(kBlockRow, place);
  setExtent(kBlocksRow, launch.grid);
  setAll(kWarpRow, number);
  setAll(kWarpsRow, (launch.block.count() + kLanes - 1) / kLanes);
  setAll(kDynamicSharedRow, launch.dynamicSharedBytes);
  setAll(kTotalSharedRow, launch.kernel.sharedBytes + launch.dynamicSharedBytes);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Extent thread = positionIn(launch.block, uint64_t(number) * kLanes + lane);
    cells(kThreadRow)[lane] = thread.x;
    cells(kThreadRow + 1)[lane] = thread.y;
    cells(kThreadRow + 2)[lane] = thread.z;
    cells(kLaneRow)[lane] = lane;
    uint32_t own = 1u << lane;
    cells(kLanesEqualRow)[lane] = own;
    cells(kLanesLessRow)[lane] = own - 1;
    cells(kLanesLessEqualRow)[lane] = own | (own - 1);
    cells(kLanesGreaterEqualRow)[lane] = ~(own - 1);
    cells(kLanesGreaterRow)[lane] = ~(own | (own - 1));
  }
  alive = active = all;
  atBarrier = held = pc = warpBarriers = spins = 0;
  nextPc = kNowhere;
  patience = 0;
}

std::string Warp::nameOf(Row row) const {
  size_t first = kSpecialRows + block.launch.kernel.constants.size();
  return row < first ? "an operand" : "'" + block.launch.kernel.names[row - first] + "'";
}

static std::string describe(Extent at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) +
         ")";
}

void Warp::fail(unsigned lane, const std::string &message) {
  if (hasFailed())
    return;
  const Launch &launch = block.launch;
  Extent thread = positionIn(launch.block, uint64_t(number) * kLanes + lane);
  std::string line =
      pc < instructions.size() ? ", line " + std::to_string(instructions[pc].line) : "";
  error = "kernel '" + launch.kernel.name + "'" + line + ", thread " + describe(thread) +
          " of block " + describe(positionIn(launch.grid, block.number)) + ": " + message;
}

bool Warp::checkSources(const Instruction &instruction, uint32_t lanes) {
  for (unsigned i = instruction.results; i < instruction.operandCount; ++i)
    if (uint32_t missing = lanes & ~written[instruction.operands[i]]) {
      fail(std::countr_zero(missing),
           "reads " + nameOf(instruction.operands[i]) + ", which has no value");
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

uint32_t Warp::lanesAt(uint32_t lanes, uint32_t at) const {
  uint32_t found = 0;
  forEachLane(lanes, [&](unsigned lane) { found |= uint32_t(counters[lane] == at) << lane; });
  return found;
}

/// Lets lanes wait for their turn.
void Warp::park(uint32_t lanes, uint32_t at) {
  forEachLane(lanes, [&](unsigned lane) { counters[lane] = at; });
}

/// Chooses the lanes with the lowest program counter, from `from` on if there are any. The active
/// ones have been parked.
void Warp::select(uint32_t from) {
  active = 0;
  uint32_t ready = alive & ~atBarrier & ~held;
  auto lowest = [&](uint32_t lanes, uint32_t least) {
    uint32_t found = kNowhere;
    forEachLane(lanes, [&](unsigned lane) {
      if (counters[lane] >= least)
        found = std::min(found, counters[lane]);
    });
    return found;
  };
  pc = lowest(ready, from);
  if (pc == kNowhere)
    pc = lowest(ready, 0);
  if (pc == kNowhere)
    return;
  active = lanesAt(ready, pc);
  nextPc = lowest(ready & ~active, 0);
  spins = 0;
}

/// Lanes that waited for lanes which have ended may go on. Returns false if there are none.
bool Warp::resumeHeld() {
  for (uint32_t rest = held; rest != 0;) {
    uint32_t at = counters[std::countr_zero(rest)], lanes = lanesAt(rest, at);
    rest &= ~lanes;
    uint32_t complete = completeAt(lanes, instructions[at]);
    if (complete == 0)
      continue;
    held &= ~complete;
    select();
    return true;
  }
  return false;
}

/// Returns the lanes for which all lanes of their mask are among `lanes`, or have ended.
uint32_t Warp::completeAt(uint32_t lanes, const Instruction &instruction) {
  const uint64_t *masks = cells(instruction.maskRow());
  uint32_t complete = 0;
  for (uint32_t rest = lanes; rest != 0;) {
    uint32_t mask = static_cast<uint32_t>(masks[std::countr_zero(rest)]), same = 0;
    forEachLane(rest, [&](unsigned lane) {
      same |= uint32_t(static_cast<uint32_t>(masks[lane]) == mask) << lane;
    });
    rest &= ~same;
    if ((mask & alive & ~same) == 0)
      complete |= same;
  }
  return complete;
}

/// Lets lanes whose guard does not hold pass. Returns false if no lane is left.
bool Warp::guard(const Instruction &instruction, uint32_t &lanes) {
  if (!instruction.hasGuard)
    return true;
  if (uint32_t missing = lanes & ~written[instruction.guard]) {
    fail(std::countr_zero(missing), "reads " + nameOf(instruction.guard) + ", which has no value");
    return false;
  }
  uint32_t bits = mask(instruction.guard);
  lanes &= instruction.isGuardNegated ? ~bits : bits;
  return lanes != 0;
}

/// Returns false if no lane can execute the instruction yet; then others have been chosen.
bool Warp::meet(const Instruction &instruction, uint32_t &lanes) {
  uint32_t passing = active & ~lanes;
  if (!checkSources(instruction, lanes))
    return false;
  const uint64_t *masks = cells(instruction.maskRow());
  forEachLane(lanes, [&](unsigned lane) {
    if (!(masks[lane] >> lane & 1))
      fail(lane, "is not in the mask of the lanes that it waits for");
  });
  if (hasFailed())
    return false;
  uint32_t here = lanes | lanesAt(held, pc);
  held &= ~here;
  uint32_t complete = completeAt(here, instruction), incomplete = here & ~complete;
  if (incomplete == 0 && passing == 0 && here == lanes)
    return true;
  // The groups have changed: those that pass by, those that wait, and those that go on.
  uint32_t at = pc;
  park(passing, at + 1);
  park(here, at);
  held |= incomplete;
  if (complete == 0) {
    select();
    return false;
  }
  select(at);
  pc = at;
  active = lanes = complete;
  uint32_t others = alive & ~atBarrier & ~held & ~active;
  nextPc = kNowhere;
  forEachLane(others, [&](unsigned lane) { nextPc = std::min(nextPc, counters[lane]); });
  return true;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

void Warp::execute(const Instruction &instruction, uint32_t lanes) {
  Counters &counts = block.counters;
  unsigned count = std::popcount(lanes);
  counts.instructions[static_cast<int>(instruction.group)] += count;
  counts.multiplyAdds += count * instruction.multiplyAdds;
  undefined = 0;
  instruction.execute(*this, instruction, lanes);
  for (unsigned i = 0; i < instruction.results; ++i) {
    uint32_t &row = written[instruction.operands[i]];
    row = (row | lanes) & ~(i == 0 ? undefined : 0);
  }
}

void Warp::step() {
  if (pc >= instructions.size())
    return exit(active);
  const Instruction &instruction = instructions[pc];
  uint32_t lanes = active;
  hasJumped = false;
  if (guard(instruction, lanes)) {
    if (instruction.rendezvous == Rendezvous::Lanes) {
      if (!meet(instruction, lanes))
        return;
    } else if (!checkSources(instruction, lanes)) {
      return;
    }
    execute(instruction, lanes);
  }
  if (hasFailed() || hasJumped)
    return;
  ++pc;
  if (pc >= nextPc && --patience <= 0) {
    park(active, pc);
    select();
  }
}

void Warp::run() {
  while (!hasFailed()) {
    if (active == 0) {
      if (resumeHeld())
        continue;
      if (held != 0 && atBarrier == 0) {
        unsigned lane = std::countr_zero(held);
        pc = counters[lane];
        fail(lane, "waits for lanes that never come");
      }
      return;
    }
    step();
    if (block.counters.allInstructions() > block.launch.limit && active != 0)
      fail(std::countr_zero(active), "executes more instructions than the limit");
  }
}

void Warp::branch(uint32_t lanes, uint32_t target) {
  hasJumped = true;
  bool isBackward = target <= pc, isAlone = nextPc == kNowhere;
  if (lanes == active && isAlone) {
    pc = target;
    return;
  }
  park(active & ~lanes, pc + 1);
  park(lanes, target);
  uint32_t from = 0;
  if (isBackward && !isAlone && ++spins > kMostSpins) {
    from = pc + 1; // lanes behind may be what these are waiting for
    patience = kPatience;
  }
  uint32_t before = spins;
  select(from);
  spins = from ? 0 : before;
}

void Warp::branchEach(uint32_t lanes, const uint32_t (&targets)[kLanes]) {
  hasJumped = true;
  park(active & ~lanes, pc + 1);
  forEachLane(lanes, [&](unsigned lane) { counters[lane] = targets[lane]; });
  select();
}

void Warp::exit(uint32_t lanes) {
  hasJumped = true;
  alive &= ~lanes;
  park(active & ~lanes, pc + 1);
  select();
}

void Warp::waitAtBarrier(uint32_t lanes, int64_t id, bool isAligned) {
  hasJumped = true;
  if (atBarrier != 0 && barrierId != id)
    return fail(std::countr_zero(lanes), "waits at barrier " + std::to_string(id) +
                                             ", but lanes of its warp at barrier " +
                                             std::to_string(barrierId));
  barrierId = id;
  isBarrierAligned = isAligned;
  park(active, pc + 1);
  atBarrier |= lanes;
  select();
}

bool Warp::isDivergedAtBarrier() const {
  if (!isBarrierAligned || atBarrier == 0)
    return false;
  return lanesAt(atBarrier, counters[std::countr_zero(atBarrier)]) != atBarrier;
}

void Warp::failAtBarrier(const std::string &message) {
  unsigned lane = std::countr_zero(atBarrier != 0 ? atBarrier : alive);
  pc = counters[lane] - 1;
  fail(lane, message);
}

void Warp::passBarrier() {
  atBarrier = 0;
  select();
}

/// All lanes of the warp have passed a barrier; one of some lanes orders nothing that is tracked.
void Warp::passWarpBarrier(uint32_t lanes) { warpBarriers += lanes == alive; }

} // namespace tfc::gpu
