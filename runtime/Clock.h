//===- Clock.h - The time -------------------------------------------------===//

#pragma once

#include <stdint.h>
#include <time.h>

namespace tfc::runtime {

/// The nanoseconds of CLOCK_MONOTONIC.
inline int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t(1'000'000'000) + now.tv_nsec;
}

} // namespace tfc::runtime
