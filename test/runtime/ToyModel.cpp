//===- ToyModel.cpp - A hand-written model for tests ----------------------===//
//
// Defines a model by hand, in the tables that the compiler emits, so that the runtime is tested
// without the compiler.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include <cstring>

using namespace toy;

std::function<int32_t(tfc_call_frame *)> toy::custom;

static int64_t noArena(const int64_t *) { return 0; }
static void noShapes(const int64_t *, int64_t *) {}

static int32_t runInit(tfc_call_frame *frame) {
  for (int32_t i = 0; i < kModel.variable_count; ++i)
    memset(frame->variables[i], 0, kModel.variables[i].bytes);
  for (int i = 0; i < 6; ++i)
    static_cast<float *>(frame->variables[kW])[i] = i;
  static_cast<uint8_t *>(frame->variables[kMask])[1] = 1;
  return TFC_OK;
}

static void stepShapes(const int64_t *symbols, int64_t *dims) {
  int64_t n = symbols[0];
  const int64_t all[] = {n, 4, n, n, 4};
  memcpy(dims, all, sizeof(all));
}

static int32_t runStep(tfc_call_frame *frame) {
  auto *x = static_cast<const float *>(frame->feeds[0]);
  auto *y = static_cast<float *>(frame->fetches[1]);
  float total = 0;
  for (int64_t i = 0; i < frame->symbols[0] * 4; ++i)
    total += y[i] = x[i];
  *static_cast<float *>(frame->fetches[0]) = total;
  *static_cast<float *>(frame->variables[kW]) += total;
  *static_cast<int64_t *>(frame->variables[kSteps]) += 1;
  return TFC_OK;
}

static void totalShapes(const int64_t *symbols, int64_t *dims) { dims[0] = symbols[0]; }
static int64_t totalArena(const int64_t *symbols) { return symbols[0] * 4; }

static int32_t runTotal(tfc_call_frame *frame) {
  float total = 0;
  int64_t m = frame->symbols[0];
  if (m > 0)
    memcpy(frame->arena, frame->feeds[0], m * sizeof(float));
  for (int64_t i = 0; i < m; ++i)
    total += reinterpret_cast<float *>(frame->arena)[i];
  *static_cast<float *>(frame->fetches[0]) = total;
  return TFC_OK;
}

static int32_t runPick(tfc_call_frame *frame) {
  int64_t index = *static_cast<const int64_t *>(frame->feeds[0]);
  const int64_t values[] = {index, 6};
  if (index < 0 || index >= 6)
    return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "index %lld is out of range [0, %lld)", values, 2);
  *static_cast<float *>(frame->fetches[0]) = static_cast<float *>(frame->variables[kW])[index];
  return TFC_OK;
}

static void oddShapes(const int64_t *symbols, int64_t *dims) { dims[0] = 2 * symbols[0] + 1; }

static int32_t runOdd(tfc_call_frame *frame) {
  *static_cast<int64_t *>(frame->fetches[0]) = frame->symbols[0];
  return TFC_OK;
}

static int32_t runCustom(tfc_call_frame *frame) { return custom(frame); }

static const tfc_value_info kStepFeeds[] = {{"x", "f32[n, 4]", TFC_F32, 2},
                                            {"label", "i32[n]", TFC_I32, 1}};
static const tfc_value_info kStepFetches[] = {{"total", "f32", TFC_F32, 0},
                                              {"y", "f32[n, 4]", TFC_F32, 2}};
static const tfc_symbol_info kStepSymbols[] = {{"n", 1, 256, 0, 0, 1, 0}};
static const tfc_value_info kTotalFeeds[] = {{"x", "f32[m]", TFC_F32, 1}};
static const tfc_value_info kTotalFetches[] = {{"total", "f32", TFC_F32, 0}};
static const tfc_symbol_info kTotalSymbols[] = {{"m", 0, -1, 0, 0, 1, 0}};
static const tfc_value_info kPickFeeds[] = {{"index", "i64", TFC_I64, 0}};
static const tfc_value_info kPickFetches[] = {{"value", "f32", TFC_F32, 0}};
static const tfc_value_info kOddFeeds[] = {{"x", "f32[2 * k + 1]", TFC_F32, 1}};
static const tfc_value_info kOddFetches[] = {{"k", "i64", TFC_I64, 0}};
static const tfc_symbol_info kOddSymbols[] = {{"k", 0, 10, 0, 0, 2, 1}};

static const tfc_entry_info kEntries[] = {
    {"step", 2, 2, 1, 1, kStepFeeds, kStepFetches, kStepSymbols, stepShapes, noArena, runStep},
    {"total", 1, 1, 1, 0, kTotalFeeds, kTotalFetches, kTotalSymbols, totalShapes, totalArena,
     runTotal},
    {"pick", 1, 1, 0, 0, kPickFeeds, kPickFetches, nullptr, noShapes, noArena, runPick},
    {"odd", 1, 1, 1, 0, kOddFeeds, kOddFetches, kOddSymbols, oddShapes, noArena, runOdd},
    {"custom", 0, 0, 0, 0, nullptr, nullptr, nullptr, noShapes, noArena, runCustom},
};
static const tfc_entry_info kInit = {"init",  0,       0,        0,       1,      nullptr,
                                     nullptr, nullptr, noShapes, noArena, runInit};

static const int64_t kWDims[] = {2, 3};
static const int64_t kMaskDims[] = {5};
static const int64_t kHalfDims[] = {3};
static const int64_t kEmptyDims[] = {0, 7};
static const tfc_variable_info kVariables[] = {
    {"w", nullptr, TFC_F32, 2, kWDims, 24},
    {"steps", nullptr, TFC_I64, 0, nullptr, 8},
    {"mask", nullptr, TFC_BOOL, 1, kMaskDims, 5},
    {"net.half", "old.half", TFC_BF16, 1, kHalfDims, 6},
    {"empty", nullptr, TFC_F32, 2, kEmptyDims, 0},
};

const tfc_model toy::kModel = {TFC_ABI_VERSION, 5,          5,        0,     "toy", "x86-64",
                               "+sse2,+cmov",   kVariables, kEntries, &kInit};

static void access(tfc_instance *instance, Values &values, decltype(tfc_instance_get) *function) {
  tfc_tensor w = {TFC_F32, 2, kWDims, values.w};
  tfc_tensor steps = {TFC_I64, 0, nullptr, &values.steps};
  tfc_tensor mask = {TFC_BOOL, 1, kMaskDims, values.mask};
  tfc_tensor half = {TFC_BF16, 1, kHalfDims, values.half};
  EXPECT_EQ(function(instance, "w", &w), TFC_OK) << tfc_instance_message(instance);
  EXPECT_EQ(function(instance, "steps", &steps), TFC_OK) << tfc_instance_message(instance);
  EXPECT_EQ(function(instance, "mask", &mask), TFC_OK) << tfc_instance_message(instance);
  EXPECT_EQ(function(instance, "net.half", &half), TFC_OK) << tfc_instance_message(instance);
}

Values toy::read(tfc_instance *instance) {
  Values values = {};
  access(instance, values, tfc_instance_get);
  return values;
}

void toy::write(tfc_instance *instance, const Values &values) {
  Values copy = values;
  access(instance, copy, tfc_instance_set);
}

Values toy::someValues() {
  return {{0.5f, -1, 2e30f, 3, 4, 5.25f}, 123456789012345, {1, 0, 1, 1, 0}, {0x3f80, 7, 0xffff}};
}
