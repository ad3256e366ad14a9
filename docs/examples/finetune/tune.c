// Fine-tunes a network that PyTorch exported, and saves its weights for PyTorch:
//
//   tfc convert digits.onnx digits.graph --trainable
//   cat train.graph >> digits.graph
//   tfc compile digits.graph --prefix digits -o libdigits.so
//   cc tune.c libdigits.so -o tune
//   ./tune ../digits/digits.csv tuned.safetensors

#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

enum { kPixels = 64, kBatch = 32, kSteps = 50, kRows = 1024 };

/// Reads the next row of 64 pixels (0 to 16) and a label, all with commas; returns 0 at the end.
static int readRow(FILE *file, float *pixels, int32_t *label) {
  for (int i = 0; i < kPixels; ++i) {
    if (fscanf(file, "%f,", &pixels[i]) != 1)
      return 0;
    pixels[i] /= 16;
  }
  return fscanf(file, "%d", label) == 1;
}

/// Prints the model's message and ends the program if a call failed.
static void check(tfc_status status, digits *model, const char *what) {
  if (status == TFC_OK)
    return;
  fprintf(stderr, "%s failed: %s\n", what, digits_message(model));
  exit(1);
}

int main(int argc, char **argv) {
  static float images[kRows][kPixels];
  static int32_t labels[kRows];
  if (argc != 3) {
    fprintf(stderr, "usage: %s digits.csv tuned.safetensors\n", argv[0]);
    return 2;
  }
  FILE *file = fopen(argv[1], "r");
  if (!file || fscanf(file, "%*[^\n]") != 0) {
    perror(argv[1]);
    return 1;
  }
  for (int row = 0; row < kRows; ++row)
    if (!readRow(file, images[row], &labels[row])) {
      fprintf(stderr, "%s: row %d is damaged\n", argv[1], row + 1);
      return 1;
    }
  fclose(file);

  digits *model = NULL;
  check(digits_create(NULL, &model), NULL, "create");
  for (int step = 0; step < kSteps; ++step) {
    int first = step * kBatch % kRows;
    float loss;
    check(digits_train(model, kBatch, images[first], labels + first, &loss), model, "train");
    printf("%.9f\n", loss);
  }
  check(digits_save(model, argv[2]), model, "save");
  digits_destroy(model);
  return 0;
}
