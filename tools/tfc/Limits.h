// The limits of this machine, which a profile compares kernels with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfc {

/// A cache, or the memory, and the speed at which threads read it.
struct MemoryLevel {
  std::string name; // L1, L2, L3, memory
  int64_t bytes; // that a thread may use, of a shared cache its part; of memory the largest number
  double bytesPerSecond = 0; // of all threads
};

struct MachineLimits {
  int threads = 1;
  double flops = 0;                // multiply-adds of f32, two operations each, a second
  std::vector<MemoryLevel> levels; // the nearest first; the last is memory

  /// Returns the nearest level that holds `bytes`, which are divided among the threads.
  const MemoryLevel &levelOf(double bytes) const;
};

/// Measures the limits of `threads` threads that run at once, which takes some tenths of a second.
MachineLimits measureLimits(int threads);

} // namespace tfc
