// Trains the character model of text.graph on a text, measures it on every tenth block of 1,000
// characters, which it has not seen, and lets it write:
//
//   tfc compile text.graph -o libtext.so
//   cc app.c libtext.so -o app
//   ./app /usr/share/common-licenses/GPL-3 text.safetensors

#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kBlock = 1000, // every tenth of these is held out
  kRows = 32,    // in a batch
  kTime = 128,   // the longest row
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

/// Fills a row with a piece of the text that is not held out, and returns its length. The end of a
/// paragraph ends the row in one of four cases, with a 0, so that the model learns to stop.
static int drawRow(const source *s, uint64_t *random, int32_t *row) {
  int start;
  do
    start = randomBelow(random, s->length - kTime);
  while (isHeldOut(start));
  int length = 0;
  for (; length < kTime && !isHeldOut(start + length); ++length) {
    const int32_t *at = &s->characters[start + length];
    row[length] = *at;
    bool endsParagraph = length > 8 && at[-1] == '\n' && at[0] == '\n';
    if (endsParagraph && randomBelow(random, 4) == 0) {
      row[length++] = 0;
      break;
    }
  }
  for (int i = length; i < kTime; ++i)
    row[i] = 0;
  return length;
}

/// Makes a batch whose rows have at least two characters.
static void drawBatch(const source *s, uint64_t *random, int32_t tokens[kRows][kTime],
                      int32_t lengths[kRows]) {
  for (int row = 0; row < kRows; ++row)
    do
      lengths[row] = drawRow(s, random, tokens[row]);
    while (lengths[row] < 2);
}

static int report(text *model) {
  fprintf(stderr, "%s\n", text_message(model));
  return 1;
}

/// Bits per character on the held-out blocks, negative after an error. Each has the block before it
/// as context, which is training data.
static double measure(text *model, const source *s) {
  double bits = 0, count = 0;
  for (int start = 0; start + kBlock <= s->length; start += 10 * kBlock) {
    float blockBits, blockCount;
    int before = start ? kBlock : 0; // characters of the block before
    int32_t length = before + kBlock, given = before ? before : 1;
    if (text_measure(model, 1, length, &s->characters[start - before], &length, &given, &blockBits,
                     &blockCount)) {
      report(model);
      return -1;
    }
    bits += blockBits;
    count += blockCount;
  }
  return bits / count;
}

static bool compose(text *model, const char *prompt, float temperature) {
  int32_t given[64], characters[kWritten], length;
  int64_t count = 0;
  for (; prompt[count] && count < 64; ++count)
    given[count] = prompt[count];
  if (text_compose(model, count, given, &temperature, characters, &length))
    return report(model), false;
  printf("%s", prompt);
  for (int i = 0; i < length && characters[i]; ++i)
    putchar(characters[i]);
  printf("%s\n", length < kWritten ? "[end]" : "[...]");
  return true;
}

/// Trains for `steps` steps, with a rate that falls to a tenth, and saves the variables that did
/// best on the held-out blocks to `file`.
static bool train(text *model, const source *s, int steps, const char *file) {
  static int32_t tokens[kRows][kTime];
  int32_t lengths[kRows];
  uint64_t random = 7;
  double best = 1e9, mean = 0;
  clock_t begin = clock();
  for (int step = 1; step <= steps; ++step) {
    drawBatch(s, &random, tokens, lengths);
    float rate = 3e-3f * (1 - 0.9f * step / steps), bits;
    if (text_train(model, kRows, kTime, &tokens[0][0], lengths, &rate, &bits))
      return report(model), false;
    mean += bits;
    if (step % 100 && step != steps)
      continue;
    double heldOut = measure(model, s);
    if (heldOut < 0 || (heldOut < best && text_save(model, file)))
      return report(model), false;
    printf("step %4d: %.2f bits per character in training, %.2f held out, %.0f s\n", step,
           mean / (step % 100 ? step % 100 : 100), heldOut,
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
  int steps = argc > 3 ? atoi(argv[3]) : 2000;
  text *model;
  if (!readText(argv[1], &s))
    return 1;
  if (text_create(NULL, &model)) {
    fprintf(stderr, "%s\n", text_message(NULL));
    return 1;
  }
  if (!train(model, &s, steps, argv[2]))
    return 1;
  if (text_load(model, argv[2]))
    return report(model);
  static const float kTemperatures[] = {0.3f, 0.7f, 1.0f};
  for (int i = 0; i < 3; ++i)
    if (!compose(model, "The license", kTemperatures[i]))
      return 1;
  text_destroy(model);
  return 0;
}
