// Trains the network of convnet.graph from five sets of initial weights, and prints how many of the
// held-out digits each classifies correctly:
//
//   tfc compile convnet.graph -o libconvnet.so
//   cc app.c libconvnet.so -o app
//   ./app ../digits/digits.csv convnet.safetensors

#include "convnet.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kPixels = 64,
  kRows = 1797,
  kTrainRows = 1437,
  kTestRows = kRows - kTrainRows,
  kBatch = 64,
  kEpochs = 20,
  kSteps = kEpochs * ((kTrainRows + kBatch - 1) / kBatch),
  kSeeds = 5,
  kLargestBatch = 256 // the bound of n in 'infer'
};

typedef struct data {
  float pixels[kRows][kPixels];
  int32_t labels[kRows];
} data;

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
static void check(tfc_status status, convnet *model, const char *what) {
  if (status == TFC_OK)
    return;
  fprintf(stderr, "%s failed: %s\n", what, convnet_message(model));
  exit(1);
}

/// One pass over the training rows in batches; returns the mean loss of a row.
static double trainEpoch(convnet *model, const data *d) {
  const int32_t steps = kSteps;
  double sum = 0;
  for (int begin = 0; begin < kTrainRows; begin += kBatch) {
    int n = kTrainRows - begin < kBatch ? kTrainRows - begin : kBatch;
    float loss;
    check(convnet_train(model, n, d->pixels[begin], d->labels + begin, &steps, &loss), model,
          "train");
    sum += (double)loss * n;
  }
  return sum / kTrainRows;
}

static int countRight(convnet *model, const data *d) {
  int right = 0;
  for (int begin = kTrainRows; begin < kRows; begin += kLargestBatch) {
    int n = kRows - begin < kLargestBatch ? kRows - begin : kLargestBatch;
    int32_t classes[kLargestBatch];
    check(convnet_infer(model, n, d->pixels[begin], classes), model, "infer");
    for (int i = 0; i < n; ++i)
      right += classes[i] == d->labels[begin + i];
  }
  return right;
}

/// Trains a new instance and saves it; returns how many held-out rows it classifies correctly.
static int trainFrom(int64_t seed, data *d, const char *checkpoint) {
  convnet *model = NULL;
  uint64_t random = (uint64_t)seed;
  clock_t begin = clock();
  double loss = 0;
  check(convnet_create(NULL, &model), NULL, "create");
  check(convnet_restart(model, &seed), model, "restart");
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    shuffle(d, kTrainRows, &random);
    loss = trainEpoch(model, d);
  }
  int right = countRight(model, d);
  check(convnet_save(model, checkpoint), model, "save");
  printf("seed %d: loss %.4f, %d of %d held-out rows right, %.1f s\n", (int)seed, loss, right,
         kTestRows, (double)(clock() - begin) / CLOCKS_PER_SEC);
  fflush(stdout);
  convnet_destroy(model);
  return right;
}

int main(int argc, char **argv) {
  static data d;
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: %s digits.csv [checkpoint.safetensors [seeds]]\n", argv[0]);
    return 2;
  }
  if (!readCsv(argv[1], &d))
    return 1;
  int seeds = argc > 3 ? atoi(argv[3]) : kSeeds, right = 0;

  uint64_t random = 1;
  shuffle(&d, kRows, &random); // as the first example does: the last 360 are held out

  for (int seed = 1; seed <= seeds; ++seed)
    right += trainFrom(seed, &d, argc > 2 ? argv[2] : "convnet.safetensors");
  double accuracy = 100.0 * right / kTestRows / seeds;
  printf("accuracy on %d held-out rows, mean of %d seeds: %.2f %%\n", kTestRows, seeds, accuracy);
  return accuracy >= 99.0 ? 0 : 1;
}
