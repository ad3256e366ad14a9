//===- TasksTest.cpp - Calls that run in several processes ----------------===//
//
// Tests entries whose partitions are on several tasks, written as the compiler generates them. The
// processes are threads with an instance each.
//
//===----------------------------------------------------------------------===//

#include "ClusterModel.h"

#include <filesystem>
#include <fstream>

using namespace tfc::runtime::test;

namespace {

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

TEST(Tasks, EndWaitsForATaskThatTakesNoData) {
  for (bool resumes : {false, true}) {
    Cluster cluster(/*timeout=*/100);
    cluster.loopback.hang(1, true);
    std::vector<float> x(1000, 9), y(1000);
    std::vector<std::string> messages(kTasks);
    // The first call ends, and so does the next one, which does not touch what may still be read.
    for (int call = 0; call < 2; ++call)
      cluster.each([&](int32_t task, tfc_instance *instance) {
        int64_t n = 1000;
        const void *feeds[] = {x.data()};
        void *fetches[] = {y.data()};
        EXPECT_EQ(tfc_instance_call(instance, kRing, &n, feeds, fetches), TFC_TASK_LOST);
        messages[task] = tfc_instance_message(instance);
      });
    EXPECT_EQ(messages[0].find("ring: /job:a/task:1 has not taken data of an earlier call"), 0)
        << messages[0];
    cluster.expectCounts(0);
    if (resumes)
      cluster.loopback.hang(1, false);
  }
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
                   "/job:a/task:1 cannot be reached any more: the cable is cut");
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

TEST(Tasks, CallOneEntry) {
  Cluster cluster(/*timeout=*/200);
  cluster.each([&](int32_t task, tfc_instance *instance) {
    int64_t n = 2, sum;
    float x[2] = {1, 2}, y[2];
    const void *feeds[] = {x};
    void *fetches[] = {task == 1 ? static_cast<void *>(&sum) : y};
    EXPECT_EQ(tfc_instance_call(instance, task == 1 ? kSum : kRing, &n, feeds, fetches),
              TFC_TASK_LOST);
    if (task == 0)
      EXPECT_STREQ(tfc_instance_message(instance), "ring: /job:a/task:1 calls 'sum' instead");
  });
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
  for (int32_t task : {1, 2}) {
    const std::vector<std::string> late(kTasks, std::to_string(TFC_TASK_LOST) + " " + kNames[task] +
                                                    " has not taken part in time");
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
  other = *three[0];
  other.version = 1;
  EXPECT_EQ(create(&other, 0), "9 tfc_transport has version 1, but this runtime needs 2");
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
