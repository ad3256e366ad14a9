// A model as the compiler would emit it, by hand: scale(x: f32[n <= 8, 2]) -> (y: f32[n, 2], rows:
// i64) multiplies by the variable w: f32[2] and adds n to the variable seen: i64.
#include "runtime/Model.h"

static const int64_t wDims[] = {2};
static const tfc_variable_info variables[] = {
    {"w", NULL, TFC_F32, 1, wDims, 8},
    {"seen", NULL, TFC_I64, 0, NULL, 8},
};

static void shapes(const int64_t *symbols, int64_t *dims) {
  dims[0] = dims[2] = symbols[0];
  dims[1] = dims[3] = 2;
}

static int64_t arenaBytes(const int64_t *symbols) { return 0; }
static void noShapes(const int64_t *symbols, int64_t *dims) {}

static int32_t scale(tfc_call_frame *frame) {
  const float *x = frame->feeds[0], *w = frame->variables[0];
  float *y = frame->fetches[0];
  int64_t *seen = (int64_t *)frame->variables[1], n = frame->symbols[0];
  for (int64_t i = 0; i < 2 * n; ++i)
    y[i] = x[i] * w[i % 2];
  *seen += n;
  *(int64_t *)frame->fetches[1] = *seen;
  return TFC_OK;
}

static int32_t initialise(tfc_call_frame *frame) {
  float *w = (float *)frame->variables[0];
  w[0] = 1;
  w[1] = 2;
  *(int64_t *)frame->variables[1] = 0;
  return TFC_OK;
}

static const tfc_value_info feeds[] = {{"x", "f32[n, 2]", TFC_F32, 2}};
static const tfc_value_info fetches[] = {{"y", "f32[n, 2]", TFC_F32, 2},
                                         {"rows", "i64", TFC_I64, 0}};
static const tfc_symbol_info symbols[] = {{"n", 0, 8, 0, 0, 1, 0}};
static const tfc_entry_info entries[] = {
    {"scale", 1, 2, 1, 1, feeds, fetches, symbols, shapes, arenaBytes, scale},
};
static const tfc_entry_info init = {"init", 0,    0,        0,          1,         NULL,
                                    NULL,   NULL, noShapes, arenaBytes, initialise};
static const tfc_model model = {TFC_ABI_VERSION, 2,  1,         0,       "handmade",
                                "any",           "", variables, entries, &init};

const tfc_library *tfc_library_get(void);
const tfc_library *tfc_library_get(void) {
  static const tfc_library library = {&tfc_runtime_api, &model};
  return &library;
}
