//===- ClusterModel.h - A model of three tasks, for tests -----------------===//
//
// Entries as the compiler generates them, and instances for all tasks in one process.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Loopback.h"

#include "runtime/Model.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace tfc::runtime::test {

constexpr int32_t kTasks = 3;

//===- Partitions ---------------------------------------------------------===//

#define STEP(call)                                                                                 \
  if (int32_t status = call)                                                                       \
  return status

inline int64_t noArena(const int64_t *) { return 0; }
inline void noShapes(const int64_t *, int64_t *) {}
inline void ringShapes(const int64_t *symbols, int64_t *dims) { dims[0] = dims[1] = symbols[0]; }
inline int64_t ringArena(const int64_t *symbols) { return symbols[0] * 4 + 64; }

/// A check that fails for the partition whose number the first element is.
inline int32_t checkFirst(tfc_call_frame *frame, const float *x) {
  if (frame->symbols[0] == 0 || x[0] != static_cast<float>(frame->partition))
    return TFC_OK;
  int64_t position[] = {frame->partition}, values[] = {frame->partition};
  return tfc_rt_fail_check(frame, position, 1, TFC_OUT_OF_RANGE, "partition %lld refuses", values,
                           1);
}

inline void count(tfc_call_frame *frame) {
  ++*static_cast<int64_t *>(frame->variables[frame->device]);
}

// ring(x: f32[n]) -> (y: f32[n]): x passes through all tasks, each of which adds 1, and comes back.
inline int32_t ringFirst(tfc_call_frame *frame) {
  const void *y;
  STEP(tfc_rt_send(frame, 0, frame->feeds[0], frame->symbols[0] * 4));
  STEP(tfc_rt_receive(frame, 3, &y));
  memcpy(frame->fetches[0], y, frame->symbols[0] * 4);
  tfc_rt_release(frame, 3);
  STEP(checkFirst(frame, static_cast<const float *>(frame->feeds[0])));
  STEP(tfc_rt_commit(frame));
  count(frame);
  return tfc_rt_await_release(frame, 0);
}

inline int32_t ringNext(tfc_call_frame *frame) {
  const void *x;
  auto *y = reinterpret_cast<float *>(frame->arena);
  STEP(tfc_rt_receive(frame, frame->partition - 1, &x));
  float first = frame->symbols[0] ? *static_cast<const float *>(x) : 0;
  for (int64_t i = 0; i < frame->symbols[0]; ++i)
    y[i] = static_cast<const float *>(x)[i] + (i > 0);
  tfc_rt_release(frame, frame->partition - 1);
  STEP(checkFirst(frame, &first));
  STEP(tfc_rt_send(frame, frame->partition, y, frame->symbols[0] * 4));
  STEP(tfc_rt_commit(frame));
  count(frame);
  return tfc_rt_await_release(frame, frame->partition);
}

// sum() -> (s: i64): the first partition sends numbers, task 1 adds them and returns the sum as a
// scalar.
constexpr int64_t kNumbers = 300;
inline int32_t sumFirst(tfc_call_frame *frame) {
  int64_t buffers[2];
  for (int64_t i = 0; i < kNumbers; ++i) {
    int32_t buffer = tfc_rt_next_buffer(frame, 0);
    if (buffer < 0)
      return buffer;
    buffers[buffer] = i;
    STEP(tfc_rt_send(frame, 0, &buffers[buffer], 8));
  }
  STEP(tfc_rt_await_release(frame, 0));
  const void *sum;
  STEP(tfc_rt_receive(frame, 1, &sum));
  tfc_rt_release(frame, 1);
  *static_cast<int64_t *>(frame->fetches[0]) = reinterpret_cast<int64_t>(sum);
  return TFC_OK;
}

inline int32_t sumNext(tfc_call_frame *frame) {
  int64_t sum = 0;
  for (int64_t i = 0; i < kNumbers; ++i) {
    const void *number;
    STEP(tfc_rt_receive(frame, 0, &number));
    sum += *static_cast<const int64_t *>(number);
    tfc_rt_release(frame, 0);
  }
  return tfc_rt_send(frame, 1, reinterpret_cast<const void *>(sum), TFC_RT_SCALAR);
}

// shift(by: i64): changes the variables of a:0 and b:0.
inline int32_t shiftFirst(tfc_call_frame *frame) {
  auto by = reinterpret_cast<const void *>(*static_cast<const int64_t *>(frame->feeds[0]));
  STEP(tfc_rt_send(frame, 0, by, TFC_RT_SCALAR));
  return tfc_rt_send(frame, 1, by, TFC_RT_SCALAR);
}

inline int32_t shiftNext(tfc_call_frame *frame) {
  const void *by;
  STEP(tfc_rt_receive(frame, frame->partition - 1, &by));
  *static_cast<int64_t *>(frame->variables[frame->device]) += reinterpret_cast<int64_t>(by);
  return TFC_OK;
}

// pair() -> (a: i64, b: i64): reads them.
inline int32_t pairFirst(tfc_call_frame *frame) {
  for (int32_t slot : {0, 1}) {
    const void *value;
    STEP(tfc_rt_receive(frame, slot, &value));
    *static_cast<int64_t *>(frame->fetches[slot]) = *static_cast<const int64_t *>(value);
    tfc_rt_release(frame, slot);
  }
  return TFC_OK;
}

inline int32_t pairNext(tfc_call_frame *frame) {
  STEP(tfc_rt_send(frame, frame->partition - 1, frame->variables[frame->device], 8));
  return tfc_rt_await_release(frame, frame->partition - 1);
}

// peek() -> (s: i64): reads the variable of a:0 and returns it after `meanwhile`.
inline std::function<void()> meanwhile;

inline int32_t peekFirst(tfc_call_frame *frame) {
  const void *value;
  STEP(tfc_rt_receive(frame, 0, &value));
  *static_cast<int64_t *>(frame->fetches[0]) = *static_cast<const int64_t *>(value);
  tfc_rt_release(frame, 0);
  meanwhile();
  return tfc_rt_send(frame, 1, nullptr, TFC_RT_SCALAR);
}

inline int32_t peekNext(tfc_call_frame *frame) {
  const void *value;
  STEP(tfc_rt_send(frame, 0, frame->variables[frame->device], 8));
  tfc_rt_release_state(frame);
  return tfc_rt_receive(frame, 1, &value);
}

inline int32_t initOne(tfc_call_frame *frame) {
  *static_cast<int64_t *>(frame->variables[frame->device]) = 0;
  return TFC_OK;
}

//===- The model ----------------------------------------------------------===//

enum Entry { kRing, kSum, kShift, kPair, kPeek, kEntries };

const char *const kNames[] = {"/job:a/task:0", "/job:a/task:1", "/job:b/task:0"};
const tfc_device_info kDevices[] = {{"/job:local/task:0/device:cpu:0", "cpu", 0, -1},
                                    {"/job:a/task:0/device:cpu:0", "cpu", 0, 0},
                                    {"/job:a/task:1/device:cpu:0", "cpu", 0, 1},
                                    {"/job:b/task:0/device:cpu:0", "cpu", 0, 2}};
const tfc_variable_info kVariables[] = {{"local", nullptr, TFC_I64, 0, nullptr, 8, 0},
                                        {"a0", nullptr, TFC_I64, 0, nullptr, 8, 1},
                                        {"a1", nullptr, TFC_I64, 0, nullptr, 8, 2},
                                        {"b0", nullptr, TFC_I64, 0, nullptr, 8, 3}};
const tfc_slot_info kRingSlots[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
const tfc_slot_info kSumSlots[] = {{0, 1}, {1, 0}};
const tfc_slot_info kShiftSlots[] = {{0, 1}, {0, 2}};
const tfc_slot_info kPairSlots[] = {{1, 0}, {2, 0}};
const tfc_partition_info kRingParts[] = {{ringFirst, noArena, 0, 2},
                                         {ringNext, ringArena, 1, 2},
                                         {ringNext, ringArena, 2, 2},
                                         {ringNext, ringArena, 3, 2}};
const tfc_partition_info kSumParts[] = {{sumFirst, noArena, 0, 0}, {sumNext, noArena, 2, 0}};
const tfc_partition_info kShiftParts[] = {
    {shiftFirst, noArena, 0, 0}, {shiftNext, noArena, 1, 2}, {shiftNext, noArena, 3, 2}};
const tfc_partition_info kPairParts[] = {
    {pairFirst, noArena, 0, 0}, {pairNext, noArena, 1, 1}, {pairNext, noArena, 3, 1}};
const tfc_slot_info kPeekSlots[] = {{1, 0}, {0, 1}};
const tfc_partition_info kPeekParts[] = {{peekFirst, noArena, 0, 0}, {peekNext, noArena, 1, 1}};
const tfc_partition_info kInitParts[] = {{initOne, noArena, 0, 2},
                                         {initOne, noArena, 1, 2},
                                         {initOne, noArena, 2, 2},
                                         {initOne, noArena, 3, 2}};
const tfc_partitioning kRingDivided = {kRingParts, kRingSlots, 4, 4, 1};
const tfc_partitioning kSumDivided = {kSumParts, kSumSlots, 2, 2, 0};
const tfc_partitioning kShiftDivided = {kShiftParts, kShiftSlots, 3, 2, 0};
const tfc_partitioning kPairDivided = {kPairParts, kPairSlots, 3, 2, 0};
const tfc_partitioning kPeekDivided = {kPeekParts, kPeekSlots, 2, 2, 0};
const tfc_partitioning kInitDivided = {kInitParts, nullptr, 4, 0, 0};
const tfc_value_info kVector[] = {{"x", "f32[n]", TFC_F32, 1}};
const tfc_value_info kNumber[] = {{"s", "i64", TFC_I64, 0}};
const tfc_value_info kNumbersOfPair[] = {{"a", "i64", TFC_I64, 0}, {"b", "i64", TFC_I64, 0}};
const tfc_symbol_info kSymbols[] = {{"n", 0, -1, 0, 0, 1, 0}};

inline tfc_entry_info makeEntry(const char *name, const tfc_partitioning *partitioning) {
  tfc_entry_info entry = {};
  entry.name = name;
  entry.writes = 1;
  entry.shapes = noShapes;
  entry.arena_bytes = noArena;
  entry.run = tfc_rt_run_partitions;
  entry.partitioning = partitioning;
  return entry;
}

struct ClusterModel {
  ClusterModel() {
    entries[kRing].feed_count = entries[kRing].fetch_count = entries[kRing].symbol_count = 1;
    entries[kRing].feeds = entries[kRing].fetches = kVector;
    entries[kRing].symbols = kSymbols;
    entries[kRing].shapes = ringShapes;
    entries[kSum].fetch_count = 1;
    entries[kSum].fetches = kNumber;
    entries[kShift].feed_count = 1;
    entries[kShift].feeds = kNumber;
    entries[kPair].fetch_count = 2;
    entries[kPair].fetches = kNumbersOfPair;
    entries[kPair].writes = 0;
    entries[kPeek].fetch_count = 1;
    entries[kPeek].fetches = kNumber;
    entries[kPeek].writes = 0;
    model.abi_version = TFC_ABI_VERSION;
    model.name = "model";
    model.features = "";
    model.variables = kVariables;
    model.variable_count = 4;
    model.entries = entries;
    model.entry_count = kEntries;
    model.init = &init;
    model.devices = kDevices;
    model.device_count = 4;
    model.tasks = kNames;
    model.task_count = kTasks;
  }
  tfc_entry_info entries[kEntries] = {
      makeEntry("ring", &kRingDivided), makeEntry("sum", &kSumDivided),
      makeEntry("shift", &kShiftDivided), makeEntry("pair", &kPairDivided),
      makeEntry("peek", &kPeekDivided)};
  tfc_entry_info init = makeEntry("init", &kInitDivided);
  tfc_model model = {};
};

const ClusterModel kModel;

/// An instance for each task. `each` runs a function for each of them on a thread of its own.
struct Cluster {
  using Adjust = std::function<void(int32_t task, tfc_options &)>;

  explicit Cluster(
      int64_t timeout = 0, const Adjust &adjust = [](int32_t, tfc_options &) {},
      const tfc_model &model = kModel.model)
      : loopback(kTasks) {
    for (int32_t task = 0; task < kTasks; ++task) {
      tfc_options options = {};
      options.size = sizeof(options);
      options.threads = 1;
      options.transport = loopback[task];
      options.task_timeout_ms = timeout;
      adjust(task, options);
      EXPECT_EQ(tfc_instance_create(&model, &options, &instances[task]), TFC_OK)
          << tfc_instance_message(nullptr);
    }
  }
  ~Cluster() {
    each([](int32_t, tfc_instance *instance) { tfc_instance_destroy(instance); });
  }

  void each(const std::function<void(int32_t, tfc_instance *)> &function) {
    std::vector<std::thread> threads;
    for (int32_t task = 0; task < kTasks; ++task)
      threads.emplace_back([&, task] { function(task, instances[task]); });
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Calls `ring` on all tasks; returns the status and the message of each.
  std::vector<std::string> ring(const std::vector<float> &x, std::vector<float> &y) {
    std::vector<std::string> results(kTasks);
    y.resize(x.size());
    each([&](int32_t task, tfc_instance *instance) {
      int64_t n = x.size();
      const void *feeds[] = {task == 0 ? x.data() : nullptr};
      void *fetches[] = {task == 0 ? y.data() : nullptr};
      tfc_status status = tfc_instance_call(instance, kRing, &n, feeds, fetches);
      results[task] = std::to_string(status) + " " + tfc_instance_message(instance);
    });
    return results;
  }

  int64_t get(int32_t task, const char *variable) {
    int64_t value = -1;
    tfc_tensor tensor = {TFC_I64, 0, nullptr, &value};
    EXPECT_EQ(tfc_instance_get(instances[task], variable, &tensor), TFC_OK);
    return value;
  }
  void expectCounts(int64_t value) {
    EXPECT_EQ(get(0, "local"), value);
    EXPECT_EQ(get(0, "a0"), value);
    EXPECT_EQ(get(1, "a1"), value);
    EXPECT_EQ(get(2, "b0"), value);
  }

  Loopback loopback;
  tfc_instance *instances[kTasks] = {};
};

const std::vector<std::string> kAllPass(kTasks, "0 ");

} // namespace tfc::runtime::test
