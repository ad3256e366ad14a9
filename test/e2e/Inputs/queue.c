// Feeds and trains queue.mlir on two threads, then asks for tickets and priorities.
#include "feeding.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { kBatches = 200 };

static void expect(tfc_status status, const feeding *model) {
  if (status != TFC_OK)
    printf("unexpected: %s\n", feeding_message(model));
}

static float uniform(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) / 16777216.0f - 0.5f;
}

/// Points of y = 2 a - b + 0.5 c in batches of 1 to 6, until the queue is closed at the end.
static void *produce(void *handle) {
  feeding *model = handle;
  uint32_t state = 7;
  for (int left = 4 * kBatches + 2, n = 1; left > 0; left -= n, n = n % 6 + 1) {
    float x[6][3], y[6];
    n = n < left ? n : left;
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k)
        x[i][k] = 2 * uniform(&state);
      y[i] = 2 * x[i][0] - x[i][1] + 0.5f * x[i][2];
    }
    expect(feeding_produce(model, n, x[0], y), model);
  }
  expect(feeding_queue_close(model, "points", 0), model);
  return NULL;
}

static int64_t steps(feeding *model) {
  int64_t value = -1;
  tfc_tensor out = {TFC_I64, 0, NULL, &value};
  feeding_get(model, "steps", &out);
  return value;
}

static void train(feeding *model) {
  pthread_t thread;
  feeding *producer;
  feeding_fork(model, &producer);
  pthread_create(&thread, NULL, produce, producer);
  float loss = 1;
  tfc_status status;
  while ((status = feeding_train(model, &loss)) == TFC_OK) {
  }
  printf("%d: %s\n", status, feeding_message(model));
  pthread_join(thread, NULL);
  feeding_destroy(producer);
  float w[3];
  int64_t dims[] = {3}, left;
  tfc_tensor out = {TFC_F32, 1, dims, w};
  feeding_get(model, "w", &out);
  feeding_queue_size(model, "points", &left);
  printf("steps %lld, left %lld, w %.2f %.2f %.2f\n", (long long)steps(model), (long long)left,
         w[0], w[1], w[2]);
}

static void *takeTickets(void *handle) {
  feeding *model = handle;
  int64_t from = 0;
  for (int i = 0; i < 100; ++i)
    expect(feeding_ticket(model, &from), model);
  return NULL;
}

/// Two threads put the numbers of a shared counter into a small queue; no number occurs twice.
static void giveTickets(feeding *model) {
  pthread_t threads[2];
  feeding *handles[2];
  for (int i = 0; i < 2; ++i)
    feeding_fork(model, &handles[i]);
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, takeTickets, handles[i]);
  int64_t number, sorted = 0, last = 0;
  char seen[1000] = {0};
  int different = 0;
  for (int i = 0; i < 198; ++i) {
    expect(feeding_draw(model, &number), model);
    different += number < 1000 && !seen[number];
    seen[number % 1000] = 1;
    sorted += number > last;
    last = number;
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
    feeding_destroy(handles[i]);
  }
  printf("%d different tickets, %s\n", different, sorted < 197 ? "shuffled" : "in order");
  printf("%s\n", feeding_draw(model, &number) == TFC_OK ? "ok" : feeding_message(model));
}

static void *drawOne(void *handle) {
  int64_t number;
  if (feeding_draw(handle, &number) == TFC_CANCELLED)
    puts(feeding_message(handle));
  return NULL;
}

static void cancel(feeding *model) {
  pthread_t thread;
  feeding *other;
  feeding_fork(model, &other);
  pthread_create(&thread, NULL, drawOne, other);
  feeding_cancel(other);
  pthread_join(thread, NULL);
  feeding_destroy(other);
}

static void orderJobs(feeding *model) {
  const int64_t priorities[] = {5, -1, 7};
  int32_t waiting, number;
  for (int i = 0; i < 3; ++i)
    expect(feeding_submit(model, &priorities[i], (bool[]){i == 0, i == 1}, &waiting), model);
  int64_t priority[4];
  bool bits[8];
  memset(bits, 1, sizeof(bits));
  expect(feeding_finish(model, &number, priority, bits), model);
  printf("%d jobs: %lld %lld %lld %lld, bits", number, (long long)priority[0],
         (long long)priority[1], (long long)priority[2], (long long)priority[3]);
  for (int i = 0; i < 8; ++i)
    printf(" %d", bits[i]);
  printf("\n%s\n",
         feeding_submit(model, priorities, bits, &waiting) ? feeding_message(model) : "ok");
}

/// A call that fails at a queue: elements that it has put in stay there, variables are unchanged.
static void failInTheMiddle(feeding *model) {
  int64_t before = steps(model), n = 40;
  int32_t waiting;
  printf("%s\n", feeding_count(model, &n, &waiting) ? feeding_message(model) : "ok");
  int64_t from = 0, size;
  printf("%s\n", feeding_ticket(model, &from) ? feeding_message(model) : "ok");
  feeding_queue_size(model, "shuffled", &size);
  printf("size %lld, steps changed by %lld\n", (long long)size, (long long)(steps(model) - before));
}

int main(void) {
  feeding *model;
  if (feeding_create(NULL, &model) != TFC_OK)
    return puts(feeding_message(NULL)), 1;
  train(model);
  giveTickets(model);
  cancel(model);
  orderJobs(model);
  failInTheMiddle(model);
  feeding_destroy(model);
}
