// Trains the network of the digits example in four processes by one of several schemes, or in one:
//
//   tfc compile schemes.graph --cluster ps=1,worker=3 -o libschemes.so
//   mpicc app.c libschemes.so libtfcmpi.so -o app
//   ./app one ../digits/digits.csv
//   mpirun -n 4 ./app asynchronous ../digits/digits.csv

#include "schemes.h"

#include "tfc_mpi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kPixels = 64,
  kRows = 1797,
  kTrainRows = 1437,
  kTestRows = kRows - kTrainRows,
  kWorkers = 3,
  kPart = 32,                // rows of a worker in a step
  kBatch = kWorkers * kPart, // rows of a step
  kSteps = 600
};

typedef struct row {
  float pixels[kPixels];
  int32_t label;
} row;

typedef struct batch {
  float pixels[kBatch][kPixels];
  int32_t labels[kBatch];
} batch;

typedef tfc_status train_entry(schemes *, int64_t, const float *, const int32_t *, float *);
typedef tfc_status classify_entry(schemes *, int64_t, const float *, int32_t *);

static row rows[kRows]; // the last kTestRows are held out

static void expect(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "app: error: %s\n", what);
  exit(1);
}

static void check(tfc_status status, schemes *model) {
  expect(status == TFC_OK, schemes_message(model));
}

/// A number in [0, bound): xorshift64*, so that all processes have the rows in the same order.
static int randomBelow(uint64_t *state, int bound) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (int)(((*state * UINT64_C(0x2545F4914F6CDD1D) >> 32) * (uint64_t)bound) >> 32);
}

/// Reads a header line and kRows lines of 64 pixels (0 to 16) and a label, and shuffles them.
static void readRows(const char *path) {
  FILE *file = fopen(path, "r");
  expect(file, "cannot read the file");
  expect(fscanf(file, "%*[^\n]") == 0, "expected a header");
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kPixels; ++j)
      expect(fscanf(file, "%f,", &rows[i].pixels[j]) == 1, "expected a pixel");
    expect(fscanf(file, "%d", &rows[i].label) == 1, "expected a label");
  }
  fclose(file);
  uint64_t state = 1;
  for (int i = kRows - 1; i > 0; --i) {
    int j = randomBelow(&state, i + 1);
    row other = rows[i];
    rows[i] = rows[j];
    rows[j] = other;
  }
}

static void drawBatch(uint64_t *state, int count, batch *b) {
  for (int i = 0; i < count; ++i) {
    const row *from = &rows[randomBelow(state, kTrainRows)];
    memcpy(b->pixels[i], from->pixels, sizeof from->pixels);
    b->labels[i] = from->label;
  }
}

static void classify(schemes *model, classify_entry *entry, const char *scheme) {
  static float pixels[kTestRows][kPixels];
  int32_t classes[kTestRows];
  for (int i = 0; i < kTestRows; ++i)
    memcpy(pixels[i], rows[kTrainRows + i].pixels, sizeof pixels[i]);
  check(entry(model, kTestRows, pixels[0], classes), model);
  int right = 0;
  for (int i = 0; i < kTestRows; ++i)
    right += classes[i] == rows[kTrainRows + i].label;
  printf("%s: %d of %d\n", scheme, right, kTestRows);
}

/// One process makes all calls; the tasks of an entry take part in them.
static void fit(schemes *model, train_entry *train) {
  static batch b;
  uint64_t state = 7;
  float loss;
  for (int step = 0; step < kSteps; ++step) {
    drawBatch(&state, kBatch, &b);
    check(train(model, kBatch, b.pixels[0], b.labels, &loss), model);
  }
}

/// A worker that waits for nobody.
static void fitAsynchronously(schemes *model, int worker) {
  static batch b;
  uint64_t state = 7 + (uint64_t)worker;
  float loss;
  for (int step = 0; step < kSteps; ++step) {
    drawBatch(&state, kPart, &b);
    check(schemes_compute(model, kPart, b.pixels[0], b.labels, &loss), model);
    check(schemes_apply(model), model);
  }
}

/// A worker that computes a gradient for each token that it takes, until there are no more.
static void computeGradients(schemes *model, int worker) {
  static batch b;
  uint64_t state = 7 + (uint64_t)worker;
  int64_t step;
  tfc_status status;
  while ((status = schemes_begin(model, &step)) == TFC_OK) {
    drawBatch(&state, kPart, &b);
    check(schemes_push(model, kPart, b.pixels[0], b.labels, &step), model);
  }
  expect(status == TFC_CLOSED, schemes_message(model));
}

/// Updates the variables by the first `count` gradients of each step; other workers are backups.
static void update(schemes *model, int32_t count, const char *scheme) {
  int32_t workers = kWorkers, dropped, sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    check(schemes_release(model, &workers), model);
    check(schemes_update(model, &count, &dropped), model);
    sum += dropped;
  }
  check(schemes_finish(model), model);
  if (count < kWorkers)
    printf("%d gradients came too late\n", sum);
  classify(model, schemes_classify, scheme);
}

static void runTask(schemes *model, int task, const char *scheme) {
  if (!strcmp(scheme, "asynchronous") && task > 0) {
    fitAsynchronously(model, task - 1);
    if (task == 1)
      classify(model, schemes_classify, scheme);
  } else if (!strcmp(scheme, "queues") || !strcmp(scheme, "backup")) {
    if (task > 0)
      computeGradients(model, task - 1);
    else
      update(model, kWorkers - !strcmp(scheme, "backup"), scheme);
  } else if (!strcmp(scheme, "replicas") && task == 1) {
    fit(model, schemes_train_replicas);
    classify(model, schemes_classify, scheme);
  } else if (!strcmp(scheme, "all_reduce") && task == 1) {
    check(schemes_start(model), model);
    fit(model, schemes_train_copies);
    classify(model, schemes_classify_copies, scheme);
  }
  check(schemes_serve(model), model);
}

int main(int argc, char **argv) {
  expect(argc == 3, "expected: app one|replicas|asynchronous|queues|backup|all_reduce DIGITS.csv");
  readRows(argv[2]);
  schemes *model;
  if (!strcmp(argv[1], "one")) {
    expect(schemes_create(NULL, &model) == TFC_OK, schemes_message(NULL));
    fit(model, schemes_train_one);
    classify(model, schemes_classify_one, "one");
    schemes_destroy(model);
    return 0;
  }
  tfc_transport *transport;
  expect(tfc_mpi_open(&transport) == TFC_OK, tfc_mpi_message());
  tfc_options options = {.size = sizeof options,
                         .threads = 1,
                         .transport = transport,
                         .task_timeout_ms = 60000,
                         .call_mode = TFC_CALL_ALONE};
  expect(schemes_create(&options, &model) == TFC_OK, schemes_message(NULL));
  runTask(model, transport->task, argv[1]);
  schemes_destroy(model);
  tfc_mpi_close(transport);
  return 0;
}
