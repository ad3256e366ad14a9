//===- Random.h - Numbers that are the same on every machine --------------===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tfc::random {

/// FNV-1a.
inline uint64_t hash(llvm::StringRef text) {
  uint64_t result = 0xcbf29ce484222325;
  for (char c : text)
    result = (result ^ uint8_t(c)) * 0x100000001b3;
  return result;
}

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  /// SplitMix64.
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// The start of a stream of its own.
  Random fork() { return Random(next()); }
  /// A separate stream for draws of few statements, so that these do not change the numbers of
  /// others.
  Random apart(llvm::StringRef name) const { return Random(Random(*this).next() ^ hash(name)); }
  /// From 0 up to but not including `count`.
  int64_t below(int64_t count) { return int64_t(next() % uint64_t(count)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// From 0 to 1.
  double unit() { return double(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }
  template <typename Range> auto &pick(Range &&range) {
    return *(std::begin(range) + below(std::end(range) - std::begin(range)));
  }

private:
  uint64_t state;
};

} // namespace tfc::random
