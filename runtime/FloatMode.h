// Sets the floating-point mode in which compiled code runs, and in which files are read.
#pragma once

#include <stdint.h>

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
#elif defined(__aarch64__)
  DenormalMode() : saved(read()) { write(flushes ? saved | kFlush : saved & ~kFlush); }
  ~DenormalMode() { write(saved); }

private:
  static constexpr uint64_t kFlush = uint64_t(1) << 24; // FZ of FPCR: operands and results
  static uint64_t read() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void write(uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
  uint64_t saved;
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
