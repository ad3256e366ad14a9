// Trains a network by two workers that do not wait for each other:
//
//   tfc compile train.graph --cluster ps=1,worker=2 -o libtrain.so
//   mpicc app.c libtrain.so libtfcmpi.so -o app
//   mpirun -n 3 ./app

#include "train.h"

#include "tfc_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { kRows = 512, kFeatures = 16, kBatch = 64, kSteps = 1000 };

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

/// The workers go through the rows from different ones on.
static void fit(train *model, int worker) {
  float loss = 0.0f;
  for (int step = 0; step < kSteps; ++step) {
    int first = (worker * kRows / 2 + step * kBatch) % kRows;
    tfc_status status = train_compute(model, kBatch, &rows[first][0], &labels[first], &loss);
    expect(status == TFC_OK, train_message(model));
    expect(train_apply(model) == TFC_OK, train_message(model));
  }
  printf("worker %d: loss %.3f\n", worker, loss);
}

static void classify(train *model) {
  int32_t classes[kRows];
  int right = 0;
  expect(train_classify(model, kRows, &rows[0][0], classes) == TFC_OK, train_message(model));
  for (int i = 0; i < kRows; ++i)
    right += classes[i] == labels[i];
  printf("%d of %d are right\n", right, kRows);
}

int main(void) {
  makeRows();
  tfc_transport *transport;
  expect(tfc_mpi_open(&transport) == TFC_OK, tfc_mpi_message());
  tfc_options options = {.size = sizeof options,
                         .transport = transport,
                         .task_timeout_ms = 60000,
                         .call_mode = TFC_CALL_ALONE};
  train *model;
  expect(train_create(&options, &model) == TFC_OK, train_message(NULL));
  if (transport->task == 0)
    expect(train_serve(model) == TFC_OK, train_message(model));
  else
    fit(model, transport->task - 1);
  if (transport->task == 2)
    classify(model);
  train_destroy(model);
  tfc_mpi_close(transport);
  return 0;
}
