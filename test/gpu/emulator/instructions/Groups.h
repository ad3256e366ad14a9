//===- Groups.h - Lanes that execute an instruction together --------------===//
//
// Instructions with .sync wait until all lanes of their mask have arrived at
// the same instruction with the same mask.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Warp.h"

namespace tfc::gpu {

/// Lets a lane arrive with a mask. Returns the lanes of the mask if all of them are there now, else
/// 0. Fails if the mask lacks the lane, or names lanes that have exited or never were.
uint32_t arriveInGroup(Warp &warp, unsigned lane, uint32_t mask, bool isAtOnePlace);
/// Lets the lanes of a complete group go on.
void releaseGroup(Warp &warp, uint32_t lanes);

/// Calls `body(lanes)` for each group that is complete with the active lanes; others wait. Mask is
/// the row of the masks. With `isAtOnePlace`, the lanes must be at this instruction.
template <typename Body>
void forEachGroup(Warp &warp, Row mask, uint32_t active, bool isAtOnePlace, Body body) {
  const uint64_t *masks = warp.cells(mask);
  auto first = static_cast<uint32_t>(masks[std::countr_zero(active)]);
  bool isWhole = first == active;
  forEachLane(active, [&](unsigned lane) { isWhole &= masks[lane] == first; });
  if (isWhole) // nobody has to wait
    return body(active);
  forEachLane(active, [&](unsigned lane) {
    if (uint32_t lanes =
            arriveInGroup(warp, lane, static_cast<uint32_t>(masks[lane]), isAtOnePlace)) {
      body(lanes);
      releaseGroup(warp, lanes);
    }
  });
}

} // namespace tfc::gpu
