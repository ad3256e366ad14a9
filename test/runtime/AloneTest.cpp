//===- AloneTest.cpp - Calls that one process makes alone -----------------===//
//
// Tests that other processes take part in calls of one, that calls of several are isolated from
// each other, and that failures reach the process that calls.
//
//===----------------------------------------------------------------------===//

#include "ClusterModel.h"

#include <atomic>
#include <filesystem>

using namespace tfc::runtime::test;

namespace {

struct Alone : Cluster {
  explicit Alone(
      const Adjust &adjust = [](int32_t, tfc_options &) {}, int64_t timeout = 0)
      : Cluster(timeout, [&](int32_t task, tfc_options &options) {
          options.call_mode = TFC_CALL_ALONE;
          adjust(task, options);
        }) {}
};

tfc_status shift(tfc_instance *instance, int64_t by) {
  const void *feeds[] = {&by};
  return tfc_instance_call(instance, kShift, nullptr, feeds, nullptr);
}

/// The variables of two tasks as one call sees them.
std::pair<int64_t, int64_t> pairOf(tfc_instance *instance) {
  std::pair<int64_t, int64_t> pair(-1, -2);
  void *fetches[] = {&pair.first, &pair.second};
  EXPECT_EQ(tfc_instance_call(instance, kPair, nullptr, nullptr, fetches), TFC_OK)
      << tfc_instance_message(instance);
  return pair;
}

tfc_status ring(tfc_instance *instance, std::vector<float> x, float &last) {
  int64_t n = x.size();
  std::vector<float> y(n);
  const void *feeds[] = {x.data()};
  void *fetches[] = {y.data()};
  tfc_status status = tfc_instance_call(instance, kRing, &n, feeds, fetches);
  last = y.back();
  return status;
}

TEST(Alone, OneProcessCalls) {
  Alone cluster;
  for (int32_t task = 0; task < kTasks; ++task) {
    float last;
    for (int64_t n : {2, 100000, 2}) {
      ASSERT_EQ(ring(cluster.instances[task], std::vector<float>(n, 9), last), TFC_OK)
          << tfc_instance_message(cluster.instances[task]);
      EXPECT_EQ(last, 12);
    }
    // Its own process is /job:local.
    EXPECT_EQ(cluster.get(task, "local"), 3);
    EXPECT_EQ(cluster.get(1, "a1"), 3 * (task + 1));
  }
  EXPECT_EQ(cluster.get(0, "a0"), 9);
  EXPECT_EQ(cluster.get(2, "b0"), 9);
}

TEST(Alone, CallsOfSeveralAreIsolated) {
  constexpr int64_t kCalls = 150;
  Alone cluster;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    tfc_instance *fork;
    ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
    std::thread other([&] {
      for (int64_t i = 0; i < kCalls; ++i)
        EXPECT_EQ(shift(fork, task + 1), TFC_OK) << tfc_instance_message(fork);
    });
    int64_t before = 0;
    for (int64_t i = 0; i < kCalls; ++i) {
      auto [a, b] = pairOf(instance);
      EXPECT_EQ(a, b);
      EXPECT_GE(a, before);
      before = a;
      float last;
      EXPECT_EQ(ring(instance, {9, 9}, last), TFC_OK) << tfc_instance_message(instance);
    }
    other.join();
    tfc_instance_destroy(fork);
  });
  // Each ring adds one, each shift the number of its task.
  EXPECT_EQ(cluster.get(0, "a0"), kCalls * (3 + 1 + 2 + 3));
  EXPECT_EQ(cluster.get(2, "b0"), kCalls * (3 + 1 + 2 + 3));
  EXPECT_EQ(cluster.get(1, "a1"), kCalls * 3);
}

/// Returns the value of a variable that the second process reads, and then does something else.
int64_t peekWhile(std::function<void()> what, Alone &cluster) {
  int64_t value = -1;
  void *fetches[] = {&value};
  meanwhile = std::move(what);
  EXPECT_EQ(tfc_instance_call(cluster.instances[1], kPeek, nullptr, nullptr, fetches), TFC_OK)
      << tfc_instance_message(cluster.instances[1]);
  return value;
}

TEST(Alone, VariablesMayChangeOnceTheyHaveBeenRead) {
  Alone cluster;
  auto change = [&] { EXPECT_EQ(shift(cluster.instances[2], 10), TFC_OK); };
  EXPECT_EQ(peekWhile(change, cluster), 0);
  EXPECT_EQ(peekWhile(change, cluster), 10);
  EXPECT_EQ(cluster.get(0, "a0"), 20);
}

TEST(Alone, AHungProcessDoesNotBlockOthersForLong) {
  Alone cluster([](int32_t, tfc_options &) {}, /*timeout=*/100);
  int64_t value = -1;
  void *fetches[] = {&value};
  meanwhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(400)); };
  EXPECT_EQ(tfc_instance_call(cluster.instances[1], kPeek, nullptr, nullptr, fetches),
            TFC_TASK_LOST);
  std::string message = tfc_instance_message(cluster.instances[1]);
  EXPECT_EQ(message.find("peek: nothing has come from /job:a/task:1 for "), 0u) << message;
  EXPECT_EQ(peekWhile([] {}, cluster), 0);
  EXPECT_EQ(shift(cluster.instances[2], 1), TFC_OK);
}

TEST(Alone, HandlesMayEndWhenTheirCallsHave) {
  constexpr int64_t kCalls = 100;
  Alone cluster;
  cluster.each([&](int32_t, tfc_instance *instance) {
    for (int64_t i = 0; i < kCalls; ++i) {
      tfc_instance *fork;
      ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
      float last;
      EXPECT_EQ(ring(fork, {9, 9}, last), TFC_OK) << tfc_instance_message(fork);
      EXPECT_EQ(last, 12);
      tfc_instance_destroy(fork);
    }
  });
  EXPECT_EQ(cluster.get(0, "a0"), 3 * kCalls);
  EXPECT_EQ(cluster.get(1, "a1"), 3 * kCalls);
  EXPECT_EQ(cluster.get(2, "b0"), 3 * kCalls);
}

TEST(Alone, CancelledHandlesDoNotWait) {
  // Before and after their first call; `alone-faults.test` has queues.
  Alone cluster;
  tfc_instance *fork;
  ASSERT_EQ(tfc_instance_fork(cluster.instances[1], &fork), TFC_OK);
  tfc_instance_cancel(fork);
  EXPECT_EQ(shift(fork, 1), TFC_OK) << tfc_instance_message(fork);
  tfc_instance_cancel(fork);
  EXPECT_EQ(shift(fork, 1), TFC_OK) << tfc_instance_message(fork);
  tfc_instance_destroy(fork);
}

TEST(Alone, FailureReachesWhoCalls) {
  Alone cluster;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    for (int round = 0; round < 30; ++round) {
      auto refusing = static_cast<float>((round + task) % 4);
      float last;
      EXPECT_EQ(ring(instance, {refusing, 9}, last), TFC_OUT_OF_RANGE);
      EXPECT_EQ(tfc_instance_message(instance),
                "ring: partition " + std::to_string(int(refusing)) + " refuses");
      EXPECT_EQ(ring(instance, {9, 9}, last), TFC_OK) << tfc_instance_message(instance);
    }
  });
  EXPECT_EQ(cluster.get(0, "a0"), 90);
  EXPECT_EQ(cluster.get(1, "a1"), 90);
  EXPECT_EQ(cluster.get(1, "local"), 30);
}

TEST(Alone, InvalidCallsConcernNobodyElse) {
  Alone cluster;
  float last;
  int64_t n = 1;
  const void *feeds[] = {nullptr};
  void *fetches[] = {&last};
  EXPECT_EQ(tfc_instance_call(cluster.instances[1], kRing, &n, feeds, fetches),
            TFC_INVALID_ARGUMENT);
  EXPECT_STREQ(tfc_instance_message(cluster.instances[1]), "ring: feed 'x' is null");
  EXPECT_EQ(ring(cluster.instances[1], {9, 9}, last), TFC_OK);
}

TEST(Alone, ATaskThatCannotTakePartFailsTheCall) {
  Alone cluster([](int32_t task, tfc_options &options) {
    if (task != 0)
      return;
    options.allocate = [](void *, size_t bytes, size_t alignment) -> void * {
      return bytes < 100000 ? aligned_alloc(alignment, (bytes + alignment - 1) & -alignment)
                            : nullptr;
    };
    options.release = [](void *, void *memory, size_t) { free(memory); };
  });
  tfc_instance *instance = cluster.instances[2];
  for (int round = 0; round < 3; ++round) {
    float last;
    EXPECT_EQ(ring(instance, std::vector<float>(50000, 9), last), TFC_OUT_OF_MEMORY);
    EXPECT_STREQ(tfc_instance_message(instance),
                 "ring: not enough memory for the 200064 bytes of the arena");
    EXPECT_EQ(ring(instance, {9, 9}, last), TFC_OK) << tfc_instance_message(instance);
    EXPECT_EQ(shift(instance, 1), TFC_OK) << tfc_instance_message(instance);
  }
  EXPECT_EQ(cluster.get(1, "a1"), 3);
}

TEST(Alone, ServesUntilNobodyCalls) {
  Alone cluster;
  std::atomic<int> calls = 0;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task == 1)
      for (; calls < 50; ++calls)
        EXPECT_EQ(shift(instance, 1), TFC_OK);
    EXPECT_EQ(tfc_instance_serve(instance), TFC_OK);
    EXPECT_EQ(calls, 50);
  });
}

TEST(Alone, DestroyingServes) {
  std::atomic<int> calls = 0;
  Alone cluster;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task == 2)
      for (; calls < 50; ++calls)
        EXPECT_EQ(shift(instance, 1), TFC_OK);
    cluster.instances[task] = nullptr;
    tfc_instance_destroy(instance);
    EXPECT_EQ(calls, 50);
  });
}

TEST(Alone, LostTasksEndServing) {
  Alone cluster;
  std::thread server([&] {
    EXPECT_EQ(tfc_instance_serve(cluster.instances[0]), TFC_TASK_LOST);
    EXPECT_STREQ(tfc_instance_message(cluster.instances[0]),
                 "/job:b/task:0 cannot be reached any more: the cable is cut");
  });
  cluster.loopback.lose(0, 2);
  server.join();
  EXPECT_EQ(shift(cluster.instances[0], 1), TFC_FAILED_PRECONDITION);
  EXPECT_STREQ(tfc_instance_message(cluster.instances[0]),
               "shift: a process makes no calls after 'serve'");
}

/// Serves until that fails, because nothing has come from a task.
void expectSilence(tfc_instance *instance, const std::string &task) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(tfc_instance_serve(instance), TFC_TASK_LOST);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  std::string message = tfc_instance_message(instance);
  EXPECT_EQ(message.find("serve: nothing has come from " + task + " for "), 0u) << message;
}

TEST(Alone, AStoppedProcessEndsServing) {
  Alone cluster([](int32_t, tfc_options &) {}, /*timeout=*/100);
  EXPECT_EQ(shift(cluster.instances[2], 1), TFC_OK);
  cluster.loopback.stop(2, true);
  std::thread other([&] { expectSilence(cluster.instances[1], "/job:b/task:0"); });
  expectSilence(cluster.instances[0], "/job:b/task:0");
  other.join();
  cluster.loopback.stop(2, false);
}

TEST(Alone, AProcessThatIsNeverCreatedEndsServing) {
  Loopback loopback(kTasks);
  tfc_options options = {};
  options.size = sizeof(options);
  options.threads = 1;
  options.transport = loopback[1];
  options.call_mode = TFC_CALL_ALONE;
  options.task_timeout_ms = 100;
  tfc_instance *instance;
  ASSERT_EQ(tfc_instance_create(&kModel.model, &options, &instance), TFC_OK);
  expectSilence(instance, "/job:a/task:0");
  tfc_instance_destroy(instance);
}

TEST(Alone, ServesForProcessesWithLongerLimits) {
  Alone cluster([](int32_t task, tfc_options &options) {
    options.task_timeout_ms = task == 0 ? 100 : 6000; // a sign in 1500 ms
  });
  cluster.each([](int32_t task, tfc_instance *instance) {
    if (task == 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(2000));
    EXPECT_EQ(tfc_instance_serve(instance), TFC_OK) << tfc_instance_message(instance);
  });
}

TEST(Alone, NeedsMemoryForTheOtherProcesses) {
  Loopback loopback(kTasks);
  tfc_options options = {};
  options.size = sizeof(options);
  options.transport = loopback[1];
  options.call_mode = TFC_CALL_ALONE;
  options.allocate = [](void *, size_t bytes, size_t alignment) -> void * {
    return bytes > 1000 ? aligned_alloc(alignment, (bytes + alignment - 1) & -alignment) : nullptr;
  };
  options.release = [](void *, void *memory, size_t) { free(memory); };
  tfc_instance *instance;
  EXPECT_EQ(tfc_instance_create(&kModel.model, &options, &instance), TFC_OUT_OF_MEMORY);
  EXPECT_STREQ(tfc_instance_message(nullptr), "not enough memory for the processes of model");
}

TEST(Alone, LongComputationsEndNoServing) {
  Alone cluster([](int32_t, tfc_options &) {}, /*timeout=*/100);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    // Nothing is called meanwhile, and one process is stopped for a shorter time.
    if (task == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    if (task == 2) {
      cluster.loopback.stop(2, true);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      cluster.loopback.stop(2, false);
    }
    EXPECT_EQ(tfc_instance_serve(instance), TFC_OK) << tfc_instance_message(instance);
  });
}

TEST(Alone, ModesMustAgree) {
  Cluster cluster(/*timeout=*/0, [](int32_t task, tfc_options &options) {
    options.call_mode = task == 1 ? TFC_CALL_ALONE : TFC_CALL_TOGETHER;
  });
  EXPECT_EQ(shift(cluster.instances[1], 1), TFC_FAILED_PRECONDITION);
  EXPECT_STREQ(tfc_instance_message(cluster.instances[1]),
               "tfc_options.call_mode differs between processes");
  EXPECT_EQ(shift(cluster.instances[0], 1), TFC_FAILED_PRECONDITION);
}

TEST(Alone, ProgramsMustAgree) {
  tfc_model other = kModel.model;
  other.fingerprint = 5;
  for (tfc_call_mode mode : {TFC_CALL_TOGETHER, TFC_CALL_ALONE}) {
    Loopback loopback(kTasks);
    tfc_instance *instances[kTasks];
    for (int32_t task = 0; task < kTasks; ++task) {
      tfc_options options = {};
      options.size = sizeof(options);
      options.threads = 1;
      options.transport = loopback[task];
      options.call_mode = mode;
      EXPECT_EQ(tfc_instance_create(task == 1 ? &other : &kModel.model, &options, &instances[task]),
                TFC_OK);
    }
    float last;
    EXPECT_EQ(ring(instances[1], {9, 9}, last), TFC_FAILED_PRECONDITION);
    // It hears of this from one of the others first.
    EXPECT_TRUE(strstr(tfc_instance_message(instances[1]), " has a library of another program"));
    EXPECT_EQ(ring(instances[0], {9, 9}, last), TFC_FAILED_PRECONDITION);
    EXPECT_STREQ(tfc_instance_message(instances[0]),
                 "/job:a/task:1 has a library of another program");
    std::vector<std::thread> threads;
    for (tfc_instance *instance : instances)
      threads.emplace_back([=] { tfc_instance_destroy(instance); });
    for (std::thread &thread : threads)
      thread.join();
  }
}

TEST(Alone, AProcessThatCannotBeCreatedFailsTheCallsOfOthers) {
  Loopback loopback(kTasks);
  tfc_instance *instances[kTasks];
  int left = 3; // allocations of the process that fails
  auto create = [&](int32_t task) {
    tfc_options options = {};
    options.size = sizeof(options);
    options.threads = 1;
    options.transport = loopback[task];
    options.call_mode = TFC_CALL_ALONE;
    if (task == 1) {
      options.allocate = [](void *count, size_t bytes, size_t alignment) -> void * {
        bool isThere = (*static_cast<int *>(count))-- > 0;
        return isThere ? aligned_alloc(alignment, (bytes + alignment - 1) & -alignment) : nullptr;
      };
      options.release = [](void *, void *memory, size_t) { free(memory); };
      options.allocator_context = &left;
    }
    EXPECT_EQ(tfc_instance_create(&kModel.model, &options, &instances[task]),
              task == 1 ? TFC_OUT_OF_MEMORY : TFC_OK);
  };
  // It returns when the others have ended.
  std::thread failing(create, 1);
  create(0);
  create(2);
  float last;
  EXPECT_EQ(ring(instances[0], {9, 9}, last), TFC_TASK_LOST);
  EXPECT_STREQ(tfc_instance_message(instances[0]), "/job:a/task:1 takes no part in calls");
  std::thread other([&] { tfc_instance_destroy(instances[2]); });
  tfc_instance_destroy(instances[0]);
  other.join();
  failing.join();
}

/// The threads of this process.
static int64_t countThreads() {
  std::filesystem::directory_iterator first("/proc/self/task"), last;
  return std::distance(first, last);
}

TEST(Alone, HandlesMayComeAndGoBeforeAProcessIsCreated) {
  Loopback loopback(kTasks);
  tfc_instance *instances[kTasks];
  tfc_options options = {};
  options.size = sizeof(options);
  options.threads = 1;
  options.call_mode = TFC_CALL_ALONE;
  options.task_timeout_ms = 20;
  // Messages come while memory is allocated, in which there may be anything.
  options.allocate = [](void *, size_t bytes, size_t alignment) -> void * {
    size_t rounded = (bytes + alignment - 1) & -alignment;
    void *memory = aligned_alloc(alignment, rounded);
    if (memory)
      memset(memory, 0xff, rounded);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return memory;
  };
  options.release = [](void *, void *memory, size_t) { free(memory); };
  auto create = [&](int32_t task) {
    options.transport = loopback[task];
    EXPECT_EQ(tfc_instance_create(&kModel.model, &options, &instances[task]), TFC_OK);
  };
  create(0);
  create(2);
  constexpr int kHandles = 10;
  float last;
  for (int i = 0; i < kHandles; ++i) {
    tfc_instance *other = nullptr;
    EXPECT_EQ(tfc_instance_fork(instances[0], &other), TFC_OK);
    tfc_instance_cancel(other);
    EXPECT_EQ(ring(other, {9, 9}, last), TFC_TASK_LOST);
    tfc_instance_destroy(other);
  }
  int64_t before = countThreads();
  create(1);
  // Threads that have been started for messages that came late end.
  for (int i = 0; i < 100 && countThreads() - before >= kHandles; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(countThreads() - before, kHandles);
  std::thread others([&] {
    std::thread third([&] { tfc_instance_destroy(instances[2]); });
    tfc_instance_destroy(instances[1]);
    third.join();
  });
  tfc_instance_destroy(instances[0]);
  others.join();
}

TEST(Alone, SizesMustFitInAMessage) {
  std::vector<tfc_symbol_info> symbols(129, kSymbols[0]);
  std::vector<tfc_entry_info> entries(kModel.entries, kModel.entries + kEntries);
  entries[kPair].symbols = symbols.data();
  entries[kPair].symbol_count = static_cast<int32_t>(symbols.size());
  tfc_model model = kModel.model;
  model.entries = entries.data();
  Cluster cluster(
      /*timeout=*/0, [](int32_t, tfc_options &options) { options.call_mode = TFC_CALL_ALONE; },
      model);
  std::vector<int64_t> sizes(symbols.size());
  int64_t a, b;
  void *fetches[] = {&a, &b};
  EXPECT_EQ(tfc_instance_call(cluster.instances[1], kPair, sizes.data(), nullptr, fetches),
            TFC_INVALID_ARGUMENT);
  EXPECT_STREQ(tfc_instance_message(cluster.instances[1]),
               "pair: has 129 sizes, but a process can call only entries with at most 128 alone");
}

TEST(Alone, CheckTheMode) {
  Loopback loopback(kTasks);
  tfc_options options = {};
  options.size = sizeof(options);
  options.transport = loopback[0];
  options.call_mode = 7;
  tfc_instance *instance;
  EXPECT_EQ(tfc_instance_create(&kModel.model, &options, &instance), TFC_INVALID_ARGUMENT);
  EXPECT_STREQ(tfc_instance_message(nullptr),
               "tfc_options.call_mode is 7, but expected a tfc_call_mode");
  Cluster together;
  EXPECT_EQ(tfc_instance_serve(together.instances[0]), TFC_FAILED_PRECONDITION);
  EXPECT_STREQ(tfc_instance_message(together.instances[0]),
               "processes that call entries together do not serve");
}

TEST(Alone, CheckpointsAreOfOneMoment) {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tfc-alone-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string path = (folder / "w.safetensors").string();
  Alone cluster;
  std::atomic<bool> isDone = false;
  cluster.each([&](int32_t task, tfc_instance *instance) {
    if (task == 0) {
      while (!isDone)
        EXPECT_EQ(shift(instance, 1), TFC_OK) << tfc_instance_message(instance);
    } else if (task == 1) {
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK)
            << tfc_instance_message(instance);
        EXPECT_EQ(shift(instance, 1000000), TFC_OK);
        EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK)
            << tfc_instance_message(instance);
        auto [a, b] = pairOf(instance);
        EXPECT_EQ(a, b);
      }
      EXPECT_EQ(tfc_instance_load(instance, (path + ".missing").c_str()), TFC_NOT_FOUND);
      EXPECT_EQ(tfc_instance_save(instance, "/nowhere/w.safetensors"), TFC_NOT_FOUND);
      EXPECT_EQ(tfc_instance_save(instance, std::string(3000, 'x').c_str()), TFC_INVALID_ARGUMENT);
      EXPECT_STREQ(tfc_instance_message(instance), "the path of the checkpoint is too long");
      isDone = true;
    }
  });
  std::filesystem::remove_all(folder);
}

} // namespace
