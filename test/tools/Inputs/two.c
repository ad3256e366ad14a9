// Calls two models that were linked into one program.
#include "copy.h"
#include "second.h"
#ifdef HAS_MPI
#include "tfc_mpi.h"
#endif

#include <stdio.h>

int main(void) {
  copy *first = NULL;
  second *other = NULL;
  if (copy_create(NULL, &first) || second_create(NULL, &other))
    return 1;
  const float x[2] = {1.5f, 2.5f};
  float y[2];
  if (copy_twice(first, 1, x, y))
    return 1;
  printf("%.1f %.1f\n", y[0], y[1]);
  int32_t a, b, c;
  if (copy_count(first, &a) || second_count(other, &b) || second_count(other, &c))
    return 1;
  printf("%d %d %d\n", a, b, c);
  if (second_twice(other, 9, x, y) != TFC_OUT_OF_RANGE)
    return 1;
  printf("%s\n", second_message(other));
#ifdef HAS_MPI
  if (tfc_mpi_message()[0] != 0)
    return 1;
#endif
  copy_destroy(first);
  second_destroy(other);
  return 0;
}
