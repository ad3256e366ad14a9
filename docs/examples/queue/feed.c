// Trains on one thread from a queue that another one fills.
#include "stream.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(int holds, const stream *model) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", stream_message(model));
  exit(1);
}

static float between(uint32_t *state, float lower, float upper) {
  *state = *state * 1664525u + 1013904223u;
  return lower + (upper - lower) * (*state >> 8) / 16777216.0f;
}

/// 400 batches of 10 points of y = 2 x0 - x1 + 0.5 x2.
static void *feed(void *handle) {
  stream *model = handle;
  uint32_t state = 1;
  for (int batch = 0; batch < 400; ++batch) {
    float x[10][3], y[10];
    for (int i = 0; i < 10; ++i) {
      for (int k = 0; k < 3; ++k)
        x[i][k] = between(&state, -1, 1);
      y[i] = 2 * x[i][0] - x[i][1] + 0.5f * x[i][2];
    }
    expect(stream_feed(model, 10, x[0], y) == TFC_OK, model);
  }
  stream_queue_close(model, "points", 0);
  return NULL;
}

int main(void) {
  stream *model, *feeder;
  expect(stream_create(NULL, &model) == TFC_OK, NULL);
  expect(stream_fork(model, &feeder) == TFC_OK, model);
  pthread_t thread;
  pthread_create(&thread, NULL, feed, feeder);

  float loss = 0;
  tfc_status status;
  while ((status = stream_train(model, &loss)) == TFC_OK) {
  }
  printf("%s\n", stream_message(model));
  expect(status == TFC_CLOSED, model); // all points have been used
  pthread_join(thread, NULL);
  stream_destroy(feeder);

  int64_t steps, left, dims[] = {3};
  float weight[3];
  stream_get(model, "steps", &(tfc_tensor){TFC_I64, 0, NULL, &steps});
  stream_get(model, "weight", &(tfc_tensor){TFC_F32, 1, dims, weight});
  stream_queue_size(model, "points", &left);
  printf("%d steps, %d points left, weight %.3f %.3f %.3f\n", (int)steps, (int)left, weight[0],
         weight[1], weight[2]);
  printf("%s\n", stream_train(model, &loss) == TFC_OK ? "trained" : stream_message(model));
  stream_destroy(model);
}
