// Calls with sizes that are too large for any memory, and with small ones.
#include "large.h"
#include <stdio.h>

static large *model;

static void show(const char *text, tfc_status status) {
  printf("%s: %d %s\n", text, status, status ? large_message(model) : "");
}

int main(void) {
  if (large_create(NULL, &model))
    return 1;
  const float x[4] = {1, 2, 3, 4};
  float z[4][4] = {{0}};
  const int64_t half = INT64_C(1) << 62, product = INT64_C(1) << 32;
  show("outer 3 4", large_outer(model, 3, 4, x, x, z[0]));
  show("outer 4294967296 4294967296", large_outer(model, product, product, x, x, z[0]));
  show("outer 9223372036854775807 9223372036854775807",
       large_outer(model, INT64_MAX, INT64_MAX, x, x, z[0]));
  show("copy 4611686018427387904", large_copy(model, half, x, z[0]));
  show("far 4611686018427387904", large_far(model, half, x, z[0]));
  show("limited 4294967296 4294967296", large_limited(model, product, product, x, x, z[0]));
  const int64_t dims[1] = {4096};
  tfc_tensor feed = {TFC_F32, 1, dims, (void *)x}, fetch;
  show("infer far", large_library()->api->infer((tfc_instance *)model, "far", &feed, 1, &fetch, 1));
  show("step", large_step(model, 4, x, z[0]));
  if (z[0][0] != 1)
    printf("step gives %g\n", z[0][0]);
  large_triangles(model, x, z[0], z[1], z[2], z[3]);
  printf("triangles:");
  for (int i = 0; i < 16; ++i)
    printf(" %g%s", z[i / 4][i % 4], i % 4 == 3 && i < 15 ? "," : "");
  printf("\n");
  large_destroy(model);
  return 0;
}
