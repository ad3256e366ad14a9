// The elementwise and row kernels of row_tasks.py in plain C, for the compiler to vectorise;
// protocol.py describes the messages on standard input and output. The argument is the folder of
// the data.
//
//   cc -O3 -march=native -ffast-math rows.c -lm -o rows && ./rows DATA

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct task {
  const float *restrict x, *restrict y, *restrict scale, *restrict shift;
  float *restrict out;
  int32_t *restrict places; // the same memory
  long rows, columns;
} task;

#define EACH(EXPRESSION)                                                                           \
  for (long i = 0; i < t->rows * t->columns; ++i) {                                                \
    float x = t->x[i];                                                                             \
    t->out[i] = (EXPRESSION);                                                                      \
  }

static float gelu(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }

static float geluTanh(float x) {
  return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static void runExp(task *t) { EACH(expf(x)) }
static void runTanh(task *t) { EACH(tanhf(x)) }
static void runSilu(task *t) { EACH(x / (1 + expf(-x))) }
static void runGelu(task *t) { EACH(gelu(x)) }
static void runGeluTanh(task *t) { EACH(geluTanh(x)) }
static void runAddRelu(task *t) { EACH(fmaxf(x + t->y[i], 0)) }

static void runToI32(task *t) {
  for (long i = 0; i < t->rows * t->columns; ++i)
    t->places[i] = (int32_t)t->x[i];
}

static void runBiasGelu(task *t) {
  for (long i = 0; i < t->rows; ++i)
    for (long j = 0; j < t->columns; ++j)
      t->out[i * t->columns + j] = gelu(t->x[i * t->columns + j] + t->scale[j]);
}

static void runSoftmax(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    const float *x = t->x + i * t->columns;
    float *out = t->out + i * t->columns, most = x[0], sum = 0;
    for (long j = 0; j < t->columns; ++j)
      most = x[j] > most ? x[j] : most;
    for (long j = 0; j < t->columns; ++j)
      sum += out[j] = expf(x[j] - most);
    for (long j = 0; j < t->columns; ++j)
      out[j] *= 1 / sum;
  }
}

static void runLayerNorm(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    const float *x = t->x + i * t->columns;
    float sum = 0, squares = 0;
    for (long j = 0; j < t->columns; ++j)
      sum += x[j];
    float mean = sum / (float)t->columns;
    for (long j = 0; j < t->columns; ++j)
      squares += (x[j] - mean) * (x[j] - mean);
    float factor = 1 / sqrtf(squares / (float)t->columns + 1e-5f);
    for (long j = 0; j < t->columns; ++j)
      t->out[i * t->columns + j] = (x[j] - mean) * factor * t->scale[j] + t->shift[j];
  }
}

static void runRmsNorm(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    const float *x = t->x + i * t->columns;
    float squares = 0;
    for (long j = 0; j < t->columns; ++j)
      squares += x[j] * x[j];
    float factor = 1 / sqrtf(squares / (float)t->columns + 1e-5f);
    for (long j = 0; j < t->columns; ++j)
      t->out[i * t->columns + j] = x[j] * factor * t->scale[j];
  }
}

static void runSumRows(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    float sum = 0;
    for (long j = 0; j < t->columns; ++j)
      sum += t->x[i * t->columns + j];
    t->out[i] = sum;
  }
}

static void runMaxRows(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    float most = -INFINITY;
    for (long j = 0; j < t->columns; ++j)
      most = fmaxf(most, t->x[i * t->columns + j]);
    t->out[i] = most;
  }
}

static void runArgmaxRows(task *t) {
  for (long i = 0; i < t->rows; ++i) {
    const float *x = t->x + i * t->columns;
    int32_t place = 0;
    for (long j = 1; j < t->columns; ++j)
      place = x[j] > x[place] ? (int32_t)j : place;
    t->places[i] = place;
  }
}

static void runSumColumns(task *t) {
  memset(t->out, 0, (size_t)t->columns * sizeof(float));
  for (long i = 0; i < t->rows; ++i)
    for (long j = 0; j < t->columns; ++j)
      t->out[j] += t->x[i * t->columns + j];
}

static void runMaxColumns(task *t) {
  memcpy(t->out, t->x, (size_t)t->columns * sizeof(float));
  for (long i = 1; i < t->rows; ++i)
    for (long j = 0; j < t->columns; ++j)
      t->out[j] = fmaxf(t->out[j], t->x[i * t->columns + j]);
}

static void runArgmaxColumns(task *t) {
  static float most[1 << 16];
  memcpy(most, t->x, (size_t)t->columns * sizeof(float));
  memset(t->places, 0, (size_t)t->columns * sizeof(int32_t));
  for (long i = 1; i < t->rows; ++i)
    for (long j = 0; j < t->columns; ++j) {
      float x = t->x[i * t->columns + j];
      t->places[j] = x > most[j] ? (int32_t)i : t->places[j];
      most[j] = x > most[j] ? x : most[j];
    }
}

static void runTranspose(task *t) {
  enum { kTile = 16 };
  for (long i = 0; i < t->rows; i += kTile)
    for (long j = 0; j < t->columns; j += kTile)
      for (long jj = j; jj < j + kTile; ++jj)
        for (long ii = i; ii < i + kTile; ++ii)
          t->out[jj * t->rows + ii] = t->x[ii * t->columns + jj];
}

static const struct {
  const char *name;
  void (*run)(task *);
  char result; // all, rows or columns; upper case: integers
} kKernels[] = {
    {"exp", runExp, 'a'},
    {"tanh", runTanh, 'a'},
    {"silu", runSilu, 'a'},
    {"gelu", runGelu, 'a'},
    {"gelu_tanh", runGeluTanh, 'a'},
    {"bias_gelu", runBiasGelu, 'a'},
    {"softmax", runSoftmax, 'a'},
    {"layer_norm", runLayerNorm, 'a'},
    {"rms_norm", runRmsNorm, 'a'},
    {"sum_rows", runSumRows, 'r'},
    {"sum_columns", runSumColumns, 'c'},
    {"max_rows", runMaxRows, 'r'},
    {"max_columns", runMaxColumns, 'c'},
    {"argmax_rows", runArgmaxRows, 'R'},
    {"argmax_columns", runArgmaxColumns, 'C'},
    {"transpose", runTranspose, 'a'},
    {"to_i32", runToI32, 'A'},
    {"add_relu", runAddRelu, 'a'},
};

static const char *folder;

/// Returns memory of so many floats, with the feed of that name if there is one.
static float *load(const char *name, const char *feed, long count) {
  float *data = aligned_alloc(64, ((size_t)count * sizeof(float) + 127) / 64 * 64);
  if (!data)
    exit(1);
  memset(data, 0, (size_t)count * sizeof(float));
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s.bin", folder, name, feed);
  FILE *file = fopen(path, "rb");
  if (!file)
    return data;
  if (fread(data, sizeof(float), (size_t)count, file) != (size_t)count)
    exit(1);
  fclose(file);
  return data;
}

/// Splits KERNEL_ROWS_COLUMNS and loads the feeds; returns the number of the kernel.
static size_t prepare(const char *name, task *t) {
  const char *end = name + strlen(name);
  for (int i = 0; i < 2; ++i)
    while (*--end != '_')
      ;
  sscanf(end, "_%ld_%ld", &t->rows, &t->columns);
  size_t kernel = 0;
  while (strlen(kKernels[kernel].name) != (size_t)(end - name) ||
         strncmp(kKernels[kernel].name, name, (size_t)(end - name)))
    ++kernel;
  t->x = load(name, "x", t->rows * t->columns);
  t->y = load(name, "y", t->rows * t->columns);
  t->scale = load(name, "scale", t->columns);
  t->shift = load(name, "shift", t->columns);
  t->out = load(name, "", t->rows * t->columns);
  t->places = (int32_t *)t->out;
  return kernel;
}

static void answerCheck(size_t kernel, task *t) {
  kKernels[kernel].run(t);
  char result = kKernels[kernel].result;
  long counts[256] = {['a'] = t->rows * t->columns, ['r'] = t->rows, ['c'] = t->columns};
  long count = counts[result | 32];
  double sum = 0;
  for (long i = 0; i < count; ++i)
    sum += result & 32 ? fabs((double)t->out[i]) : abs(t->places[i]);
  printf("[%.9g]\n", sum);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answerTime(size_t kernel, task *t, double seconds) {
  int count = 0;
  printf("[");
  for (double end = now() + seconds, start; (start = now()) < end || count < 3; ++count) {
    kKernels[kernel].run(t);
    printf("%s%.3f", count ? "," : "", (now() - start) * 1e6);
  }
  printf("]\n");
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  folder = argv[1];
  printf("{\"name\": \"C\", \"version\": \"%s\"}\n", __VERSION__);
  fflush(stdout);
  char line[256], command[16], name[128], last[128] = "";
  static task t;
  size_t kernel = 0;
  while (fgets(line, sizeof line, stdin)) {
    double seconds = 0;
    if (sscanf(line, "%15s %127s %lf", command, name, &seconds) < 3)
      return 1;
    if (strcmp(last, name)) // memory of earlier tasks stays, as in the other workers
      kernel = prepare(strcpy(last, name), &t);
    if (!strcmp(command, "check"))
      answerCheck(kernel, &t);
    else
      answerTime(kernel, &t, seconds);
    fflush(stdout);
  }
  return 0;
}
