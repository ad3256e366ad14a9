//===- ThreadsTest.cpp - parallel_for, and handles on several threads -----===//
//
// Tests the parallel loop, and several handles of one state that call at the same time.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

using namespace toy;

static tfc_options withThreads(int32_t threads) {
  tfc_options options = {};
  options.size = sizeof(options);
  options.threads = threads;
  return options;
}

static void callCustom(tfc_instance *instance, std::function<int32_t(tfc_call_frame *)> body) {
  custom = std::move(body);
  EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK);
}

namespace {
/// Records the chunks of a loop.
struct Chunks {
  std::mutex mutex;
  std::multiset<std::pair<int64_t, int64_t>> seen;

  static void body(void *self, int64_t begin, int64_t end) {
    auto &chunks = *static_cast<Chunks *>(self);
    std::lock_guard lock(chunks.mutex);
    chunks.seen.insert({begin, end});
  }
};
} // namespace

static std::multiset<std::pair<int64_t, int64_t>> cut(tfc_instance *instance, int64_t count,
                                                      int64_t grain) {
  Chunks chunks;
  callCustom(instance, [&](tfc_call_frame *frame) {
    tfc_rt_parallel_for(frame, Chunks::body, &chunks, count, grain);
    return 0;
  });
  return chunks.seen;
}

TEST(ParallelFor, CoversTheRangeOnceWithTheSameCutForAnyNumberOfThreads) {
  tfc_options one = withThreads(1), four = withThreads(4);
  Instance alone(kModel, &one), shared(kModel, &four);
  for (auto [count, grain] : {std::pair<int64_t, int64_t>{100, 7},
                              {1, 1},
                              {5, 100},
                              {64, 64},
                              {64, 63},
                              {0, 4},
                              {-3, 4},
                              {9, 0}}) {
    auto expected = cut(alone, count, grain);
    EXPECT_EQ(cut(shared, count, grain), expected) << count << " by " << grain;
    int64_t next = 0;
    for (auto [begin, end] : expected) {
      EXPECT_EQ(begin, next);
      next = end;
    }
    EXPECT_EQ(next, std::max<int64_t>(count, 0));
  }
}

TEST(ParallelFor, UsesSeveralThreads) {
  tfc_options options = withThreads(3);
  Instance instance(kModel, &options);
  // Each chunk waits until all have begun: that takes three threads.
  std::atomic<int> begun = 0;
  callCustom(instance, [&](tfc_call_frame *frame) {
    tfc_rt_parallel_for(
        frame,
        [](void *context, int64_t, int64_t) {
          auto &begun = *static_cast<std::atomic<int> *>(context);
          ++begun;
          while (begun < 3)
            std::this_thread::yield();
        },
        &begun, 3, 1);
    return 0;
  });
  EXPECT_EQ(begun, 3);
}

/// Returns the bytes of the stack of this thread.
static size_t stackBytes() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

TEST(ParallelFor, HasStacksForKernelsWhereTheDefaultIsSmaller) {
  pthread_attr_t usual, small;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  ASSERT_EQ(pthread_setattr_default_np(&small), 0);
  tfc_options options = withThreads(2);
  Instance instance(kModel, &options);
  struct Threads {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> begun = 0;
    std::atomic<size_t> bytes = 0; // of the stack of the other thread
  } threads;
  callCustom(instance, [&](tfc_call_frame *frame) {
    tfc_rt_parallel_for(
        frame,
        [](void *context, int64_t, int64_t) {
          auto &threads = *static_cast<Threads *>(context);
          if (std::this_thread::get_id() != threads.caller)
            threads.bytes = stackBytes();
          ++threads.begun;
          while (threads.begun < 2)
            std::this_thread::yield();
        },
        &threads, 2, 1);
    return 0;
  });
  pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&small);
  pthread_attr_destroy(&usual);
  EXPECT_GE(threads.bytes, size_t(2) << 20);
}

TEST(ParallelFor, RunsNestedLoopsInTheThreadThatMeetsThem) {
  tfc_options options = withThreads(4);
  Instance instance(kModel, &options);
  struct Outer {
    tfc_call_frame *frame;
    std::atomic<int64_t> sum = 0;
  } outer;
  callCustom(instance, [&](tfc_call_frame *frame) {
    outer.frame = frame;
    tfc_rt_parallel_for(
        frame,
        [](void *context, int64_t, int64_t) {
          struct Inner {
            Outer *outer;
            std::thread::id thread;
          } inner = {static_cast<Outer *>(context), std::this_thread::get_id()};
          tfc_rt_parallel_for(
              inner.outer->frame,
              [](void *context, int64_t begin, int64_t end) {
                auto &inner = *static_cast<Inner *>(context);
                EXPECT_EQ(inner.thread, std::this_thread::get_id());
                inner.outer->sum += end - begin;
              },
              &inner, 10, 3);
        },
        &outer, 8, 1);
    return 0;
  });
  EXPECT_EQ(outer.sum, 80);
}

TEST(ParallelFor, SurvivesManyShortLoops) {
  tfc_options options = withThreads(4);
  Instance instance(kModel, &options);
  std::atomic<int64_t> sum = 0;
  int64_t expected = 0;
  callCustom(instance, [&](tfc_call_frame *frame) {
    for (int i = 0; i < 20000; ++i) {
      expected += 1 + i % 9;
      tfc_rt_parallel_for(
          frame,
          [](void *context, int64_t begin, int64_t end) {
            *static_cast<std::atomic<int64_t> *>(context) += end - begin;
          },
          &sum, 1 + i % 9, 1);
    }
    return 0;
  });
  EXPECT_EQ(sum, expected);
}

TEST(ParallelFor, UsesTheCallersLoop) {
  struct Caller {
    int loops = 0;
  } caller;
  tfc_options options = withThreads(0);
  options.parallel_context = &caller;
  options.parallel_for = [](void *context, void (*body)(void *, int64_t), void *bodyContext,
                            int64_t count) {
    ++static_cast<Caller *>(context)->loops;
    for (int64_t i = count - 1; i >= 0; --i)
      body(bodyContext, i);
  };
  Instance instance(kModel, &options);
  auto seen = cut(instance, 100, 7);
  EXPECT_EQ(caller.loops, 1);
  EXPECT_EQ(seen.size(), 15u);
  EXPECT_EQ(seen.rbegin()->second, 100);
}

static void runSteps(tfc_instance *handle, int count) {
  int64_t n = 2;
  float x[8] = {1, 0, 0, 0, 0, 0, 0, 0}, y[8], total;
  int32_t label[2] = {};
  const void *feeds[] = {x, label};
  void *fetches[] = {&total, y};
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(tfc_instance_call(handle, kStep, &n, feeds, fetches), TFC_OK);
}

TEST(Handles, ConcurrentStepsLoseNoUpdate) {
  Instance instance;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    tfc_instance *handle = nullptr;
    ASSERT_EQ(tfc_instance_fork(instance, &handle), TFC_OK);
    threads.emplace_back([handle] {
      runSteps(handle, 500);
      tfc_instance_destroy(handle);
    });
  }
  runSteps(instance, 500);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(read(instance).steps, 2500);
  EXPECT_EQ(read(instance).w[0], 2500);
}

TEST(Handles, CanLoadWhileOthersRun) {
  Instance instance;
  std::string path = testing::TempDir() + "tfc-concurrent.safetensors";
  ASSERT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK) << instance.message();
  tfc_instance *handle = nullptr;
  ASSERT_EQ(tfc_instance_fork(instance, &handle), TFC_OK);
  std::thread thread([handle] { runSteps(handle, 2000); });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  thread.join();
  tfc_instance_destroy(handle);
  remove(path.c_str());
}
