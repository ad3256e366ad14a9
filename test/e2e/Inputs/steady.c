// Counts the heap allocations of the whole process in training steps after the first one.
#define _GNU_SOURCE
#ifdef RECURRENT
#include "recurrent.h"
#else
#include "digits.h"
#endif

#include <stdio.h>
#include <stdlib.h>

static _Atomic long count;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  ++count;
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  ++count;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : 12;
}

#ifdef RECURRENT
int main(void) {
  static float x[64][4], trace[64];
  recurrent *model;
  float loss = 0;
  int32_t steps = 60; // the longest: memory is made for it once
  if (recurrent_create(NULL, &model) || recurrent_train(model, 64, x[0], &steps, &loss, trace))
    return 1;
  printf("%s\n", count > 0 ? "the counter works" : "nothing is counted");
  long before = count;
  for (int step = 0; step < 100; ++step) {
    steps = step % 61;
    if (recurrent_train(model, 1 + step % 64, x[0], &steps, &loss, trace))
      return 1;
  }
  long during = count - before;
  printf("allocations in 100 steps: %ld\n", during);
  recurrent_destroy(model);
  return 0;
}
#else
int main(int argc, char **argv) {
  static float x[256][64], logit[256][10];
  static int32_t label[256], class_[256];
  for (int i = 0; i < 256; ++i) {
    label[i] = i % 10;
    for (int j = 0; j < 64; ++j)
      x[i][j] = (float)((i * 7 + j * 3) % 17);
  }
  tfc_options options = {.size = sizeof options, .threads = argc > 1 ? atoi(argv[1]) : 1};
  digits *model;
  float loss = 0;
  if (digits_create(&options, &model) || digits_train(model, 256, x[0], label, &loss))
    return 1;
  printf("%s\n", count > 0 ? "the counter works" : "nothing is counted");

  long before = count;
  for (int step = 0; step < 100; ++step) {
    int n = step % 2 ? 64 : 200; // sizes up to the bound that the arena was made for
    if (digits_train(model, n, x[0], label, &loss) || digits_infer(model, n, x[0], class_) ||
        digits_score(model, n, x[0], logit[0]))
      return 1;
  }
  long during = count - before;
  printf("allocations in 100 steps: %ld\n", during);
  digits_destroy(model);
  return 0;
}
#endif
