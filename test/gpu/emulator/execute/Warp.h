//===- Warp.h - A warp of threads -----------------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Block.h"
#include <algorithm>
#include <bit>

namespace tfc::gpu {

/// Calls `visit(lane)` for the lanes of a mask.
template <typename Visit> inline void forEachLane(uint32_t lanes, Visit visit) {
  if (lanes == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      visit(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1)
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// 32 threads of a block with their registers. Lanes with the lowest program counter run until
/// they meet others or wait, so that lanes that took different branches meet again.
class Warp {
public:
  Warp(Block &block, uint32_t number);

  /// Begins another block.
  void begin();
  /// Runs until all lanes have ended or wait for other warps, or after an error.
  void run();
  /// Continues after a barrier of the block.
  void passBarrier();

  bool hasEnded() const { return alive == 0; }
  bool hasFailed() const { return !error.empty(); }
  const std::string &getError() const { return error; }
  /// The lanes that wait at a barrier, and whether they are at one instruction.
  uint32_t getAtBarrier() const { return atBarrier; }
  bool isDivergedAtBarrier() const;
  int64_t barrierOf() const { return barrierId; }
  /// Reports an error of a lane at the barrier, or of the first one that is not there.
  void failAtBarrier(const std::string &message);

  // For instructions.
  uint64_t *cells(Row row) { return &file[row * kLanes]; }
  uint32_t mask(Row row) { return static_cast<uint32_t>(file[row * kLanes]); }
  /// Sets the bits of a predicate for some lanes.
  void setMask(Row row, uint32_t lanes, uint32_t bits) {
    uint64_t &cell = file[row * kLanes];
    cell = (cell & ~uint64_t(lanes)) | (bits & lanes);
  }
  /// The predicate that a source operand is, with its negation.
  uint32_t predicate(const Instruction &instruction, unsigned operand) {
    uint32_t bits = mask(instruction.operands[operand]);
    return instruction.negated >> operand & 1 ? ~bits : bits;
  }
  /// Takes values away from lanes whose first result is undefined.
  void setUndefined(uint32_t lanes) { undefined |= lanes; }
  void fail(unsigned lane, const std::string &message);
  void branch(uint32_t lanes, uint32_t target);
  /// Gives each of the lanes a target of its own.
  void branchEach(uint32_t lanes, const uint32_t (&targets)[kLanes]);
  void exit(uint32_t lanes);
  void waitAtBarrier(uint32_t lanes, int64_t id, bool isAligned);
  void passWarpBarrier(uint32_t lanes);
  uint32_t getAlive() const { return alive; }
  Moment momentOf(unsigned lane) const {
    return {block.number, number * kLanes + lane, block.barriers, warpBarriers};
  }
  Block &block;

private:
  void step();
  bool guard(const Instruction &instruction, uint32_t &lanes);
  bool meet(const Instruction &instruction, uint32_t &lanes);
  bool checkSources(const Instruction &instruction, uint32_t lanes);
  void execute(const Instruction &instruction, uint32_t lanes);
  void park(uint32_t lanes, uint32_t at);
  void select(uint32_t from = 0);
  bool resumeHeld();
  uint32_t lanesAt(uint32_t lanes, uint32_t at) const;
  uint32_t completeAt(uint32_t lanes, const Instruction &instruction);
  std::string nameOf(Row row) const;

  const std::vector<Instruction> &instructions;
  const uint32_t number, all; // of the block; its lanes that have a thread
  std::vector<uint64_t> file;
  std::vector<uint32_t> written; // by row, the lanes that have a value
  uint32_t counters[kLanes] = {};
  uint32_t alive = 0, active = 0, atBarrier = 0;
  uint32_t held = 0;   // wait for other lanes
  uint32_t pc = 0;     // of the active lanes
  uint32_t nextPc = 0; // the lowest of other lanes that can run
  uint32_t undefined = 0, warpBarriers = 0;
  int64_t barrierId = 0;
  bool isBarrierAligned = false, hasJumped = false;
  uint32_t spins = 0; // backward branches while other lanes could run
  int64_t patience = 0;
  std::string error;
};

} // namespace tfc::gpu
