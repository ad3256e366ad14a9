// Times entries of a compiled model by their names; workers/protocol.py describes the messages on
// standard input and output. The arguments are the folder of the data and the library.
//
//   cc -O2 -I ROOT/runtime tfc_worker.c -ldl -o tfc-worker && ./tfc-worker DATA libmlp.so

#include "tfc.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kHugeBytes = 4 << 20, kHugePage = 2 << 20 };
enum { kMaxValues = 8, kMaxRank = 8, kMaxTimes = 1 << 20, kMaxTasks = 512 };

/// An entry with the memory of its feeds and fetches. Sizes are static: the shapes need no symbols.
typedef struct task {
  tfc_entry entry;
  tfc_tensor feeds[kMaxValues], fetches[kMaxValues];
  int64_t dims[2 * kMaxValues * kMaxRank];
} task;

static const tfc_library *library;
static tfc_instance *instance;
static const char *folder;

static void die(const char *what, const char *why) {
  fprintf(stderr, "tfc-worker: %s: %s\n", what, why);
  exit(1);
}

static void check(tfc_status status, const char *what) {
  if (status != TFC_OK)
    die(what, library->api->message(instance));
}

static size_t sizeOf(int32_t dtype) {
  static const size_t sizes[] = {
#define TFC_DTYPE(CODE, NAME, KIND, BITS, ...) BITS / 8,
#include "Dtypes.inc"
  };
  return sizes[dtype];
}

static size_t bytesOf(const tfc_tensor *tensor) {
  size_t bytes = sizeOf(tensor->dtype);
  for (int i = 0; i < tensor->rank; ++i)
    bytes *= (size_t)tensor->dims[i];
  return bytes;
}

/// Allocates 64-byte aligned memory and writes every byte, so that its pages are mapped. From 4 MB
/// on it asks for huge pages, as NumPy does for the feeds of the other workers.
static void *allocate(size_t bytes) {
  size_t alignment = bytes >= kHugeBytes ? kHugePage : 64;
  void *data = aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (!data)
    die("memory", "out of it");
  if (bytes >= kHugeBytes)
    madvise(data, bytes, MADV_HUGEPAGE);
  memset(data, 0, bytes);
  return data;
}

static void readFeed(const char *entry, const char *name, tfc_tensor *tensor) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s.bin", folder, entry, name);
  FILE *file = fopen(path, "rb");
  if (!file || fread(tensor->data, 1, bytesOf(tensor), file) != bytesOf(tensor))
    die(path, "cannot be read, or is too short");
  fclose(file);
}

static tfc_tensor makeTensor(const tfc_value *value, const int64_t **dims) {
  tfc_tensor tensor = {value->dtype, value->rank, *dims, NULL};
  *dims += value->rank;
  tensor.data = allocate(bytesOf(&tensor));
  return tensor;
}

static task *makeTask(const char *name) {
  const tfc_api *api = library->api;
  task *result = calloc(1, sizeof *result);
  int32_t index = 0;
  while (result && api->entry(library->model, index, &result->entry) == TFC_OK &&
         strcmp(result->entry.name, name))
    ++index;
  if (!result || !result->entry.name || strcmp(result->entry.name, name))
    die(name, "no such entry");
  if (result->entry.feed_count > kMaxValues || result->entry.fetch_count > kMaxValues)
    die(name, "too many feeds or fetches");
  check(api->shapes(library->model, index, NULL, result->dims), name);
  const int64_t *dims = result->dims;
  tfc_value value;
  for (int i = 0; i < result->entry.feed_count; ++i) {
    check(api->feed(library->model, index, i, &value), name);
    result->feeds[i] = makeTensor(&value, &dims);
    readFeed(name, value.name, &result->feeds[i]);
  }
  for (int i = 0; i < result->entry.fetch_count; ++i) {
    check(api->fetch(library->model, index, i, &value), name);
    result->fetches[i] = makeTensor(&value, &dims);
  }
  return result;
}

static void call(task *t) {
  check(library->api->call(instance, t->entry.name, t->feeds, t->entry.feed_count, t->fetches,
                           t->entry.fetch_count),
        t->entry.name);
}

static size_t countOf(const tfc_tensor *tensor) { return bytesOf(tensor) / sizeOf(tensor->dtype); }

/// The sum of the absolute values; of f32, i32, i64 and booleans.
static double magnitude(const tfc_tensor *tensor) {
  double sum = 0;
  for (size_t i = 0, count = countOf(tensor); i < count; ++i) {
    switch (tensor->dtype) {
    case TFC_F32:
      sum += fabs((double)((const float *)tensor->data)[i]);
      break;
    case TFC_I32:
      sum += fabs((double)((const int32_t *)tensor->data)[i]);
      break;
    case TFC_I64:
      sum += fabs((double)((const int64_t *)tensor->data)[i]);
      break;
    case TFC_BOOL:
      sum += ((const uint8_t *)tensor->data)[i];
      break;
    default:
      die("results", "of an element type that is not summed");
    }
  }
  return sum;
}

/// The variable that the entry `adam_update` of kernels.graph moves.
static double movedWeights(void) {
  static const int64_t dims[] = {1024, 1024};
  tfc_tensor weight = {TFC_F32, 2, dims, allocate(1024 * 1024 * sizeof(float))};
  check(library->api->get(instance, "weight", &weight), "weight");
  double sum = magnitude(&weight);
  free(weight.data);
  return sum;
}

/// Answers with the losses of some steps.
static void answerSteps(task *t, int steps) {
  printf("[");
  for (int i = 0; i < steps; ++i) {
    call(t);
    printf("%s%.9g", i ? ", " : "", magnitude(&t->fetches[0]));
  }
  printf("]\n");
}

/// Answers with the magnitudes of all results, in their actual sizes.
static void answerResults(task *t) {
  tfc_tensor found[kMaxValues];
  int32_t count = t->entry.fetch_count;
  call(t);
  if (!count)
    return (void)printf("[%.9g]\n", movedWeights());
  check(library->api->found(instance, found, count), t->entry.name);
  printf("[");
  for (int i = 0; i < count; ++i) {
    found[i].data = t->fetches[i].data;
    printf("%s%.9g", i ? ", " : "", magnitude(&found[i]));
  }
  printf("]\n");
}

static void answerCheck(task *t, int steps) {
  bool trains = t->entry.writes && t->entry.fetch_count == 1 && !t->fetches[0].rank;
  if (trains)
    answerSteps(t, steps);
  else
    answerResults(t);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answerTime(task *t, double seconds) {
  static float times[kMaxTimes];
  int count = 0;
  for (double end = now() + seconds, start; (start = now()) < end || count < 3; ++count) {
    call(t);
    if (count < kMaxTimes)
      times[count] = (float)((now() - start) * 1e6);
  }
  printf("[");
  for (int i = 0; i < count && i < kMaxTimes; ++i)
    printf("%s%.3f", i ? "," : "", times[i]);
  printf("]\n");
}

/// Returns the task of that name, which is created at its first use.
static task *findTask(const char *name) {
  static task *known[kMaxTasks];
  int i = 0;
  for (; i < kMaxTasks && known[i]; ++i)
    if (!strcmp(known[i]->entry.name, name))
      return known[i];
  if (i == kMaxTasks)
    die(name, "too many tasks");
  return known[i] = makeTask(name);
}

static void load(const char *path) {
  void *handle = dlopen(path, RTLD_NOW);
  const tfc_library *(*get)(void) = NULL;
  if (handle)
    *(void **)&get = dlsym(handle, "tfc_library_get");
  if (!get)
    die(path, dlerror());
  library = get();
  const char *threads = getenv("TFC_PEER_THREADS");
  tfc_options options = {.size = sizeof options, .threads = threads ? atoi(threads) : 1};
  check(library->api->create(library->model, &options, &instance), "create");
}

int main(int argc, char **argv) {
  if (argc < 3)
    die("usage", "tfc-worker DATA MODEL.so [CHECKPOINT]");
  folder = argv[1];
  load(argv[2]);
  if (argc > 3)
    check(library->api->save(instance, argv[3]), argv[3]);
  printf("{\"name\": \"tfc\", \"version\": \"\"}\n");
  fflush(stdout);
  char line[256], command[16], name[128];
  while (fgets(line, sizeof line, stdin)) {
    double argument = 0; // steps to check, or seconds
    if (sscanf(line, "%15s %127s %lf", command, name, &argument) < 3)
      die(line, "no command");
    if (!strcmp(command, "check"))
      answerCheck(findTask(name), (int)argument);
    else
      answerTime(findTask(name), argument);
    fflush(stdout);
  }
  library->api->destroy(instance);
  return 0;
}
