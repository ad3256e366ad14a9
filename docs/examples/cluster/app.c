// Trains a network in three processes:
//
//   tfc compile train.graph --cluster ps=1,worker=2 -o libtrain.so
//   mpicc app.c libtrain.so libtfcmpi.so -o app
//   mpirun -n 3 ./app

#include "train.h"

#include "tfc_mpi.h"

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

/// The first process has the data; the others take part in each step without.
static void fit(train *model, int isFirst) {
  for (int step = 0; step < kSteps; ++step) {
    int first = step * kBatch % kRows;
    float loss;
    tfc_status status = train_train(model, kBatch, isFirst ? &rows[first][0] : NULL,
                                    isFirst ? &labels[first] : NULL, isFirst ? &loss : NULL);
    expect(status == TFC_OK, train_message(model));
    if (isFirst && step % 50 == 49)
      printf("step %d: loss %.4f\n", step + 1, loss);
  }
}

/// A label that is no class fails the step in all processes.
static void trainWithInvalidLabel(train *model, int task) {
  int32_t invalid[kBatch] = {[kBatch - 1] = 10};
  float loss;
  tfc_status status = train_train(model, kBatch, &rows[0][0], invalid, &loss);
  printf("task %d: %d: %s\n", task, status, train_message(model));
  expect(status == TFC_OUT_OF_RANGE, "there are ten classes");
}

int main(void) {
  makeRows();
  tfc_transport *transport;
  expect(tfc_mpi_open(&transport) == TFC_OK, tfc_mpi_message());
  tfc_options options = {.size = sizeof options, .transport = transport, .task_timeout_ms = 60000};
  train *model;
  expect(train_create(&options, &model) == TFC_OK, train_message(NULL));
  fit(model, transport->task == 0);
  trainWithInvalidLabel(model, transport->task);
  train_destroy(model);
  tfc_mpi_close(transport);
  return 0;
}
