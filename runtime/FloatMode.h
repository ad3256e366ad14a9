// Sets the floating-point mode in which compiled code runs, and in which files are read.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tfc::runtime {

/// During its lifetime, denormal numbers count as zero in this thread's arithmetic, or do not. The
/// destructor restores the caller's mode.
template <bool flushes> class DenormalMode {
public:
#if defined(__x86_64__)
  DenormalMode() : saved(_mm_getcsr()) { _mm_setcsr(flushes ? saved | kFlags : saved & ~kFlags); }
  ~DenormalMode() { _mm_setcsr(saved); }

private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040,
                            kFlags = kFlushToZero | kDenormalsAreZero;
  unsigned saved;
#else
  DenormalMode() {}
  ~DenormalMode() {}
#endif
public:
  DenormalMode(const DenormalMode &) = delete;
  DenormalMode &operator=(const DenormalMode &) = delete;
};

/// For compiled code: slots of optimizers decay into that range when gradients vanish, and
/// arithmetic on denormal numbers is many times slower.
using FlushDenormals = DenormalMode<true>;
/// For numbers that files have.
using KeepDenormals = DenormalMode<false>;

} // namespace tfc::runtime
