//===- Warp.h - 32 threads that run together ------------------------------===//
//
// The registers, program counters and memory of a warp's threads. The lanes
// that are first in the program's order run first, so that branches meet again.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/Program.h"
#include <bit>

namespace tfc::gpu {

class Block;

/// Calls `body(lane)` for each active lane, in order.
template <typename Body> inline void forEachLane(uint32_t active, Body body) {
  if (active == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      body(lane);
    return;
  }
  for (; active != 0; active &= active - 1)
    body(static_cast<unsigned>(std::countr_zero(active)));
}

/// A copy to shared memory that was started and not yet waited for (cp.async).
struct AsyncCopy {
  uint64_t to = 0;
  unsigned bytes = 0;
  uint32_t group = 0; // the number of groups that its thread had committed before
  int line = 0;
  uint8_t data[16] = {};
};

class Warp {
public:
  Warp(Block &block, unsigned number);

  /// Prepares the threads of a new block.
  void start(uint32_t blockNumber);
  /// Runs until no lane is ready, or after a number of instructions.
  void run(uint64_t slice);

  // Registers.
  uint64_t *cells(Row row) { return files[row >> 31] + size_t(row & ~kConstantRow) * kLanes; }
  /// The mask of lanes for which a predicate holds.
  uint64_t &predicate(Row row) { return *cells(row); }
  void setPredicate(Row row, uint32_t active, uint32_t value) {
    predicate(row) = (predicate(row) & ~uint64_t(active)) | (value & active);
  }
  /// Marks results that are written for other lanes than the active ones.
  void setWritten(Row row, uint32_t lanes) { written[row] |= lanes; }
  void setUnwritten(Row begin, Row end, uint32_t lanes);

  // Control, for instructions that change it.
  /// Sends some lanes elsewhere; the others of the group go on.
  void branch(uint32_t lanes, uint32_t target);
  void exit(uint32_t lanes);
  /// Lets lanes wait at this instruction until they are resumed after it.
  void suspend(uint32_t lanes);
  void resume(uint32_t lanes);
  uint32_t placeOf(unsigned lane) const { return places[lane]; }
  /// The instruction at which a lane waits.
  const Instruction &instructionOf(unsigned lane) const { return code[places[lane]]; }
  uint32_t getPlace() const { return pc; }
  uint32_t getAlive() const { return alive; }
  uint32_t getWaiting() const { return waiting; }
  uint32_t getReady() const { return alive & ~waiting; }
  bool isReady() const { return getReady() != 0; }

  /// Ends the launch with an error of a lane at the current instruction, or where it waits.
  void fail(unsigned lane, const std::string &message);

  uint32_t threadOf(unsigned lane) const { return number * kLanes + lane; }
  /// Returns true if the lanes have passed the same barriers.
  bool isOneMoment(uint32_t lanes) const {
    unsigned first = std::countr_zero(lanes);
    uint32_t difference = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t mask = lanes >> lane & 1 ? ~0u : 0;
      difference |=
          ((barriers[lane] ^ barriers[first]) | (warpBarriers[lane] ^ warpBarriers[first])) & mask;
    }
    return difference == 0;
  }
  Moment momentOf(unsigned lane) const {
    return {blockNumber, threadOf(lane), barriers[lane], warpBarriers[lane]};
  }

  Block &block;
  const unsigned number;
  uint32_t blockNumber = 0;
  uint32_t barriers[kLanes] = {}, warpBarriers[kLanes] = {}; // passed; see Moment
  /// The masks with which lanes wait for others of their warp.
  uint32_t waitMasks[kLanes] = {};
  Bytes bytes[kLanes]; // local memory and parameters of calls
  std::vector<uint32_t> calls[kLanes];
  std::vector<uint32_t> returns[kLanes]; // where they go on
  std::vector<AsyncCopy> copies[kLanes];
  uint32_t committed[kLanes] = {}; // groups of copies

private:
  void choose();
  uint64_t runGroup(uint64_t slice);
  bool step();
  void failUnwritten(const Instruction &instruction, Row row, uint32_t lanes);
  void fillSpecials();

  const Instruction *code;
  const uint32_t *order; // of the instructions
  uint64_t *files[2];    // registers and constants
  std::vector<uint64_t> registers;
  std::vector<uint32_t> written; // the lanes that have written a register
  uint32_t places[kLanes] = {};  // program counters of lanes outside the group
  uint32_t alive = 0, waiting = 0, group = 0;
  uint32_t pc = 0, next = 0;
  uint32_t limit = 0;      // another lane is there, in the program's order
  uint32_t backward = 0;   // branches of the group since it was chosen
  uint32_t spinning = ~0u; // where in the order a group was left, as it may wait for others
};

} // namespace tfc::gpu
