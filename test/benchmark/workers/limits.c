// Measures the limits of the processor, for comparison; workers/protocol.py describes the messages
// on standard input and output. `check TASK` answers with the work of one call: floating-point
// operations or bytes.
//
//   cc -O3 -march=native limits.c -o limits

#include "../../../tools/tfc/LimitLoops.h"

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
  kRounds = 20000,
  kBytes = 256 << 20 // far beyond the caches
};

TFC_DEFINE_FMA(chainsF32, float, VECTOR_BYTES, )
TFC_DEFINE_FMA(chainsF64, double, VECTOR_BYTES, )
TFC_DEFINE_READ(readAll, VECTOR_BYTES, )

static char *memory;
static volatile double sink; // what is stored here has to be computed

static void fmaF32(void) { sink = chainsF32(kRounds); }

static void fmaF64(void) { sink = chainsF64(kRounds); }

static void readMemory(void) { sink = readAll(memory, kBytes); }

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
