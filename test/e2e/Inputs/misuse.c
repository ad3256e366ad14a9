// Calls of the digits model that must fail, each with a status and a message, and change nothing.
#include "digits.h"

#include <stdio.h>
#include <string.h>

enum { kRows = 300 };
static float x[kRows][64], before[kRows][10], after[kRows][10];
static int32_t label[kRows];

static void expect(digits *model, tfc_status wanted, tfc_status got, const char *what) {
  int same = digits_score(model, 64, x[0], after[0]) == TFC_OK &&
             memcmp(before, after, sizeof before) == 0;
  printf("%s: %s, variables %s\n", what, got == wanted ? "refused" : "NOT AS EXPECTED",
         same ? "unchanged" : "CHANGED");
}

/// The status, with the message printed: it belongs to the last function on the instance.
static tfc_status said(digits *model, tfc_status status) {
  printf("%s\n", digits_message(model));
  return status;
}

int main(int argc, char **argv) {
  for (int i = 0; i < kRows; ++i)
    x[i][i % 64] = 16;
  digits *m;
  float loss;
  if (argc < 2 || digits_create(NULL, &m) || digits_score(m, 64, x[0], before[0]))
    return 1;
  expect(m, TFC_OUT_OF_RANGE, said(m, digits_train(m, 257, x[0], label, &loss)), "too many rows");
  expect(m, TFC_OUT_OF_RANGE, said(m, digits_train(m, -1, x[0], label, &loss)),
         "less than no rows");
  tfc_status none = said(m, digits_train(m, 0, x[0], label, &loss));
  expect(m, none == TFC_OK ? TFC_INTERNAL : none, none, "where n >= 1");
  expect(m, TFC_INVALID_ARGUMENT, said(m, digits_train(m, 8, NULL, label, &loss)), "null feed");
  expect(m, TFC_INVALID_ARGUMENT, said(m, digits_train(m, 8, x[0], label, NULL)), "null fetch");
  label[5] = 10;
  expect(m, TFC_OUT_OF_RANGE, said(m, digits_train(m, 8, x[0], label, &loss)), "label of 10");
  label[5] = -1;
  expect(m, TFC_OUT_OF_RANGE, said(m, digits_train(m, 8, x[0], label, &loss)), "label of -1");
  label[5] = 0;
  tfc_status missing = said(m, digits_load(m, "/nowhere/digits.safetensors"));
  expect(m, missing == TFC_OK ? TFC_INTERNAL : missing, missing, "no such file");
  tfc_status damaged = said(m, digits_load(m, argv[1]));
  expect(m, damaged == TFC_OK ? TFC_INTERNAL : damaged, damaged, "a file of other content");
  int32_t classes[1];
  printf("no rows to classify: %s\n", digits_infer(m, 0, NULL, classes) ? "REFUSED" : "fine");
  printf("after all: %s\n", digits_train(m, 8, x[0], label, &loss) ? "BROKEN" : "trains");
  digits_destroy(m);
  return 0;
}
