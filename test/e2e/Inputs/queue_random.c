// Calls that draw random numbers for a queue.
#include "numbers.h"
#include <pthread.h>
#include <stdio.h>

enum { kEach = 500 };

static void *put(void *handle) {
  float x;
  for (int i = 0; i < kEach; ++i)
    if (numbers_put(handle, &x) != TFC_OK)
      puts(numbers_message(handle));
  return NULL;
}

/// Puts four numbers into a queue for three, if `overflows`, else three; returns what is drawn
/// next.
static float drawAfter(int overflows) {
  numbers *model;
  numbers_create(NULL, &model);
  float x, r;
  for (int i = 0; i < 3 + overflows; ++i)
    if (numbers_put(model, &x) != TFC_OK)
      puts(numbers_message(model));
  numbers_take(model, &x, &r);
  numbers_destroy(model);
  return r;
}

int main(void) {
  printf("%s\n", drawAfter(1) == drawAfter(0) ? "the same number" : "another number");
  numbers *model, *handles[2];
  pthread_t threads[2];
  numbers_create(NULL, &model);
  for (int i = 0; i < 2; ++i)
    numbers_fork(model, &handles[i]);
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, put, handles[i]);
  float x[2 * kEach], r;
  int equal = 0;
  for (int i = 0; i < 2 * kEach; ++i) {
    if (numbers_take(model, &x[i], &r) != TFC_OK)
      puts(numbers_message(model));
    for (int k = 0; k < i; ++k)
      equal += x[i] == x[k];
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
    numbers_destroy(handles[i]);
  }
  numbers_destroy(model);
  printf("%d drawn twice\n", equal);
}
