//===- Accesses.h - Accesses of a warp to memory --------------------------===//
//
// The checks that all accesses share: bounds, alignment, bytes that nobody
// wrote, and races. Bank conflicts and sectors are counted for the lanes of an
// instruction together.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Block.h"

namespace tfc::gpu {

/// Where the lanes of an instruction access memory: by space, with addresses of that space.
struct LaneAddresses {
  uint64_t of[kLanes];
  uint32_t global = 0, shared = 0; // lanes whose addresses are counted
};

/// The kind of an access, for races.
Access accessOf(const AccessForm &form, bool isWrite);

/// Returns the space of a lane's address, which becomes one of that space if it is generic.
inline ptx::Space resolve(ptx::Space space, uint64_t &address) {
  if (space != ptx::Space::Generic)
    return space;
  if (address < kSharedWindow)
    return ptx::Space::Global;
  constexpr uint64_t kOffset = kWindowBytes - 1;
  uint64_t window = address & ~kOffset;
  if (window == kSharedWindow || window == kLocalWindow || window == kParameterWindow)
    address &= kOffset;
  return window == kSharedWindow      ? ptx::Space::Shared
         : window == kLocalWindow     ? ptx::Space::Local
         : window == kParameterWindow ? ptx::Space::Parameter
                                      : ptx::Space::Global;
}

/// The bytes of an aligned access of a lane, or null after it has failed. `bytes` is a power of two
/// of at most 16. Bytes to write count as written from then on.
const uint8_t *toReadSlow(Warp &warp, unsigned lane, ptx::Space space, uint64_t address,
                          unsigned bytes, Access access, bool isOfCall);
uint8_t *toWriteSlow(Warp &warp, unsigned lane, ptx::Space space, uint64_t address, unsigned bytes,
                     Access access, bool isOfCall);

/// Prepares the checks for accesses of several lanes. Returns true if they are at one moment, so
/// that the fast checks know it.
inline bool enterRaces(Warp &warp, uint32_t active) {
  Moment moment = warp.momentOf(std::countr_zero(active));
  warp.block.globalRaces.enter(moment);
  warp.block.sharedRaces.enter(moment);
  return warp.isOneMoment(active);
}

/// `isFast` is the result of `enterRaces` for lanes with this one.
inline const uint8_t *toRead(Warp &warp, unsigned lane, ptx::Space space, uint64_t address,
                             unsigned bytes, Access access, bool isFast, bool isOfCall = false) {
  Block &block = warp.block;
  if (isFast && space == ptx::Space::Global) {
    const uint8_t *from = block.memory.toRead(address, bytes);
    if (from && block.globalRaces.tryAdd(address, bytes, access, lane))
      return from;
  } else if (isFast && space == ptx::Space::Shared && !(address & (bytes - 1)) &&
             block.isShared(address, bytes) && block.shared.isWritten(address, bytes)) {
    if (block.sharedRaces.tryAdd(address, bytes, access, lane))
      return block.shared.at(address);
  }
  return toReadSlow(warp, lane, space, address, bytes, access, isOfCall);
}

inline uint8_t *toWrite(Warp &warp, unsigned lane, ptx::Space space, uint64_t address,
                        unsigned bytes, Access access, bool isFast, bool isOfCall = false) {
  Block &block = warp.block;
  if (isFast && space == ptx::Space::Global) {
    uint8_t *to = block.memory.toWrite(address, bytes);
    if (to && block.globalRaces.tryAdd(address, bytes, access, lane))
      return to;
  } else if (isFast && space == ptx::Space::Shared && !(address & (bytes - 1)) &&
             block.isShared(address, bytes) &&
             block.sharedRaces.tryAdd(address, bytes, access, lane)) {
    block.shared.setWritten(address, bytes);
    return block.shared.at(address);
  }
  return toWriteSlow(warp, lane, space, address, bytes, access, isOfCall);
}

/// The same for bytes that are read and written at once.
uint8_t *toUpdate(Warp &warp, unsigned lane, ptx::Space space, uint64_t address, unsigned bytes,
                  bool isFast);

/// Checks an access of all active lanes to one space together, after `enterRaces`. Returns the byte
/// with the address `origin`, to which the lanes' addresses are relative, or null if the lanes have
/// to be checked one by one.
uint8_t *toAccessTogether(Warp &warp, const LaneAddresses &addresses, uint32_t active,
                          unsigned bytes, Access access, bool isWrite, uint64_t &origin);

/// Fails if shared bytes are outside of the block's memory, or not aligned.
bool checkShared(Warp &warp, unsigned lane, uint64_t address, unsigned bytes);
/// Fails if an access of shared or global bytes races with an earlier one.
bool checkRace(Warp &warp, unsigned lane, Races &races, uint64_t address, unsigned bytes,
               Access access);

/// Counts the accesses of an instruction.
void countAccesses(Counters &counters, const LaneAddresses &addresses, unsigned bytes,
                   bool isWrite);
/// The passes that an access of shared memory takes, beyond those without bank conflicts.
unsigned countConflicts(const uint64_t *addresses, uint32_t lanes, unsigned bytes);
/// The sectors of 32 bytes that an access touches.
unsigned countSectors(const uint64_t *addresses, uint32_t lanes, unsigned bytes);

} // namespace tfc::gpu
