//===- GpuModel.h - A model on a GPU, written by hand ---------------------===//
//
// The kernels are PTX, and the host functions are written as the compiler generates them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ToyModel.h"

#include "runtime/Instance.h"

//===- Code ---------------------------------------------------------------===//

/// add: out[i] = x[i] + w[i % 4]; fail: writes far outside of all memory.
static const char kCode[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 n, .param .u64 x, .param .u64 w, .param .u64 out) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a<9>; .reg .f32 %f<3>;
ld.param.u64 %a0, [n]; ld.param.u64 %a1, [x]; ld.param.u64 %a2, [w]; ld.param.u64 %a3, [out];
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
cvt.u64.u32 %a4, %r3; setp.ge.s64 %p, %a4, %a0; @%p ret;
and.b64 %a5, %a4, 3; shl.b64 %a4, %a4, 2; shl.b64 %a5, %a5, 2;
add.s64 %a6, %a1, %a4; add.s64 %a7, %a2, %a5; add.s64 %a8, %a3, %a4;
ld.global.f32 %f0, [%a6]; ld.global.f32 %f1, [%a7]; add.rn.f32 %f2, %f0, %f1;
st.global.f32 [%a8], %f2;
ret;
}
.visible .entry fail(.param .u64 p) {
.reg .b64 %a<3>; .reg .f32 %f;
ld.param.u64 %a0, [p]; mov.u64 %a2, 1099511627776; add.s64 %a1, %a0, %a2; mov.f32 %f, 0f00000000;
st.global.f32 [%a1], %f;
ret;
}
)";
static const tfc_grid_info kGrids[] = {{"add", 128}, {"fail", 32}};
enum Grid { kAdd, kFail };

//===- Host functions -----------------------------------------------------===//

enum Variable { kW, kSteps }; // w: f32[4] = 0.5 on the GPU, steps: i64 = 7 on the host
static const float kHalves[] = {0.5f, 0.5f, 0.5f, 0.5f}, kOne[] = {1};
static const tfc_constant_info kConstants[] = {{kOne, 4, 1}, {kHalves, 16, 1}};

static int64_t noArena(const int64_t *) { return 0; }
static void noShapes(const int64_t *, int64_t *) {}
static int64_t asArgument(const void *address) { return reinterpret_cast<int64_t>(address); }

static int32_t add(tfc_call_frame *frame, int64_t n, const void *x, const void *w, void *out) {
  const int64_t arguments[] = {n, asArgument(x), asArgument(w), asArgument(out)};
  return tfc_rt_device_launch(frame, kAdd, n, arguments, 4);
}

/// Runs steps until one fails.
#define STEP(call)                                                                                 \
  if (int32_t status = call)                                                                       \
  return status

// The initial values.
static int32_t initHost(tfc_call_frame *frame) {
  *static_cast<int64_t *>(frame->variables[kSteps]) = 7;
  return TFC_OK;
}
static int32_t initGpu(tfc_call_frame *frame) {
  const void *halves = tfc_rt_device_constant(frame, 1);
  return tfc_rt_device_copy(frame, frame->variables[kW], halves, sizeof kHalves);
}

// shift(x: f32[n]) -> (y: f32[n]): y = x + w, on the GPU.
static int32_t shiftHost(tfc_call_frame *frame) {
  const void *y;
  STEP(tfc_rt_send(frame, 0, frame->feeds[0], 0));
  STEP(tfc_rt_receive(frame, 1, &y));
  if (frame->symbols[0])
    memcpy(frame->fetches[0], y, frame->symbols[0] * sizeof(float));
  tfc_rt_release(frame, 1);
  return TFC_OK;
}
static int64_t shiftBytes(const int64_t *symbols) { return symbols[0] * 8; }
static int32_t shiftGpu(tfc_call_frame *frame) {
  int64_t n = frame->symbols[0], bytes = n * 4;
  const void *x;
  char *copy = frame->arena, *y = frame->arena + bytes;
  STEP(tfc_rt_receive(frame, 0, &x));
  STEP(tfc_rt_device_upload(frame, copy, x, bytes));
  tfc_rt_release(frame, 0);
  STEP(add(frame, n, copy, frame->variables[kW], y));
  return tfc_rt_device_send(frame, 1, y, bytes);
}
static void shiftShapes(const int64_t *symbols, int64_t *dims) { dims[0] = dims[1] = symbols[0]; }

// step(fail: i64): w += w and steps += 1, unless it fails: 1 on the host, 2 in a kernel, 3 by a
// check, 4 by a launch that has too many threads.
static int32_t stepHost(tfc_call_frame *frame) {
  auto fail = *static_cast<const int64_t *>(frame->feeds[0]);
  STEP(tfc_rt_send(frame, 0, reinterpret_cast<const void *>(fail), 0));
  if (fail == 1)
    return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "always", nullptr, 0);
  const int64_t position[] = {0};
  if (fail == 3)
    return tfc_rt_fail_check(frame, position, 1, TFC_FAILED_PRECONDITION, "check", nullptr, 0);
  STEP(tfc_rt_commit(frame));
  ++*static_cast<int64_t *>(frame->variables[kSteps]);
  return TFC_OK;
}
static int64_t stepBytes(const int64_t *) { return 64; }
static int32_t stepGpu(tfc_call_frame *frame) {
  const void *fail;
  STEP(tfc_rt_receive(frame, 0, &fail));
  tfc_rt_release(frame, 0);
  void *w = frame->variables[kW];
  const int64_t address = asArgument(w);
  if (asArgument(fail) == 2)
    STEP(tfc_rt_device_launch(frame, kFail, 1, &address, 1));
  if (asArgument(fail) == 4)
    STEP(tfc_rt_device_launch(frame, kFail, int64_t(1) << 40, &address, 1));
  STEP(add(frame, 4, w, w, frame->arena));
  STEP(tfc_rt_commit(frame));
  return tfc_rt_device_copy(frame, w, frame->arena, 16);
}

// grow(n: i64) -> (last: f32): n elements in a chunk that grows, each the sum of w and the one
// before.
static int32_t growHost(tfc_call_frame *frame) {
  const void *value;
  STEP(tfc_rt_send(
      frame, 0, reinterpret_cast<const void *>(*static_cast<const int64_t *>(frame->feeds[0])), 0));
  STEP(tfc_rt_receive(frame, 1, &value));
  auto bits = static_cast<uint32_t>(asArgument(value));
  memcpy(frame->fetches[0], &bits, 4);
  return TFC_OK;
}
static int32_t growGpu(tfc_call_frame *frame) {
  const void *count;
  STEP(tfc_rt_receive(frame, 0, &count));
  tfc_chunk &chunk = frame->chunks[0];
  STEP(tfc_rt_grow(frame, 0, 16));
  STEP(tfc_rt_device_fill(frame, chunk.data, -1, 16));
  uint32_t last = 0;
  for (int i = 0; i < 4; ++i)
    STEP(tfc_rt_device_upload(frame, chunk.data + 4 * i, &last, 4));
  for (int64_t i = 1; i <= asArgument(count); ++i) {
    STEP(tfc_rt_grow(frame, 0, 16 * (i + 1)));
    STEP(add(frame, 4, chunk.data + 16 * (i - 1), frame->variables[kW], chunk.data + 16 * i));
  }
  STEP(tfc_rt_device_read(frame, &last, chunk.data + 16 * asArgument(count) + 12, 4));
  return tfc_rt_send(frame, 1, reinterpret_cast<const void *>(uint64_t(last)), 0);
}

// count() -> (steps: i64), on the host alone.
static int32_t runCount(tfc_call_frame *frame) {
  memcpy(frame->fetches[0], frame->variables[kSteps], 8);
  return TFC_OK;
}

//===- The model ----------------------------------------------------------===//

enum Entry { kShift, kStep, kGrow, kCount };

static const tfc_slot_info kThere[] = {{0, 1}}, kThereAndBack[] = {{0, 1}, {1, 0}};
static const tfc_partition_info kInitParts[] = {{initHost, noArena, 0}, {initGpu, noArena, 1}};
static const tfc_partition_info kShiftParts[] = {{shiftHost, noArena, 0},
                                                 {shiftGpu, shiftBytes, 1}};
static const tfc_partition_info kStepParts[] = {{stepHost, noArena, 0}, {stepGpu, stepBytes, 1}};
static const tfc_partition_info kGrowParts[] = {{growHost, noArena, 0}, {growGpu, noArena, 1}};
static const tfc_partitioning kInitDivided = {kInitParts, nullptr, 2, 0, 0};
static const tfc_partitioning kShiftDivided = {kShiftParts, kThereAndBack, 2, 2, 0};
static const tfc_partitioning kStepDivided = {kStepParts, kThere, 2, 1, 1};
static const tfc_partitioning kGrowDivided = {kGrowParts, kThereAndBack, 2, 2, 0};

static const tfc_value_info kVector[] = {{"x", "f32[n]", TFC_F32, 1}};
static const tfc_value_info kNumber[] = {{"number", "i64", TFC_I64, 0}};
static const tfc_value_info kFloat[] = {{"last", "f32", TFC_F32, 0}};
static const tfc_symbol_info kSymbols[] = {{"n", 0, -1, 0, 0, 1, 0}};

static tfc_entry_info makeEntry(const char *name, const tfc_partitioning *partitioning) {
  tfc_entry_info entry = {};
  entry.name = name;
  entry.shapes = noShapes;
  entry.arena_bytes = noArena;
  entry.run = tfc_rt_run_partitions;
  entry.partitioning = partitioning;
  return entry;
}

namespace {
/// A model on cpu:0 and a GPU, gpu:0 unless the test says otherwise.
struct GpuModel {
  GpuModel() {
    entries[kShift].feed_count = entries[kShift].fetch_count = entries[kShift].symbol_count = 1;
    entries[kShift].feeds = entries[kShift].fetches = kVector;
    entries[kShift].symbols = kSymbols;
    entries[kShift].shapes = shiftShapes;
    entries[kStep].feed_count = entries[kStep].writes = 1;
    entries[kStep].feeds = kNumber;
    entries[kGrow].feed_count = entries[kGrow].fetch_count = 1;
    entries[kGrow].feeds = kNumber;
    entries[kGrow].fetches = kFloat;
    entries[kCount].fetch_count = 1;
    entries[kCount].fetches = kNumber;
    entries[kCount].run = runCount;
    init.writes = 1;
    model = {TFC_ABI_VERSION, 2,         4,       1,          "model", "x86-64",
             "+sse2",         variables, entries, &init,      nullptr, 0,
             devices,         2,         &image,  kConstants, 2};
  }
  GpuModel(const GpuModel &) = delete;

  int64_t dims[1] = {4};
  tfc_variable_info variables[2] = {{"w", nullptr, TFC_F32, 1, dims, 16, 1},
                                    {"steps", nullptr, TFC_I64, 0, nullptr, 8, 0}};
  tfc_entry_info entries[4] = {makeEntry("shift", &kShiftDivided), makeEntry("step", &kStepDivided),
                               makeEntry("grow", &kGrowDivided), makeEntry("count", nullptr)};
  tfc_entry_info init = makeEntry("init", &kInitDivided);
  tfc_device_info devices[2] = {{"/job:local/task:0/device:cpu:0", "cpu", 0, -1},
                                {"/job:local/task:0/device:gpu:0", "gpu", 0, -1}};
  tfc_image_info image = {"gpu", kCode, kGrids, 2, nullptr, 0};
  tfc_model model;
};
} // namespace
