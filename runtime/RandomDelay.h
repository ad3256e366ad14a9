//===- RandomDelay.h - Delays of messages, for tests ----------------------===//

#pragma once

#ifdef TFC_RANDOM_DELAYS
#include <stdint.h>
#include <unistd.h>
#endif

namespace tfc::runtime {

/// In a test build (TFC_RANDOM_DELAYS), lets the thread sleep for up to 0.2 ms now and then, so
/// that devices overtake each other in many ways. Otherwise does nothing.
inline void delayAtRandom() {
#ifdef TFC_RANDOM_DELAYS
  static thread_local uint64_t state = 0;
  state = (state ? state : reinterpret_cast<uintptr_t>(&state)) * 6364136223846793005u + 1;
  if (state >> 61 == 0)
    usleep((state >> 32) % 200);
#endif
}

} // namespace tfc::runtime
