// Measures the limits of the processor, for comparison; workers/protocol.py describes the messages
// on standard input and output. `check TASK` answers with the work of one call: floating-point
// operations or bytes.
//
//   cc -O3 -march=native limits.c -o limits

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

enum {
  kChains = 12, // independent chains hide the latency of 4 to 5 cycles at 2 a cycle
  kRounds = 20000,
  kBytes = 256 << 20 // far beyond the caches
};

typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));

static char *memory;
static volatile double sink; // what is stored here has to be computed

// One multiply-add in each of kChains chains, kRounds times. The chains are named so that they stay
// in registers: x * a + b with |a| < 1 neither grows nor fades.
#define DEFINE_FMA(NAME, VECTOR, SCALAR)                                                           \
  static void NAME(void) {                                                                         \
    VECTOR a = {0}, b = {0}, x[kChains];                                                           \
    a += (SCALAR)0.5;                                                                              \
    b += (SCALAR)0.5;                                                                              \
    for (int i = 0; i < kChains; ++i)                                                              \
      x[i] = b * (SCALAR)i;                                                                        \
    __asm__ volatile("" : "+v"(a), "+v"(b));                                                       \
    for (int round = 0; round < kRounds; ++round) {                                                \
      _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) x[i] = x[i] * a + b;              \
    }                                                                                              \
    for (int i = 1; i < kChains; ++i)                                                              \
      x[0] += x[i];                                                                                \
    sink = (double)x[0][0];                                                                        \
  }

DEFINE_FMA(fmaF32, floats, float)
DEFINE_FMA(fmaF64, doubles, double)

static void readMemory(void) {
  const words *data = (const words *)memory;
  words sums[4] = {{0}};
  for (size_t i = 0; i < kBytes / sizeof(words); i += 4)
    for (int j = 0; j < 4; ++j)
      sums[j] += data[i + (size_t)j];
  sums[0] += sums[1] + sums[2] + sums[3];
  sink = (double)sums[0][0];
}

static void copyMemory(void) {
  memcpy(memory, memory + kBytes / 2, kBytes / 2);
  sink = memory[kBytes / 4];
}

static const struct {
  const char *name;
  void (*run)(void);
  double work;
} kTasks[] = {
    {"fma_f32", fmaF32, 2.0 * kChains * kRounds * (VECTOR_BYTES / sizeof(float))},
    {"fma_f64", fmaF64, 2.0 * kChains * kRounds * (VECTOR_BYTES / sizeof(double))},
    {"read", readMemory, kBytes},
    {"copy", copyMemory, kBytes},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answerTime(void (*run)(void), double seconds) {
  int count = 0;
  printf("[");
  for (double end = now() + seconds, start; (start = now()) < end || count < 3; ++count) {
    run();
    printf("%s%.3f", count ? "," : "", (now() - start) * 1e6);
  }
  printf("]\n");
}

int main(void) {
  memory = aligned_alloc(64, kBytes);
  if (!memory)
    return 1;
  memset(memory, 1, kBytes);
  printf("{\"name\": \"limits\", \"version\": \"%d-bit vectors\"}\n", VECTOR_BYTES * 8);
  fflush(stdout);
  char line[256], command[16], name[128];
  while (fgets(line, sizeof line, stdin)) {
    double seconds = 0;
    if (sscanf(line, "%15s %127s %lf", command, name, &seconds) < 2)
      return 1;
    for (size_t i = 0; i < sizeof kTasks / sizeof *kTasks; ++i) {
      if (strcmp(kTasks[i].name, name))
        continue;
      if (!strcmp(command, "check"))
        printf("[%.9g]\n", kTasks[i].work);
      else
        answerTime(kTasks[i].run, seconds);
    }
    fflush(stdout);
  }
  return 0;
}
