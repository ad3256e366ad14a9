// Loops that reach a limit of the processor, for `tfc profile` and for the benchmarks
// (test/benchmark/workers/limits.c), in C and C++. Each of them is defined for vectors of BYTES
// bytes; TARGET is an attribute with the features of the processor that these need, or nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  kChains = 12 // independent chains hide the latency of 4 to 5 cycles at 2 a cycle
};

// A function that makes `rounds` multiply-adds in each of kChains chains and returns a number to
// which all contribute. x * a + b with |a| < 1 neither grows nor fades.
#define TFC_DEFINE_FMA(NAME, SCALAR, BYTES, TARGET)                                                \
  TARGET static double NAME(int rounds) {                                                          \
    typedef SCALAR Vector __attribute__((vector_size(BYTES)));                                     \
    Vector a = {0}, b = {0}, x[kChains];                                                           \
    a += (SCALAR)0.5;                                                                              \
    b += (SCALAR)0.5;                                                                              \
    for (int i = 0; i < kChains; ++i)                                                              \
      x[i] = b * (SCALAR)i;                                                                        \
    TFC_OPAQUE(a);                                                                                 \
    TFC_OPAQUE(b);                                                                                 \
    for (int round = 0; round < rounds; ++round) {                                                 \
      _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) x[i] = x[i] * a + b;              \
    }                                                                                              \
    for (int i = 1; i < kChains; ++i)                                                              \
      x[0] += x[i];                                                                                \
    return (double)x[0][0];                                                                        \
  }

// Hides the value of a vector from the compiler.
#if defined(__x86_64__)
#define TFC_OPAQUE(VECTOR) __asm__ volatile("" : "+v"(VECTOR))
#elif defined(__aarch64__)
#define TFC_OPAQUE(VECTOR) __asm__ volatile("" : "+w"(VECTOR))
#else
#define TFC_OPAQUE(VECTOR) __asm__ volatile("" : "+m"(VECTOR))
#endif

// A function that reads `bytes` of memory, a multiple of 4 * BYTES.
#define TFC_DEFINE_READ(NAME, BYTES, TARGET)                                                       \
  TARGET static double NAME(const void *memory, size_t bytes) {                                    \
    typedef uint64_t Vector __attribute__((vector_size(BYTES)));                                   \
    const Vector *data = (const Vector *)memory;                                                   \
    Vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                                 \
    for (size_t i = 0; i < bytes / sizeof(Vector); i += 4) {                                       \
      s0 += data[i];                                                                               \
      s1 += data[i + 1];                                                                           \
      s2 += data[i + 2];                                                                           \
      s3 += data[i + 3];                                                                           \
    }                                                                                              \
    s0 += s1 + s2 + s3;                                                                            \
    return (double)s0[0];                                                                          \
  }
