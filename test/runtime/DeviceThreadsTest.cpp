//===- DeviceThreadsTest.cpp - The host threads of a handle's devices -----===//
//
// Tests which thread runs which partition, and when threads start, sleep and end.
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceThreads.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <thread>
#include <vector>

using namespace tfc::runtime;

using Function = std::function<void(int)>;

static void run(DeviceThreads &threads, int32_t count, const Function &function) {
  ASSERT_TRUE(threads.reserve(defaultAllocator(), count));
  threads.run(
      count, [](void *context, int32_t i) { (*static_cast<const Function *>(context))(i); },
      const_cast<Function *>(&function));
}

static size_t threadCount() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(DeviceThreads, RunEachPartitionOnItsOwnThread) {
  DeviceThreads threads;
  std::vector<std::thread::id> ids(4), again(4);
  run(threads, 4, [&](int i) { ids[i] = std::this_thread::get_id(); });
  run(threads, 3, [&](int i) { again[i] = std::this_thread::get_id(); });
  run(threads, 4, [&](int i) { again[i] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4u);
  EXPECT_EQ(ids, again);
}

TEST(DeviceThreads, RunTogether) {
  DeviceThreads threads;
  std::atomic<int> begun = 0;
  run(threads, 5, [&](int) {
    for (++begun; begun < 5;)
      std::this_thread::yield();
  });
  EXPECT_EQ(begun, 5);
}

TEST(DeviceThreads, StartWhenNeededAndEndWithTheirOwner) {
  // A thread that has been joined may be in the list for a moment.
  auto reaches = [](size_t count) {
    for (int i = 0; i < 1000 && threadCount() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return threadCount();
  };
  size_t before = reaches(1); // those of earlier tests, too
  {
    DeviceThreads threads;
    run(threads, 1, [](int) {});
    EXPECT_EQ(reaches(before), before);
    run(threads, 3, [](int) {});
    EXPECT_EQ(reaches(before + 2), before + 2);
    run(threads, 2, [](int) {});
    EXPECT_EQ(reaches(before + 2), before + 2);
    run(threads, 6, [](int) {});
    EXPECT_EQ(reaches(before + 5), before + 5);
  }
  EXPECT_EQ(reaches(before), before);
}

TEST(DeviceThreads, FailIfThereIsNoMemory) {
  Allocator none = {[](void *, size_t, size_t) -> void * { return nullptr; },
                    [](void *, void *, size_t) {}, nullptr};
  DeviceThreads threads;
  EXPECT_FALSE(threads.reserve(none, 2));
  EXPECT_TRUE(threads.reserve(none, 1));
}

TEST(DeviceThreads, FlushDenormalsAndBlockSignals) {
  DeviceThreads threads;
  run(threads, 3, [](int i) {
    if (i == 0) // the caller's thread is in the caller's mode
      return;
    volatile float tiny = std::numeric_limits<float>::min();
#if defined(__x86_64__)
    EXPECT_EQ(tiny * 0.5f, 0);
#endif
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_TRUE(sigismember(&blocked, SIGINT));
  });
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_FALSE(sigismember(&blocked, SIGINT));
}

TEST(DeviceThreads, SeeTheCallersWritesAndShowTheirOwn) {
  DeviceThreads threads;
  int64_t values[4] = {}, expected = 0;
  for (int call = 0; call < 5000; ++call) {
    int count = 1 + call % 4;
    for (int64_t &value : values)
      value = call;
    run(threads, count, [&](int i) { values[i] += i; });
    for (int i = 0; i < count; ++i)
      expected += values[i] == call + i;
  }
  EXPECT_EQ(expected, 5000 / 4 * (1 + 2 + 3 + 4));
}

static double processSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

TEST(DeviceThreads, SleepBetweenCalls) {
  DeviceThreads threads;
  for (int call = 0; call < 3; ++call) {
    run(threads, 4, [](int) {});
    double start = processSeconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_LT(processSeconds() - start, 0.05);
  }
}

TEST(DeviceThreads, AreWokenAfterAnyTime) {
  DeviceThreads threads;
  std::atomic<int> sum = 0;
  for (int call = 0; call < 500; ++call) {
    std::this_thread::sleep_for(std::chrono::microseconds(call % 100));
    run(threads, 3, [&](int i) { sum += i; });
  }
  EXPECT_EQ(sum, 1500);
}

TEST(DeviceThreads, OfSeveralHandlesRunAtOnce) {
  std::vector<std::thread> handles;
  std::atomic<int> sum = 0;
  for (int i = 0; i < 4; ++i)
    handles.emplace_back([&] {
      DeviceThreads threads;
      for (int call = 0; call < 500; ++call)
        run(threads, 3, [&](int partition) { sum += partition; });
    });
  for (std::thread &handle : handles)
    handle.join();
  EXPECT_EQ(sum, 4 * 500 * 3);
}
