// Calls the entries of state.graph and prints what they return and what the variables hold.
#include "state.h"
#include <stdio.h>

static state *model;

static void print(const char *name, const float *values, int count) {
  printf("%s", name);
  for (int i = 0; i < count; ++i)
    printf(" %g", values[i]);
  puts("");
}

static void printVariable(const char *name) {
  float values[4];
  int64_t dims[] = {4};
  tfc_tensor out = {TFC_F32, 1, dims, values};
  state_get(model, name, &out);
  print(name, values, 4);
}

static void advance(int32_t by) {
  float row[2] = {0, 0};
  int32_t at[2] = {0, 0};
  if (state_advance(model, &by, row, at) == TFC_OK)
    printf("advance %d: rows %g %g at %d %d\n", by, row[0], row[1], at[0], at[1]);
  else
    printf("advance %d fails: %s\n", by, state_message(model));
  printVariable("a");
}

int main(void) {
  if (state_create(NULL, &model) != TFC_OK)
    return puts(state_message(NULL)), 1;
  float was[4], x[4] = {1, 2, 3, 4};
  state_swap(model, was);
  print("swap gives", was, 4);
  printVariable("a");
  printVariable("b");
  state_mix(model, x, was);
  print("mix gives", was, 4);
  printVariable("a");
  printVariable("b");
  advance(2);
  advance(1);
  advance(-1);
  float same[4], once[4], again[4], total;
  state_echo(model, 2, x, same, once, again, &total);
  print("echo gives", same, 4);
  print("once", once, 4);
  print("again", again, 4);
  print("total", &total, 1);
  if (state_echo(model, 1, x, same, once, again, &total))
    puts(state_message(model));
  printf("of nothing: %d", state_echo(model, 0, NULL, NULL, NULL, NULL, &total));
  print("", &total, 1);
  state_destroy(model);
}
