// Trains the character model of gpt.graph on a text, measures it on every tenth block of 1,000
// characters, which it has not seen, and lets it write:
//
//   tfc compile gpt.graph -o libgpt.so
//   cc app.c libgpt.so -o app
//   ./app /usr/share/common-licenses/GPL-3 gpt.safetensors

#include "gpt.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kBlock = 1000, // every tenth of these is held out
  kRows = 16,    // in a batch
  kTime = 129,   // characters in a row; each but the first is predicted
  kSteps = 900,  // over which the learning rate of gpt.graph falls
  kWindow = 256, // characters that 'measure' takes: context, then at most kGuessed to predict
  kGuessed = 128,
  kLongest = 1 << 20,
  kWritten = 400 // the most characters that 'compose' writes
};

/// The ASCII characters of a text, as the model takes them.
typedef struct source {
  int32_t characters[kLongest];
  int length;
} source;

/// A number in [0, bound): xorshift64*, so that the batches are the same on every machine.
static int randomBelow(uint64_t *state, int bound) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (int)(((*state * UINT64_C(0x2545F4914F6CDD1D) >> 32) * (uint64_t)bound) >> 32);
}

static bool readText(const char *path, source *s) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    return false;
  }
  for (int c; s->length < kLongest && (c = fgetc(file)) != EOF;)
    if (c > 0 && c < 128)
      s->characters[s->length++] = c;
  fclose(file);
  if (s->length < 10 * kBlock)
    fprintf(stderr, "%s: expected at least %d characters, but got %d\n", path, 10 * kBlock,
            s->length);
  return s->length >= 10 * kBlock;
}

static bool isHeldOut(int position) { return position / kBlock % 10 == 0; }

/// Fills a batch with pieces of the text, none of which has a character that is held out.
static void drawBatch(const source *s, uint64_t *random, int32_t tokens[kRows][kTime]) {
  for (int row = 0; row < kRows; ++row) {
    int start;
    do
      start = randomBelow(random, s->length - kTime + 1);
    while (isHeldOut(start) || isHeldOut(start + kTime - 1));
    memcpy(tokens[row], &s->characters[start], sizeof tokens[row]);
  }
}

static int report(gpt *model) {
  fprintf(stderr, "%s\n", gpt_message(model));
  return 1;
}

/// Bits per character on the held-out blocks, negative after an error. A character is predicted
/// from at least the kWindow - kGuessed characters before it, except at the start of the text. They
/// may belong to the block before, which is training data.
static double measure(gpt *model, const source *s) {
  double bits = 0, count = 0;
  for (int block = 0; block + kBlock <= s->length; block += 10 * kBlock)
    for (int begin = block; begin < block + kBlock; begin += kGuessed) {
      int end = begin + kGuessed < block + kBlock ? begin + kGuessed : block + kBlock;
      int from = begin < kWindow - kGuessed ? 0 : begin - (kWindow - kGuessed);
      int32_t given = begin ? begin - from : 1;
      float windowBits, windowCount;
      if (gpt_measure(model, 1, end - from, &s->characters[from], &given, &windowBits,
                      &windowCount)) {
        report(model);
        return -1;
      }
      bits += windowBits;
      count += windowCount;
    }
  return bits / count;
}

static bool compose(gpt *model, const char *prompt, float temperature) {
  int32_t given[64], characters[kWritten];
  int64_t count = 0;
  for (; prompt[count] && count < 64; ++count)
    given[count] = prompt[count];
  if (gpt_compose(model, count, given, &temperature, characters))
    return report(model), false;
  printf("At temperature %.1f: %s", temperature, prompt);
  for (int i = 0; i < kWritten; ++i)
    putchar(characters[i]);
  printf("[...]\n");
  return true;
}

/// Trains for `steps` steps and saves the variables that did best on the held-out blocks to `file`.
static bool train(gpt *model, const source *s, int steps, const char *file) {
  static int32_t tokens[kRows][kTime];
  uint64_t random = 7;
  double best = 1e9, mean = 0;
  clock_t begin = clock();
  for (int step = 1; step <= steps; ++step) {
    drawBatch(s, &random, tokens);
    float bits, norm, rate;
    if (gpt_train(model, kRows, kTime, &tokens[0][0], &bits, &norm, &rate))
      return report(model), false;
    mean += bits;
    if (step % 100 && step != steps)
      continue;
    double heldOut = measure(model, s);
    if (heldOut < 0 || (heldOut < best && gpt_save(model, file)))
      return report(model), false;
    printf("step %4d: %.2f bits per character in training, %.2f held out, rate %.5f, %.0f s\n",
           step, mean / (step % 100 ? step % 100 : 100), heldOut, rate,
           (double)(clock() - begin) / CLOCKS_PER_SEC);
    fflush(stdout);
    best = heldOut < best ? heldOut : best;
    mean = 0;
  }
  printf("best: %.2f bits per character on held-out text\n", best);
  return true;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: app TEXT MODEL.safetensors [STEPS]\n");
    return 2;
  }
  static source s;
  int steps = argc > 3 ? atoi(argv[3]) : kSteps;
  gpt *model;
  if (!readText(argv[1], &s))
    return 1;
  if (gpt_create(NULL, &model)) {
    fprintf(stderr, "%s\n", gpt_message(NULL));
    return 1;
  }
  if (!train(model, &s, steps, argv[2]))
    return 1;
  if (gpt_load(model, argv[2]))
    return report(model);
  static const float kTemperatures[] = {0.3f, 0.7f, 1.0f};
  for (int i = 0; i < 3; ++i)
    if (!compose(model, "The license", kTemperatures[i]))
      return 1;
  gpt_destroy(model);
  return 0;
}
