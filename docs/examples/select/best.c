// Fetches of data-dependent size, by the typed function and by name.
#include "filter.h"
#include <stdio.h>
#include <stdlib.h>

static void expect(int condition, filter *model) {
  if (condition)
    return;
  fprintf(stderr, "%s\n", filter_message(model));
  exit(1);
}

int main(void) {
  filter *model;
  if (filter_create(NULL, &model) != TFC_OK) {
    fprintf(stderr, "%s\n", filter_message(NULL));
    return 1;
  }
  float rows[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  float score[4] = {0.1f, 0.9f, 0.3f, 0.8f};

  // Room for all rows, in case all are kept; k is the number of rows that were.
  float kept[4][3], scores[4], above = 0.5f;
  int64_t k;
  expect(filter_best(model, 4, rows[0], score, &above, kept[0], scores, &k) == TFC_OK, model);
  printf("%lld rows, the last is %g %g %g with %g\n", (long long)k, kept[k - 1][0], kept[k - 1][1],
         kept[k - 1][2], scores[k - 1]);

  // By name: before the call, the shapes are those of the largest results.
  const tfc_api *api = filter_library()->api;
  tfc_instance *instance = (tfc_instance *)model;
  int64_t rowDims[] = {4, 3}, scoreDims[] = {4};
  tfc_tensor feeds[] = {
      {TFC_F32, 2, rowDims, rows}, {TFC_F32, 1, scoreDims, score}, {TFC_F32, 0, NULL, &above}};
  tfc_tensor fetches[2];
  expect(api->infer(instance, "best", feeds, 3, fetches, 2) == TFC_OK, model);
  printf("room for %lld rows\n", (long long)fetches[0].dims[0]);
  tfc_tensor room[] = {{TFC_F32, 2, rowDims, kept}, {TFC_F32, 1, scoreDims, scores}};
  above = 2.0f;
  expect(api->call(instance, "best", feeds, 3, room, 2) == TFC_OK, model);
  expect(api->found(instance, fetches, 2) == TFC_OK, model);
  printf("%lld rows\n", (long long)fetches[0].dims[0]);
  filter_destroy(model);
  return 0;
}
