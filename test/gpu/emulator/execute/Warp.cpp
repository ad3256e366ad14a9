//===- Warp.cpp - 32 threads that run together ----------------------------===//
//
// Chooses the lanes that run, and executes their instructions. Registers that nobody wrote are
// found here, so that instructions need not ask.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Warp.h"
#include "test/gpu/emulator/execute/Block.h"
#include <algorithm>

namespace tfc::gpu {

/// A group that has branched backward so often may wait for lanes that it keeps from running.
static constexpr uint32_t kMaxBackward = 512;

Warp::Warp(Block &block, unsigned number)
    : block(block), number(number), code(block.program.instructions.data()),
      order(block.program.order.data()), registers(size_t(block.program.rows) * kLanes),
      written(block.program.rows) {
  files[0] = registers.data();
  files[1] = const_cast<uint64_t *>(block.program.constants.data());
  for (Bytes &memory : bytes)
    memory = Bytes(block.program.threadBytes);
}

void Warp::start(uint32_t newBlock) {
  blockNumber = newBlock;
  uint64_t threads = block.launch.block.count() - uint64_t(number) * kLanes;
  alive = threads >= kLanes ? kAllLanes : (1u << threads) - 1;
  waiting = group = 0;
  spinning = ~0u;
  std::fill(written.begin(), written.end(), 0);
  fillSpecials();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    places[lane] = block.kernel.begin;
    barriers[lane] = warpBarriers[lane] = waitMasks[lane] = committed[lane] = 0;
    bytes[lane].setUnwritten(0, bytes[lane].size());
    calls[lane].clear();
    returns[lane].clear();
    copies[lane].clear();
  }
}

/// Chapter 10.
void Warp::fillSpecials() {
  const Launch &launch = block.launch;
  Dimensions ctaid = block.position(blockNumber);
  auto setAll = [&](Row row, uint64_t value) { std::fill_n(cells(row), kLanes, value); };
  const Dimensions *vectors[] = {&launch.block, &ctaid, &launch.grid};
  const Row rows[] = {kThreadsRow, kBlockRow, kBlocksRow};
  for (int i = 0; i < 3; ++i) {
    setAll(rows[i], vectors[i]->x);
    setAll(rows[i] + 1, vectors[i]->y);
    setAll(rows[i] + 2, vectors[i]->z);
  }
  setAll(kWarpRow, number);
  setAll(kWarpsRow, (launch.block.count() + kLanes - 1) / kLanes);
  setAll(kMultiprocessorRow, 0);
  setAll(kMultiprocessorsRow, 1);
  setAll(kDynamicSharedRow, launch.dynamicSharedBytes);
  setAll(kTotalSharedRow, block.kernel.staticSharedBytes + launch.dynamicSharedBytes);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t thread = threadOf(lane), self = 1u << lane;
    cells(kThreadRow)[lane] = thread % launch.block.x;
    cells(kThreadRow + 1)[lane] = thread / launch.block.x % launch.block.y;
    cells(kThreadRow + 2)[lane] = thread / launch.block.x / launch.block.y;
    cells(kLaneRow)[lane] = lane;
    cells(kLanesEqualRow)[lane] = self;
    cells(kLanesLessRow)[lane] = self - 1;
    cells(kLanesLessEqualRow)[lane] = self | (self - 1);
    cells(kLanesGreaterEqualRow)[lane] = ~(self - 1);
    cells(kLanesGreaterRow)[lane] = ~(self | (self - 1));
  }
  std::fill(written.begin(), written.begin() + kSinkRow, kAllLanes);
}

void Warp::setUnwritten(Row begin, Row end, uint32_t lanes) {
  for (Row row = begin; row < end; ++row)
    written[row] &= ~lanes;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void Warp::fail(unsigned lane, const std::string &message) {
  bool isCurrent = group >> lane & 1;
  block.fail(threadOf(lane), code[isCurrent ? pc : places[lane]].line, message);
}

void Warp::failUnwritten(const Instruction &instruction, Row row, uint32_t lanes) {
  fail(std::countr_zero(lanes), "register '" + block.nameOf(pc, row) + "' was never written");
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void Warp::branch(uint32_t lanes, uint32_t target) {
  backward += order[target] <= order[pc];
  if (lanes == group) {
    next = target;
    return;
  }
  forEachLane(lanes, [&](unsigned lane) { places[lane] = target; });
  group &= ~lanes;
  limit = 0; // the rest may meet lanes that it did not know of
}

void Warp::exit(uint32_t lanes) {
  alive &= ~lanes;
  group &= ~lanes;
}

void Warp::suspend(uint32_t lanes) {
  forEachLane(lanes, [&](unsigned lane) { places[lane] = pc; });
  waiting |= lanes;
  group &= ~lanes;
}

void Warp::resume(uint32_t lanes) {
  forEachLane(lanes, [&](unsigned lane) { ++places[lane]; });
  waiting &= ~lanes;
  limit = 0;
}

/// Chooses the lanes that are first in the program's order, or the first ones after a group that
/// spins.
void Warp::choose() {
  uint32_t ready = getReady(), first = ~0u, after = ~0u;
  forEachLane(ready, [&](unsigned lane) {
    uint32_t number = order[places[lane]];
    first = std::min(first, number);
    if (spinning != ~0u && number > spinning)
      after = std::min(after, number);
  });
  uint32_t chosen = after != ~0u ? after : first;
  spinning = ~0u;
  backward = 0;
  group = 0;
  limit = ~0u;
  forEachLane(ready, [&](unsigned lane) {
    uint32_t number = order[places[lane]];
    if (number == chosen) {
      group |= 1u << lane;
      pc = places[lane];
    } else if (number > chosen) {
      limit = std::min(limit, number);
    }
  });
}

void Warp::run(uint64_t slice) {
  while (slice > 0 && isReady() && !block.hasFailed()) {
    choose();
    slice = runGroup(slice);
    forEachLane(group, [&](unsigned lane) { places[lane] = pc; });
    group = 0;
  }
}

/// Runs the group until it meets other lanes, or ends. Returns the rest of the slice.
uint64_t Warp::runGroup(uint64_t slice) {
  for (; slice > 0; --slice) {
    if (!step())
      return slice - 1;
    if (group == 0)
      return slice - 1;
    pc = next;
    if (order[pc] >= limit)
      return slice - 1;
    if (backward > kMaxBackward && group != getReady()) {
      spinning = order[pc];
      return slice - 1;
    }
  }
  return 0;
}

/// Executes an instruction for the group. Returns false after an error.
bool Warp::step() {
  const Instruction &instruction = code[pc];
  uint32_t active = group;
  next = pc + 1;
  if (instruction.hasGuard) {
    if (uint32_t missing = group & ~written[instruction.guard]) {
      failUnwritten(instruction, instruction.guard, missing);
      return false;
    }
    auto mask = static_cast<uint32_t>(predicate(instruction.guard));
    active &= instruction.isGuardNegated ? ~mask : mask;
    if (active == 0)
      return block.count(Class::Control, 0);
  }
  for (unsigned i = instruction.results; i < instruction.operandCount; ++i) {
    Row row = instruction.operands[i];
    if (row & kConstantRow)
      continue;
    if (uint32_t missing = active & ~written[row]) {
      failUnwritten(instruction, row, missing);
      return false;
    }
  }
  Counters &counters = block.counters;
  if (instruction.group == Class::Tensor)
    counters.tensorMultiplyAdds += instruction.multiplyAdds;
  else
    counters.multiplyAdds += uint64_t(instruction.multiplyAdds) * std::popcount(active);
  // Before the instruction, which may let the lanes wait.
  for (unsigned i = 0; i < instruction.results; ++i)
    written[instruction.operands[i]] |= active;
  instruction.execute(*this, instruction, active);
  return block.count(instruction.group, std::popcount(active)) && !block.hasFailed();
}

} // namespace tfc::gpu
