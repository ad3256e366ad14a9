// Times entries of a compiled model and messages of plain MPI by turns, in one job:
//
//   mpicc -O2 -I ROOT/runtime -I ROOT/runtime/mpi ranks.c libtfcmpi.so -ldl -o ranks
//   mpirun -n 2 ranks MODEL.so alone ROUNDS 4:100 compute:0:1:100
//
// The arguments after the number of rounds are turns. Each is a round trip of plain MPI between the
// first two processes, BYTES:COUNT[:PIECE], or calls: groups of processes, separated by '/', of
// which each calls entries one after the other, ENTRY+ENTRY..:FIRST:CALLERS:COUNT[:BELOW]. The
// processes from FIRST on call, and integers of the feeds are random ones below BELOW. With
// `together` all processes call, and the first one is timed. Prints a line for each turn of each
// round and process that is timed: the turn, the process, and the nanoseconds of each round trip or
// of each series of calls.

#include "tfc.h"
#include "tfc_mpi.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMaxValues = 8, kMaxRank = 8, kMaxTurns = 16, kMaxCalls = 64, kMaxRequests = 1024 };

/// An entry with the memory of its feeds and fetches.
typedef struct call {
  char entry[64];
  int feedCount, fetchCount;
  tfc_tensor feeds[kMaxValues], fetches[kMaxValues];
  int64_t dims[2 * kMaxValues * kMaxRank];
} call;

/// The part of a process in a turn.
typedef struct turn {
  int isPing, takesPart;
  long count, bytes, piece, below;
  int callCount;
  call *calls[kMaxCalls];
} turn;

static const tfc_library *library;
static tfc_instance *instance;
static int task;
static uint64_t draws = 88172645463325252u;

static void check(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "ranks: error: %s: %s\n", what, instance ? library->api->message(instance) : "");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/// A barrier that leaves the processors to the threads that serve.
static void meet(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int isDone = 0; !isDone;) {
    MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
    if (!isDone)
      usleep(500);
  }
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

static void allocate(tfc_tensor *tensor, const tfc_value *value, const int64_t **dims) {
  static const size_t kSizes[] = {
#define TFC_DTYPE(CODE, NAME, KIND, BITS, ...) BITS / 8,
#include "Dtypes.inc"
  };
  *tensor = (tfc_tensor){value->dtype, value->rank, *dims, NULL};
  *dims += value->rank;
  size_t bytes = kSizes[value->dtype];
  for (int i = 0; i < value->rank; ++i)
    bytes *= (size_t)tensor->dims[i];
  tensor->data = aligned_alloc(64, (bytes + 127) / 64 * 64);
  check(tensor->data != NULL, "out of memory");
  memset(tensor->data, 0, bytes);
}

static call *prepare(const char *name) {
  const tfc_api *api = library->api;
  call *c = calloc(1, sizeof *c);
  check(c != NULL, "out of memory");
  snprintf(c->entry, sizeof c->entry, "%s", name);
  tfc_entry entry;
  int32_t index = 0;
  while (api->entry(library->model, index, &entry) == TFC_OK && strcmp(entry.name, name))
    ++index;
  check(!strcmp(entry.name, name), name);
  check(api->shapes(library->model, index, NULL, c->dims) == TFC_OK, name);
  const int64_t *dims = c->dims;
  tfc_value value;
  for (; api->feed(library->model, index, c->feedCount, &value) == TFC_OK; ++c->feedCount)
    allocate(&c->feeds[c->feedCount], &value, &dims);
  for (; api->fetch(library->model, index, c->fetchCount, &value) == TFC_OK; ++c->fetchCount)
    allocate(&c->fetches[c->fetchCount], &value, &dims);
  return c;
}

static turn parse(char *text, int isAlone) {
  turn t = {.isPing = 0};
  if (sscanf(text, "%ld:%ld:%ld", &t.bytes, &t.count, &t.piece) >= 2) {
    t.isPing = 1;
    t.takesPart = task < 2;
    return t;
  }
  char *rest = NULL;
  for (char *group = strtok_r(text, "/", &rest); group; group = strtok_r(NULL, "/", &rest)) {
    char names[2048], *more = NULL;
    int first, callers;
    long count, below = 0;
    check(sscanf(group, "%2047[^:]:%d:%d:%ld:%ld", names, &first, &callers, &count, &below) >= 4,
          group);
    if (isAlone && (task < first || task >= first + callers))
      continue;
    t.takesPart = 1;
    t.count = count;
    t.below = below;
    for (char *name = strtok_r(names, "+", &more); name; name = strtok_r(NULL, "+", &more)) {
      check(t.callCount < kMaxCalls, "too many calls");
      t.calls[t.callCount++] = prepare(name);
    }
  }
  return t;
}

static void draw(call *c, long below) {
  for (int i = 0; i < c->feedCount && below; ++i) {
    if (c->feeds[i].dtype != TFC_I32)
      continue;
    for (int64_t j = 0; j < (c->feeds[i].rank ? c->feeds[i].dims[0] : 1); ++j) {
      draws ^= draws << 13, draws ^= draws >> 7, draws ^= draws << 17;
      ((int32_t *)c->feeds[i].data)[j] = (int32_t)(draws % (uint64_t)below);
    }
  }
}

/// Sends or receives so many bytes, in pieces that are under way at the same time.
static void transfer(char *data, const turn *t, int isSender) {
  static MPI_Request requests[kMaxRequests];
  int count = 0;
  long piece = t->piece ? t->piece : t->bytes;
  for (long first = 0; first < t->bytes; first += piece, ++count) {
    int bytes = (int)(t->bytes - first < piece ? t->bytes - first : piece);
    check(count < kMaxRequests, "too many pieces");
    if (isSender)
      MPI_Isend(data + first, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[count]);
    else
      MPI_Irecv(data + first, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[count]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/// The first process asks the second one by at most four bytes, and gets so many.
static void ping(const turn *t, int64_t *times) {
  int question = t->bytes < 4 ? (int)t->bytes : 4;
  static char *data;
  static long room;
  if (room < t->bytes) {
    free(data);
    data = aligned_alloc(64, (size_t)(t->bytes + 63) / 64 * 64);
    check(data != NULL, "out of memory");
    memset(data, 1, (size_t)t->bytes);
    room = t->bytes;
  }
  for (long i = 0; i < t->count; ++i) {
    int64_t begin = now();
    if (task == 0)
      MPI_Send(data, question, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, question, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    transfer(data, t, task == 1);
    times[i] = now() - begin;
  }
}

static void callAll(turn *t, int64_t *times) {
  for (long i = 0; i < t->count; ++i) {
    for (int k = 0; k < t->callCount; ++k)
      draw(t->calls[k], t->below);
    int64_t begin = now();
    for (int k = 0; k < t->callCount; ++k) {
      call *c = t->calls[k];
      check(library->api->call(instance, c->entry, c->feeds, c->feedCount, c->fetches,
                               c->fetchCount) == TFC_OK,
            c->entry);
    }
    times[i] = now() - begin;
  }
}

/// A process at a time, so that lines remain whole.
static void print(int number, const turn *t, const int64_t *times, int isTimed, int taskCount) {
  for (int other = 0; other < taskCount; ++other) {
    meet();
    if (other != task || !isTimed)
      continue;
    printf("%d %d", number, task);
    for (long i = 0; i < t->count; ++i)
      printf(" %lld", (long long)times[i]);
    printf("\n");
    fflush(stdout);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static void load(const char *path) {
  void *handle = dlopen(path, RTLD_NOW);
  check(handle != NULL, path);
  const tfc_library *(*get)(void) = NULL;
  *(void **)&get = dlsym(handle, "tfc_library_get");
  check(get != NULL, path);
  library = get();
}

int main(int argc, char **argv) {
  int level, taskCount;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  check(argc > 4 && argc - 4 <= kMaxTurns, "usage: ranks MODEL.so together|alone ROUNDS TURN ..");
  load(argv[1]);
  int isAlone = !strcmp(argv[2], "alone");
  tfc_transport *transport;
  check(tfc_mpi_open(&transport) == TFC_OK, tfc_mpi_message());
  tfc_options options = {.size = sizeof options, .threads = 1, .transport = transport};
  options.call_mode = isAlone ? TFC_CALL_ALONE : TFC_CALL_TOGETHER;
  check(library->api->create(library->model, &options, &instance) == TFC_OK,
        library->api->message(NULL));
  task = transport->task;
  taskCount = transport->task_count;
  draws += (uint64_t)task << 32;

  static turn turns[kMaxTurns];
  int turnCount = argc - 4;
  long longest = 0;
  for (int i = 0; i < turnCount; ++i) {
    turns[i] = parse(argv[i + 4], isAlone);
    longest = turns[i].count > longest ? turns[i].count : longest;
  }
  int64_t *times = calloc((size_t)longest, sizeof *times);
  for (int round = 0; round < atoi(argv[3]); ++round) {
    for (int i = 0; i < turnCount; ++i) {
      turn *t = &turns[i];
      meet();
      if (t->takesPart && t->isPing)
        ping(t, times);
      else if (t->takesPart)
        callAll(t, times);
      print(i, t, times, t->takesPart && (task == 0 || (isAlone && !t->isPing)), taskCount);
    }
  }
  library->api->destroy(instance);
  tfc_mpi_close(transport);
  MPI_Finalize();
  return 0;
}
