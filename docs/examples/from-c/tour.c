// The code of docs/using-from-c.md as one program, which checks its results:
//
//   tfc compile line.graph -o libline.so
//   cc tour.c libline.so -o tour -lpthread
//   ./tour

#include "line.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPoints = 100 };

static float points[kPoints][3];
static float values[kPoints];

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "not as expected: %s\n", what);
    exit(1);
  }
}

/// y = 1 x0 - 2 x1 + 3 x2 + 0.5
static void makePoints(void) {
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < 3; ++j)
      points[i][j] = (float)((i * (7 + 4 * j)) % 19) / 9.5f - 1.0f;
    values[i] = points[i][0] - 2 * points[i][1] + 3 * points[i][2] + 0.5f;
  }
}

static line *makeTrained(void) {
  line *model;
  if (line_create(NULL, &model) != TFC_OK) {
    fprintf(stderr, "create failed: %s\n", line_message(NULL));
    exit(1);
  }
  float loss = 0;
  for (int step = 0; step < 300; ++step) {
    if (line_train(model, kPoints, points[0], values, &loss) != TFC_OK) {
      fprintf(stderr, "train failed: %s\n", line_message(model));
      exit(1);
    }
  }
  printf("loss after 300 steps: %g\n", loss);
  expect(loss < 1e-6f, "the training converged");
  return model;
}

static void callWrongly(line *model) {
  float y[2], loss;
  int32_t index[2] = {1, 7};

  tfc_status status = line_train(model, 101, points[0], values, &loss);
  printf("%d: %s\n", status, line_message(model));
  expect(status == TFC_OUT_OF_RANGE, "n exceeds its bound");

  status = line_train(model, 2, NULL, values, &loss);
  printf("%d: %s\n", status, line_message(model));
  expect(status == TFC_INVALID_ARGUMENT, "x is null");

  status = line_pick(model, 4, 2, values, index, y);
  printf("%d: %s\n", status, line_message(model));
  expect(status == TFC_OUT_OF_RANGE, "index 7 of 4 values");
}

static void useVariables(line *model) {
  int64_t dims[] = {3};
  float weight[3];
  tfc_tensor tensor = {TFC_F32, 1, dims, weight};
  line_get(model, "weight", &tensor);
  printf("weight: %.3f %.3f %.3f\n", weight[0], weight[1], weight[2]);
  expect(fabsf(weight[1] + 2) < 1e-2f, "the second weight is -2");

  weight[0] = 10;
  line_set(model, "weight", &tensor);

  float x[3] = {1, 0, 0}, y;
  line_predict(model, 1, x, &y);
  expect(fabsf(y - 10.5f) < 1e-2f, "the new weight is used");

  tensor.rank = 0;
  expect(line_get(model, "weight", &tensor) == TFC_INVALID_ARGUMENT, "the rank is wrong");
  printf("%s\n", line_message(model));
}

static void saveAndLoad(line *model, const char *path) {
  line *other;
  line_create(NULL, &other);
  if (line_save(model, path) != TFC_OK)
    fprintf(stderr, "%s\n", line_message(model));
  if (line_load(other, path) != TFC_OK)
    fprintf(stderr, "%s\n", line_message(other));

  float a[kPoints], b[kPoints];
  line_predict(model, kPoints, points[0], a);
  line_predict(other, kPoints, points[0], b);
  expect(memcmp(a, b, sizeof a) == 0, "the loaded model predicts the same bits");

  expect(line_load(other, "nowhere.safetensors") == TFC_NOT_FOUND, "there is no such file");
  printf("%s\n", line_message(other));
  line_destroy(other);
}

static void *predictManyTimes(void *handle) {
  static _Thread_local float y[kPoints];
  for (int i = 0; i < 100; ++i)
    if (line_predict(handle, kPoints, points[0], y) != TFC_OK)
      return "predict failed";
  return NULL;
}

static void useThreads(line *model) {
  line *second;
  line_fork(model, &second); // the same variables, for another thread
  pthread_t thread;
  pthread_create(&thread, NULL, predictManyTimes, second);
  float loss;
  for (int i = 0; i < 100; ++i)
    line_train(model, kPoints, points[0], values, &loss);
  void *error;
  pthread_join(thread, &error);
  expect(!error, "both threads used the variables");
  line_destroy(second);
}

static void callByName(line *model) {
  const tfc_library *library = line_library();
  tfc_instance *instance = (tfc_instance *)model;
  int64_t xDims[] = {2, 3}, yDims[] = {2};
  float y[2];
  tfc_tensor feed = {TFC_F32, 2, xDims, points[0]}, fetch = {TFC_F32, 1, yDims, y};
  tfc_status status = library->api->call(instance, "predict", &feed, 1, &fetch, 1);
  expect(status == TFC_OK, library->api->message(instance));

  tfc_entry entry;
  for (int32_t i = 0; library->api->entry(library->model, i, &entry) == TFC_OK; ++i)
    printf("entry %s: %d feeds, %d fetches\n", entry.name, entry.feed_count, entry.fetch_count);
}

static void *countedAllocate(void *context, size_t bytes, size_t alignment) {
  ++*(int *)context;
  void *memory;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void countedRelease(void *context, void *memory, size_t bytes) {
  (void)bytes;
  --*(int *)context;
  free(memory);
}

static void giveOptions(void) {
  int blocks = 0;
  tfc_options options = {.size = sizeof options};
  options.threads = 1;
  options.allocate = countedAllocate;
  options.release = countedRelease;
  options.allocator_context = &blocks;
  line *model;
  expect(line_create(&options, &model) == TFC_OK, line_message(NULL));
  expect(blocks > 0, "the instance uses the given allocator");
  line_destroy(model);
  expect(blocks == 0, "all memory is released");
}

int main(int argc, char **argv) {
  makePoints();
  line *model = makeTrained();
  callWrongly(model);
  saveAndLoad(model, argc > 1 ? argv[1] : "line.safetensors");
  useThreads(model);
  callByName(model);
  useVariables(model);
  line_destroy(model);
  giveOptions();
  printf("all as expected\n");
  return 0;
}
