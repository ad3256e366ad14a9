// Trains on the rows of a file that the graph reads: the program only makes the steps.
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

static void expect(int holds, const digits *model) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", digits_message(model));
  exit(1);
}

int main(int count, char **arguments) {
  digits *model;
  expect(digits_create(NULL, &model) == TFC_OK, NULL);
  if (count > 1) { // another file than the graph names
    const char *paths[] = {arguments[1]};
    expect(digits_open_dataset(model, "digits", paths, 1) == TFC_OK, model);
  }
  float loss = 0;
  for (int step = 0; step < 900; ++step)
    expect(digits_train(model, &loss) == TFC_OK, model);

  int right = 0;
  for (int64_t first = 1437; first < 1797; first += 120) {
    int32_t found;
    expect(digits_test(model, &first, &found) == TFC_OK, model);
    right += found;
  }
  printf("%d of 360 held-out rows are recognised\n", right);
  digits_destroy(model);
  return 0;
}
