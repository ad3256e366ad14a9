// Trains a network whose layers are on two devices:
//
//   tfc compile split.graph -o libsplit.so
//   cc app.c libsplit.so -o app
//   ./app split.safetensors

#include "split.h"

#include <stdio.h>
#include <stdlib.h>

enum { kRows = 512, kFeatures = 16, kBatch = 64, kSteps = 400 };

static float rows[kRows][kFeatures];
static int32_t labels[kRows];

static void expect(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "app: error: %s\n", what);
  exit(1);
}

/// Random rows in [-1, 1); the class is the number of positive values among the first nine.
static void makeRows(void) {
  uint32_t state = 1;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kFeatures; ++j) {
      state = state * 1664525u + 1013904223u;
      rows[i][j] = (float)(state >> 8) / 8388608.0f - 1.0f;
      labels[i] += j < 9 && rows[i][j] > 0.0f;
    }
  }
}

static void printDevices(void) {
  const tfc_library *library = split_library();
  tfc_device device;
  for (int32_t i = 0; library->api->device(library->model, i, &device) == TFC_OK; ++i)
    printf("device: %s\n", device.name);
}

/// An instance with one thread for each device.
static split *create(void) {
  tfc_device_options devices[] = {{.name = "cpu:0", .threads = 1}, {.name = "cpu:1", .threads = 1}};
  tfc_options options = {.size = sizeof options, .devices = devices, .device_count = 2};
  split *model;
  expect(split_create(&options, &model) == TFC_OK, split_message(NULL));
  return model;
}

static void createWithoutDevice(void) {
  tfc_device_options devices[] = {{.name = "cpu:0"}};
  tfc_options options = {.size = sizeof options, .devices = devices, .device_count = 1};
  split *model;
  tfc_status status = split_create(&options, &model);
  printf("%d: %s\n", status, split_message(NULL));
  expect(status == TFC_NO_DEVICE && !model, "cpu:1 is not there");
}

static void train(split *model) {
  float loss;
  for (int step = 0; step < kSteps; ++step) {
    int first = step * kBatch % kRows;
    tfc_status status = split_train(model, kBatch, rows[first], &labels[first], &loss);
    expect(status == TFC_OK, split_message(model));
    if (step % 50 == 0 || step == kSteps - 1)
      printf("step %d: loss %.7f\n", step, loss);
  }
}

/// A label that is out of range fails the call on both devices.
static void trainWrongly(split *model) {
  int32_t wrong[2] = {3, 10};
  float loss;
  tfc_status status = split_train(model, 2, rows[0], wrong, &loss);
  printf("%d: %s\n", status, split_message(model));
  expect(status == TFC_OUT_OF_RANGE, "10 is no class");
}

static void printAccuracy(split *model) {
  int32_t classes[kRows / 2];
  int right = 0;
  for (int first = 0; first < kRows; first += kRows / 2) {
    tfc_status status = split_infer(model, kRows / 2, rows[first], classes);
    expect(status == TFC_OK, split_message(model));
    for (int i = 0; i < kRows / 2; ++i)
      right += classes[i] == labels[first + i];
  }
  printf("%d of %d rows right\n", right, kRows);
}

int main(int argc, char **argv) {
  expect(argc == 2, "usage: ./app CHECKPOINT");
  makeRows();
  printDevices();
  createWithoutDevice();
  split *model = create();
  train(model);
  trainWrongly(model);
  printAccuracy(model);
  expect(split_save(model, argv[1]) == TFC_OK, split_message(model));
  split_destroy(model);
  return 0;
}
