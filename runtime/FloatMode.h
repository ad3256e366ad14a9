// Sets the floating-point mode in which compiled code runs.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tfc::runtime {

/// During its lifetime, denormal numbers count as zero in this thread's arithmetic.
///
/// Slots of optimizers decay into that range when gradients vanish, and arithmetic on denormal
/// numbers is many times slower. The destructor restores the caller's mode.
class FlushDenormals {
public:
#if defined(__x86_64__)
  FlushDenormals() : saved(_mm_getcsr()) { _mm_setcsr(saved | kFlushToZero | kDenormalsAreZero); }
  ~FlushDenormals() { _mm_setcsr(saved); }

private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  unsigned saved;
#else
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
public:
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;
};

/// During its lifetime, denormal numbers are what they are: for numbers that files have.
class KeepDenormals {
public:
#if defined(__x86_64__)
  KeepDenormals() : saved(_mm_getcsr()) { _mm_setcsr(saved & ~kFlags); }
  ~KeepDenormals() { _mm_setcsr(saved); }

private:
  static constexpr unsigned kFlags = 0x8040; // flush to zero, denormals are zero
  unsigned saved;
#else
  KeepDenormals() {}
  ~KeepDenormals() {}
#endif
public:
  KeepDenormals(const KeepDenormals &) = delete;
  KeepDenormals &operator=(const KeepDenormals &) = delete;
};

} // namespace tfc::runtime
