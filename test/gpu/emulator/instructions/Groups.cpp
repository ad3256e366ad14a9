//===- Groups.cpp - Lanes that execute an instruction together ------------===//
//
// Arrival and release of lanes, for shuffles, votes and barriers of a warp alike.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Groups.h"
#include "test/gpu/emulator/execute/Block.h"

namespace tfc::gpu {

uint32_t arriveInGroup(Warp &warp, unsigned lane, uint32_t mask, bool isAtOnePlace) {
  if (!(mask >> lane & 1)) {
    warp.fail(lane, "the mask " + inHexadecimal(mask) + " does not contain the lane " +
                        std::to_string(lane) + " that executes the instruction");
    return 0;
  }
  if (uint32_t gone = mask & ~warp.getAlive()) {
    warp.fail(lane, "the mask " + inHexadecimal(mask) + " contains the lane " +
                        std::to_string(std::countr_zero(gone)) + ", which has exited");
    return 0;
  }
  warp.waitMasks[lane] = mask;
  uint32_t arrived = 0;
  warp.suspend(1u << lane);
  forEachLane(mask, [&](unsigned other) {
    bool isThere = warp.waitMasks[other] == mask &&
                   warp.instructionOf(other).execute == warp.instructionOf(lane).execute &&
                   (!isAtOnePlace || warp.placeOf(other) == warp.placeOf(lane));
    arrived |= uint32_t(isThere) << other;
  });
  return arrived == mask ? mask : 0;
}

void releaseGroup(Warp &warp, uint32_t lanes) {
  forEachLane(lanes, [&](unsigned lane) { warp.waitMasks[lane] = 0; });
  warp.resume(lanes);
}

} // namespace tfc::gpu
