// Trains the classifier of digits.graph, saves it, and checks that a second instance that loads the
// file predicts the same:
//
//   tfc compile digits.graph -o libdigits.so
//   cc app.c libdigits.so -o app
//   ./app digits.csv digits.safetensors

#include "digits.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kPixels = 64,
  kClasses = 10,
  kRows = 1797,
  kTrainRows = 1437,
  kTestRows = kRows - kTrainRows,
  kBatch = 64,
  kEpochs = 40,
  kLargestBatch = 256 // the bound of n in digits.graph
};

typedef struct data {
  float pixels[kRows][kPixels];
  int32_t labels[kRows];
} data;

/// The predictions of an instance for the held-out rows.
typedef struct prediction {
  int32_t classes[kTestRows];
  float scores[kTestRows][kClasses];
} prediction;

/// A number in [0, bound): xorshift64*, so that the order is the same on every machine.
static int randomBelow(uint64_t *state, int bound) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (int)(((*state * UINT64_C(0x2545F4914F6CDD1D) >> 32) * (uint64_t)bound) >> 32);
}

static void swapRows(data *d, int i, int j) {
  float pixels[kPixels];
  memcpy(pixels, d->pixels[i], sizeof pixels);
  memcpy(d->pixels[i], d->pixels[j], sizeof pixels);
  memcpy(d->pixels[j], pixels, sizeof pixels);
  int32_t label = d->labels[i];
  d->labels[i] = d->labels[j];
  d->labels[j] = label;
}

/// Shuffles the first `count` rows.
static void shuffle(data *d, int count, uint64_t *state) {
  for (int i = count - 1; i > 0; --i)
    swapRows(d, i, randomBelow(state, i + 1));
}

/// Reads a header line and kRows lines of 64 pixels (0 to 16) and a label, all with commas.
static bool readCsv(const char *path, data *d) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    return false;
  }
  char line[4096];
  int row = -1; // the header
  for (; row < kRows && fgets(line, sizeof line, file); ++row) {
    char *at = line;
    for (int column = 0; row >= 0 && column <= kPixels; ++column) {
      char *end;
      double value = strtod(at, &end);
      if (end == at || (*end != ',' && *end != '\n' && *end != '\r' && *end)) {
        fprintf(stderr, "%s:%d: column %d is not a number\n", path, row + 2, column + 1);
        fclose(file);
        return false;
      }
      if (column < kPixels)
        d->pixels[row][column] = (float)value;
      else
        d->labels[row] = (int32_t)value;
      at = end + (*end == ',');
    }
  }
  fclose(file);
  if (row < kRows)
    fprintf(stderr, "%s: expected %d rows, but got %d\n", path, kRows, row < 0 ? 0 : row);
  return row == kRows;
}

/// Prints the model's message and ends the program if a call failed.
static void check(tfc_status status, digits *model, const char *what) {
  if (status == TFC_OK)
    return;
  fprintf(stderr, "%s failed: %s\n", what, digits_message(model));
  exit(1);
}

static digits *create(void) {
  digits *model = NULL;
  check(digits_create(NULL, &model), NULL, "create");
  return model;
}

/// One pass over the training rows in batches; prints the mean loss of a row.
static void trainEpoch(digits *model, const data *d, int epoch) {
  double sum = 0;
  for (int begin = 0; begin < kTrainRows; begin += kBatch) {
    int n = kTrainRows - begin < kBatch ? kTrainRows - begin : kBatch;
    float loss;
    check(digits_train(model, n, d->pixels[begin], d->labels + begin, &loss), model, "train");
    sum += (double)loss * n;
  }
  int done = (epoch * 30 + kEpochs - 1) / kEpochs;
  printf("epoch %2d/%d  [%-30.*s]  loss %.6f\n", epoch, kEpochs, done,
         "==============================", sum / kTrainRows);
  fflush(stdout);
}

static void predict(digits *model, const data *d, prediction *out) {
  for (int begin = 0; begin < kTestRows; begin += kLargestBatch) {
    int n = kTestRows - begin < kLargestBatch ? kTestRows - begin : kLargestBatch;
    const float *x = d->pixels[kTrainRows + begin];
    check(digits_infer(model, n, x, out->classes + begin), model, "infer");
    check(digits_score(model, n, x, out->scores[begin]), model, "score");
  }
}

int main(int argc, char **argv) {
  static data d;
  static prediction trained, loaded;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s digits.csv [checkpoint.safetensors]\n", argv[0]);
    return 2;
  }
  const char *checkpoint = argc > 2 ? argv[2] : "digits.safetensors";
  if (!readCsv(argv[1], &d))
    return 1;

  uint64_t random = 1;
  shuffle(&d, kRows, &random); // the file is ordered by writer; the last 360 rows are held out

  digits *model = create();
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    shuffle(&d, kTrainRows, &random);
    trainEpoch(model, &d, epoch);
  }
  predict(model, &d, &trained);
  int right = 0;
  for (int i = 0; i < kTestRows; ++i)
    right += trained.classes[i] == d.labels[kTrainRows + i];
  double accuracy = 100.0 * right / kTestRows;
  printf("accuracy on %d held-out rows: %.2f %% (%d right)\n", kTestRows, accuracy, right);
  check(digits_save(model, checkpoint), model, "save");

  digits *second = create();
  check(digits_load(second, checkpoint), second, "load");
  predict(second, &d, &loaded);
  bool same = memcmp(&trained, &loaded, sizeof trained) == 0;
  printf("a second instance loaded %s and predicts %s\n", checkpoint,
         same ? "bit-identically" : "something else");

  digits_destroy(second);
  digits_destroy(model);
  return same && accuracy >= 98.0 ? 0 : 1;
}
