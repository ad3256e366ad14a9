// The properties of a target on which the code of single elements depends.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tfc::kernels {

/// The properties of a target that the emitters of elements depend on.
struct LaneTarget {
  /// Bits of a vector register; 0 if elements are scalars, because the lanes are threads.
  int64_t vectorBits = 0;
  /// True if a multiplication and an addition can be fused.
  bool hasFma = false;
  /// True if an element that a select drops is not loaded: elsewhere it is loaded from memory that
  /// can be read, whatever that holds. Only without vectors.
  bool guardsLoads = false;

  /// Returns the number of lanes of a vector register for elements of `bits` bits.
  int64_t lanes(int64_t bits) const { return std::max<int64_t>(vectorBits / bits, 1); }
};

} // namespace tfc::kernels
