//===- TasksTest.cpp - Calls that run in several processes ----------------===//
//
// Tests entries whose partitions are on several tasks, written as the compiler generates them. The
// processes are threads with an instance each.
//
//===----------------------------------------------------------------------===//

#include "Loopback.h"

#include "runtime/Model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace {

constexpr int32_t kTasks = 3;

//===- Partitions ---------------------------------------------------------===//

#define STEP(call)                                                                                 \
  if (int32_t status = call)                                                                       \
  return status

int64_t noArena(const int64_t *) { return 0; }
void noShapes(const int64_t *, int64_t *) {}
void ringShapes(const int64_t *symbols, int64_t *dims) { dims[0] = dims[1] = symbols[0]; }
int64_t ringArena(const int64_t *symbols) { return symbols[0] * 4 + 64; }

/// A check that fails for the partition whose number the first element is.
int32_t checkFirst(tfc_call_frame *frame, const float *x) {
  if (frame->symbols[0] == 0 || x[0] != static_cast<float>(frame->partition))
    return TFC_OK;
  int64_t position[] = {frame->partition}, values[] = {frame->partition};
  return tfc_rt_fail_check(frame, position, 1, TFC_OUT_OF_RANGE, "partition %lld refuses", values,
                           1);
}

void count(tfc_call_frame *frame) { ++*static_cast<int64_t *>(frame->variables[frame->device]); }

// ring(x: f32[n]) -> (y: f32[n]): x passes through all tasks, each of which adds 1, and comes back.
int32_t ringFirst(tfc_call_frame *frame) {
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

int32_t ringNext(tfc_call_frame *frame) {
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
int32_t sumFirst(tfc_call_frame *frame) {
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

int32_t sumNext(tfc_call_frame *frame) {
  int64_t sum = 0;
  for (int64_t i = 0; i < kNumbers; ++i) {
    const void *number;
    STEP(tfc_rt_receive(frame, 0, &number));
    sum += *static_cast<const int64_t *>(number);
    tfc_rt_release(frame, 0);
  }
  return tfc_rt_send(frame, 1, reinterpret_cast<const void *>(sum), TFC_RT_SCALAR);
}

int32_t initOne(tfc_call_frame *frame) {
  *static_cast<int64_t *>(frame->variables[frame->device]) = 0;
  return TFC_OK;
}

//===- The model ----------------------------------------------------------===//

enum Entry { kRing, kSum };

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
const tfc_partition_info kRingParts[] = {{ringFirst, noArena, 0},
                                         {ringNext, ringArena, 1},
                                         {ringNext, ringArena, 2},
                                         {ringNext, ringArena, 3}};
const tfc_partition_info kSumParts[] = {{sumFirst, noArena, 0}, {sumNext, noArena, 2}};
const tfc_partition_info kInitParts[] = {
    {initOne, noArena, 0}, {initOne, noArena, 1}, {initOne, noArena, 2}, {initOne, noArena, 3}};
const tfc_partitioning kRingDivided = {kRingParts, kRingSlots, 4, 4, 1};
const tfc_partitioning kSumDivided = {kSumParts, kSumSlots, 2, 2, 0};
const tfc_partitioning kInitDivided = {kInitParts, nullptr, 4, 0, 0};
const tfc_value_info kVector[] = {{"x", "f32[n]", TFC_F32, 1}};
const tfc_value_info kNumber[] = {{"s", "i64", TFC_I64, 0}};
const tfc_symbol_info kSymbols[] = {{"n", 0, -1, 0, 0, 1, 0}};

tfc_entry_info makeEntry(const char *name, const tfc_partitioning *partitioning) {
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
    model.abi_version = TFC_ABI_VERSION;
    model.name = "model";
    model.features = "";
    model.variables = kVariables;
    model.variable_count = 4;
    model.entries = entries;
    model.entry_count = 2;
    model.init = &init;
    model.devices = kDevices;
    model.device_count = 4;
    model.tasks = kNames;
    model.task_count = kTasks;
  }
  tfc_entry_info entries[2] = {makeEntry("ring", &kRingDivided), makeEntry("sum", &kSumDivided)};
  tfc_entry_info init = makeEntry("init", &kInitDivided);
  tfc_model model = {};
};

const ClusterModel kModel;

/// An instance for each task. `each` runs a function for each of them on a thread of its own.
struct Cluster {
  explicit Cluster(int64_t timeout = 0) : loopback(kTasks) {
    for (int32_t task = 0; task < kTasks; ++task) {
      tfc_options options = {};
      options.size = sizeof(options);
      options.threads = 1;
      options.transport = loopback[task];
      options.task_timeout_ms = timeout;
      EXPECT_EQ(tfc_instance_create(&kModel.model, &options, &instances[task]), TFC_OK)
          << tfc_instance_message(nullptr);
    }
  }
  ~Cluster() {
    for (tfc_instance *instance : instances)
      tfc_instance_destroy(instance);
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

TEST(Tasks, PassValues) {
  Cluster cluster;
  std::vector<float> y;
  for (int64_t n : {5, 0, 100000, 5}) {
    std::vector<float> x(n, 9);
    EXPECT_EQ(cluster.ring(x, y), kAllPass);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], i == 0 ? 9 : 12);
  }
  cluster.expectCounts(4);
}

TEST(Tasks, PassValuesInALoop) {
  Cluster cluster;
  int64_t sum = 0;
  for (int i = 0; i < 5; ++i)
    cluster.each([&](int32_t task, tfc_instance *instance) {
      void *fetches[] = {task == 0 ? &sum : nullptr};
      EXPECT_EQ(tfc_instance_call(instance, kSum, nullptr, nullptr, fetches), TFC_OK)
          << tfc_instance_message(instance);
    });
  EXPECT_EQ(sum, kNumbers * (kNumbers - 1) / 2);
}

TEST(Tasks, FailTogether) {
  Cluster cluster;
  std::vector<float> y;
  for (int round = 0; round < 20; ++round)
    for (int refusing = 0; refusing < 4; ++refusing) {
      std::vector<float> x(3000, static_cast<float>(refusing));
      std::string expected = std::to_string(TFC_OUT_OF_RANGE) + " ring: partition " +
                             std::to_string(refusing) + " refuses";
      EXPECT_EQ(cluster.ring(x, y), std::vector<std::string>(kTasks, expected));
      x[0] = 9;
      EXPECT_EQ(cluster.ring(x, y), kAllPass);
    }
  cluster.expectCounts(80);
}

TEST(Tasks, FailBeforeACallBegins) {
  Cluster cluster;
  std::vector<std::string> messages(kTasks);
  float x = 9, y;
  for (int round = 0; round < 3; ++round) {
    cluster.each([&](int32_t task, tfc_instance *instance) {
      int64_t n = 1;
      const void *feeds[] = {nullptr};
      void *fetches[] = {&y};
      EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_INVALID_ARGUMENT);
      messages[task] = tfc_instance_message(instance);
    });
    EXPECT_EQ(messages, std::vector<std::string>(kTasks, "ring: feed 'x' is null"));
    std::vector<float> result;
    EXPECT_EQ(cluster.ring({x}, result), kAllPass);
  }
  cluster.expectCounts(3);
}

TEST(Tasks, AgreeOnSizes) {
  Cluster cluster;
  std::vector<std::string> messages(kTasks);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    int64_t n = task == 2 ? 4 : 3;
    float x[3] = {9, 9, 9}, y[3];
    const void *feeds[] = {x};
    void *fetches[] = {y};
    EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_INVALID_ARGUMENT);
    messages[task] = tfc_instance_message(instance);
  });
  for (const std::string &message : messages)
    EXPECT_NE(message.find("ring: n is "), std::string::npos) << message;
  cluster.expectCounts(0);
}

TEST(Tasks, EndWaitsForATaskThatDoesNotCall) {
  Cluster cluster(/*timeout=*/100);
  std::vector<std::string> messages(kTasks);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task == 1)
      return;
    int64_t n = 1;
    float x = 9, y;
    const void *feeds[] = {&x};
    void *fetches[] = {&y};
    EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_TASK_LOST);
    messages[task] = tfc_instance_message(instance);
  });
  EXPECT_NE((messages[0] + messages[2]).find("ring: nothing has come from /job:"),
            std::string::npos);
  cluster.expectCounts(0);
}

TEST(Tasks, FailWhenATaskIsLost) {
  Cluster cluster;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task != 0)
      return;
    std::thread cut([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cluster.loopback.lose(0, 1);
    });
    int64_t n = 1;
    float x = 9, y;
    const void *feeds[] = {&x};
    void *fetches[] = {&y};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_TASK_LOST);
      EXPECT_STREQ(tfc_instance_message(instance),
                   i == 0 ? "/job:a/task:1 cannot be reached any more: the cable is cut"
                          : "the other processes cannot be reached any more");
    }
    cut.join();
  });
}

TEST(Tasks, HaveTheirOwnVariablesOnly) {
  Cluster cluster;
  int64_t value;
  tfc_tensor tensor = {TFC_I64, 0, nullptr, &value};
  EXPECT_EQ(tfc_instance_get(cluster.instances[0], "a1", &tensor), TFC_NO_DEVICE);
  EXPECT_STREQ(tfc_instance_message(cluster.instances[0]),
               "variable 'a1': is in another process, /job:a/task:1");
  EXPECT_EQ(tfc_instance_set(cluster.instances[1], "b0", &tensor), TFC_NO_DEVICE);
}

/// The path of a checkpoint in a folder of its own, which is removed in the end.
struct Folder {
  Folder() {
    char text[] = "/tmp/tfc-tasks-XXXXXX";
    path = mkdtemp(text);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string checkpoint() const { return path + "/c.safetensors"; }
  int64_t files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
  std::string path;
};

/// Saves or loads on all tasks; one begins late. Returns the status and the message of each.
std::vector<std::string> withAll(Cluster &cluster, decltype(tfc_instance_save) *function,
                                 const std::string &path, int32_t late = -1) {
  std::vector<std::string> results(kTasks);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task == late)
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    tfc_status status = function(instance, path.c_str());
    results[task] = std::to_string(status) + " " + tfc_instance_message(instance);
  });
  return results;
}

TEST(Tasks, SaveAndLoadTogether) {
  Cluster cluster;
  Folder folder;
  std::vector<float> y;
  for (int round = 1; round <= 3; ++round) {
    EXPECT_EQ(cluster.ring({9}, y), kAllPass);
    // As a process leaves it that was killed.
    std::ofstream(folder.checkpoint() + ".1-of-3.0123456789abcdef.tfc-999999-0.tmp") << "part";
    std::ofstream(folder.checkpoint() + ".1-of-3.0123456789abcdef") << "whole";
    EXPECT_EQ(withAll(cluster, tfc_instance_save, folder.checkpoint()), kAllPass);
    EXPECT_EQ(folder.files(), 1 + kTasks);
  }
  EXPECT_EQ(cluster.ring({9}, y), kAllPass);
  EXPECT_EQ(withAll(cluster, tfc_instance_load, folder.checkpoint()), kAllPass);
  cluster.expectCounts(3);
}

TEST(Tasks, SaveAndLoadWithoutALateTask) {
  Cluster cluster(/*timeout=*/200);
  Folder folder;
  std::vector<float> y;
  EXPECT_EQ(cluster.ring({9}, y), kAllPass);
  EXPECT_EQ(withAll(cluster, tfc_instance_save, folder.checkpoint()), kAllPass);
  EXPECT_EQ(cluster.ring({9}, y), kAllPass);
  const std::vector<std::string> late(kTasks, std::to_string(TFC_TASK_LOST) +
                                                  " 1 of 3 processes have not taken part in time");
  for (int32_t task : {1, 2}) {
    EXPECT_EQ(withAll(cluster, tfc_instance_save, folder.checkpoint(), task), late);
    EXPECT_EQ(withAll(cluster, tfc_instance_load, folder.checkpoint(), task), late);
  }
  cluster.expectCounts(2);
  EXPECT_EQ(withAll(cluster, tfc_instance_load, folder.checkpoint()), kAllPass);
  cluster.expectCounts(1);
  EXPECT_EQ(withAll(cluster, tfc_instance_save, folder.checkpoint()), kAllPass);
  EXPECT_EQ(folder.files(), 1 + kTasks);
}

TEST(Tasks, DoTheSameTogether) {
  Cluster cluster;
  Folder folder;
  std::vector<std::string> results(kTasks);
  EXPECT_EQ(withAll(cluster, tfc_instance_save, folder.checkpoint()), kAllPass);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    auto function = task == 1 ? tfc_instance_load : tfc_instance_save;
    EXPECT_EQ(function(instance, folder.checkpoint().c_str()), TFC_FAILED_PRECONDITION);
    results[task] = tfc_instance_message(instance);
  });
  EXPECT_EQ(results, std::vector<std::string>(kTasks, "some processes save and others load"));
  EXPECT_EQ(withAll(cluster, tfc_instance_load, folder.checkpoint()), kAllPass);
}

TEST(Tasks, MakeCallsOnForks) {
  Cluster cluster;
  tfc_instance *forks[kTasks];
  for (int32_t task = 0; task < kTasks; ++task)
    ASSERT_EQ(tfc_instance_fork(cluster.instances[task], &forks[task]), TFC_OK);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    auto run = [task](tfc_instance *handle) {
      for (int64_t n = 1; n < 60; ++n) {
        std::vector<float> x(n, 9), y(n);
        const void *feeds[] = {x.data()};
        void *fetches[] = {y.data()};
        EXPECT_EQ(tfc_instance_call(handle, kRing, &n, feeds, fetches), TFC_OK)
            << tfc_instance_message(handle);
        if (task == 0)
          EXPECT_EQ(y.back(), n == 1 ? 9 : 12);
      }
    };
    run(instance);
    run(forks[task]);
  });
  for (tfc_instance *fork : forks)
    tfc_instance_destroy(fork);
  cluster.expectCounts(118);
}

TEST(Tasks, CheckTheTransport) {
  auto create = [](const tfc_transport *transport, int64_t timeout) {
    tfc_options options = {};
    options.size = sizeof(options);
    options.transport = transport;
    options.task_timeout_ms = timeout;
    tfc_instance *instance = nullptr;
    tfc_status status = tfc_instance_create(&kModel.model, &options, &instance);
    tfc_instance_destroy(instance);
    return std::to_string(status) + " " + tfc_instance_message(nullptr);
  };
  Loopback two(2), three(3);
  EXPECT_EQ(create(two[1], 0), "1 model is for 3 processes, but this is number 1 of 2");
  EXPECT_EQ(create(three[1], -1), "1 tfc_options.task_timeout_ms is -1, but expected 0 or more");
  tfc_transport other = *three[0];
  other.size = 8;
  EXPECT_EQ(create(&other, 0), "9 tfc_transport.size is 8, but expected sizeof(tfc_transport)");
}

TEST(Tasks, RunInOneProcessWithoutATransport) {
  tfc_instance *instance;
  ASSERT_EQ(tfc_instance_create(&kModel.model, nullptr, &instance), TFC_OK);
  int64_t n = 2;
  float x[2] = {9, 9}, y[2];
  const void *feeds[] = {x};
  void *fetches[] = {y};
  EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_OK);
  EXPECT_EQ(y[1], 12);
  tfc_instance_destroy(instance);
}

} // namespace
