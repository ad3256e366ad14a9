//===- Block.cpp - The threads that share memory and barriers -------------===//
//
// Runs the warps of a block in turn, and finds out when all of them wait for threads that never
// come.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Block.h"
#include <algorithm>
#include <random>

namespace tfc::gpu {

/// The instructions of a warp until the next one has its turn.
static constexpr uint64_t kSlice = 4096;

Block::Block(const Program &program, const Code &kernel, const Launch &launch, Memory &memory,
             Counters &counters)
    : program(program), kernel(kernel), launch(launch), memory(memory), counters(counters) {
  staticEnd = kSharedBegin + kernel.staticSharedBytes;
  dynamicBegin = program.dynamicSharedBegin;
  shared = Bytes(std::max(staticEnd, dynamicBegin + launch.dynamicSharedBytes));
  budget = counters.warpInstructions + launch.budget;
  size_t count = (launch.block.count() + kLanes - 1) / kLanes;
  for (size_t i = 0; i < count; ++i)
    warps.push_back(std::make_unique<Warp>(*this, i));
}

void Block::run(uint32_t newNumber) {
  number = newNumber;
  shared.setUnwritten(0, shared.size());
  for (Barrier &barrier : barriers)
    barrier = {.lanes = std::vector<uint32_t>(warps.size())};
  sharedRaces.clear();
  globalRaces.beginBlock();
  std::vector<Warp *> order;
  for (const std::unique_ptr<Warp> &warp : warps) {
    warp->start(number);
    order.push_back(warp.get());
  }
  if (launch.seed != 0) {
    std::minstd_rand engine(static_cast<uint32_t>(launch.seed + number));
    std::shuffle(order.begin(), order.end(), engine);
  }
  for (bool isProgress = true; isProgress && !hasFailed();) {
    isProgress = false;
    for (Warp *warp : order)
      if (warp->isReady() && !hasFailed()) {
        warp->run(kSlice);
        isProgress = true;
      }
  }
  if (!hasFailed())
    failStuck();
}

void Block::fail(uint32_t thread, int line, const std::string &message) {
  if (hasFailed())
    return;
  error = kernel.name + ", thread " + std::to_string(thread) + " of block " +
          std::to_string(number) + ", line " + std::to_string(line) + ": " + message;
}

bool Block::failBudget() {
  if (!hasFailed())
    error = kernel.name + ", block " + std::to_string(number) + ": no end after " +
            std::to_string(launch.budget) + " instructions";
  return false;
}

/// Fails if lanes are left, all of which wait.
void Block::failStuck() {
  for (const std::unique_ptr<Warp> &warp : warps) {
    if (warp->getAlive() == 0)
      continue;
    unsigned lane = std::countr_zero(warp->getAlive());
    uint32_t mask = warp->waitMasks[lane];
    if (mask != 0) {
      uint32_t arrived = 0;
      for (unsigned other = 0; other < kLanes; ++other)
        if (warp->waitMasks[other] == mask && warp->placeOf(other) == warp->placeOf(lane))
          arrived |= 1u << other;
      unsigned missing = std::countr_zero(mask & ~arrived);
      warp->fail(lane, "waits for thread " + std::to_string(warp->threadOf(missing)) +
                           (warp->getAlive() >> missing & 1 ? ", which waits elsewhere"
                                                            : ", which has exited"));
      return;
    }
    for (unsigned i = 0; i < kBarriers; ++i)
      if (barriers[i].lanes[warp->number] >> lane & 1)
        warp->fail(lane, "barrier " + std::to_string(i) + " waits for " +
                             std::to_string(barriers[i].expected) + " threads, but only " +
                             std::to_string(barriers[i].arrived) + " arrive");
    return;
  }
}

Dimensions Block::position(uint32_t block) const {
  const Dimensions &grid = launch.grid;
  return {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
}

std::string Block::nameOf(uint32_t place, Row row) const {
  for (const Code &code : program.functions)
    if (place >= code.begin && place < code.end && row >= code.firstRow &&
        row - code.firstRow < code.registers.size())
      return code.registers[row - code.firstRow];
  return "_";
}

} // namespace tfc::gpu
