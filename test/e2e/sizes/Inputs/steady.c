// Counts allocations of calls after the first one; their data-dependent sizes differ.
#include "found.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long count;

static void *take(void *context, size_t bytes, size_t alignment) {
  (void)context;
  ++count;
  void *memory = NULL;
  return posix_memalign(&memory, alignment < 8 ? 8 : alignment, bytes) ? NULL : memory;
}
static void give(void *context, void *memory, size_t bytes) {
  (void)context;
  (void)bytes;
  free(memory);
}

int main(void) {
  static float x[256][4], kept[256][4];
  tfc_options options = {.size = sizeof options, .allocate = take, .release = give};
  found *model;
  float loss;
  int64_t k, wrong = 0;
  for (int i = 0; i < 256; ++i)
    x[i][0] = (float)i;
  if (found_create(&options, &model))
    return 1;
  long before = count;
  for (int step = 0; step < 100; ++step) {
    float above = (float)(step * 3 % 257) - 1;
    if (found_train(model, 256, x[0], &above, &loss, kept[0], &k))
      return 1;
    wrong += k != 255 - (int64_t)above;
  }
  printf("%ld allocations before, %ld in 100 calls, %lld sizes wrong\n", before, count - before,
         (long long)wrong);
  if (found_train(model, 256, x[0], &(float){0}, &loss, kept[0], NULL))
    return 1;
  found_destroy(model);
  return 0;
}
