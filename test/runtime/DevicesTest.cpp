//===- DevicesTest.cpp - Calls of entries on several devices --------------===//
//
// Tests entries with partitions, written as the compiler generates them, through the functions that
// generated code calls.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Instance.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace toy;

using Partition = int32_t (*)(tfc_call_frame *);

/// The tables of an entry whose partitions are all on device 0.
struct Divided {
  template <size_t N, size_t M>
  Divided(const Partition (&functions)[N], const tfc_slot_info (&slots)[M], bool commits = false)
      : slots(slots), slotCount(M), commits(commits) {
    for (Partition function : functions)
      partitions.push_back({function, [](const int64_t *) -> int64_t { return 0; }, 0});
  }

  int32_t run(tfc_call_frame *frame) const {
    tfc_partitioning partitioning = {partitions.data(), slots,
                                     static_cast<int32_t>(partitions.size()), slotCount, commits};
    return tfc::runtime::runPartitions(*frame, partitioning);
  }

  std::vector<tfc_partition_info> partitions;
  const tfc_slot_info *slots;
  int32_t slotCount;
  bool commits;
};

/// Runs the partitions in a call of the instance's entry `custom`.
static tfc_status call(tfc_instance *instance, const Divided &entry) {
  custom = [&entry](tfc_call_frame *frame) { return entry.run(frame); };
  return tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr);
}

//===- Values -------------------------------------------------------------===//

// x crosses to device 1, which adds w to it; the sum crosses back.
static float x, result, sum;
static constexpr tfc_slot_info kThereAndBack[] = {{0, 1}, {1, 0}};
static constexpr Partition kAddThere[] = {[](tfc_call_frame *frame) -> int32_t {
                                            const void *value;
                                            if (int32_t status = tfc_rt_send(frame, 0, &x, 0))
                                              return status;
                                            if (int32_t status = tfc_rt_receive(frame, 1, &value))
                                              return status;
                                            sum = *static_cast<const float *>(value);
                                            tfc_rt_release(frame, 1);
                                            return 0;
                                          },
                                          [](tfc_call_frame *frame) -> int32_t {
                                            const void *value;
                                            if (int32_t status = tfc_rt_receive(frame, 0, &value))
                                              return status;
                                            result = *static_cast<const float *>(value) +
                                                     static_cast<float *>(frame->variables[kW])[1];
                                            tfc_rt_release(frame, 0);
                                            return tfc_rt_send(frame, 1, &result, 0);
                                          }};
static const Divided kAdd(kAddThere, kThereAndBack);

TEST(Devices, ExchangeValues) {
  Instance instance;
  for (int i = 0; i < 1000; ++i) {
    x = i;
    EXPECT_EQ(call(instance, kAdd), TFC_OK) << instance.message();
    EXPECT_EQ(sum, x + 1);
  }
}

// Device 0 sends the numbers 0 to 999; device 1 adds them.
static int64_t buffers[2], total;
static constexpr tfc_slot_info kThere[] = {{0, 1}};
static constexpr Partition kAddUp[] = {[](tfc_call_frame *frame) -> int32_t {
                                         for (int64_t i = 0; i < 1000; ++i) {
                                           int32_t buffer = tfc_rt_next_buffer(frame, 0);
                                           if (buffer < 0)
                                             return buffer;
                                           buffers[buffer] = i;
                                           if (int32_t status =
                                                   tfc_rt_send(frame, 0, &buffers[buffer], 0))
                                             return status;
                                         }
                                         return tfc_rt_await_release(frame, 0);
                                       },
                                       [](tfc_call_frame *frame) -> int32_t {
                                         for (int64_t i = 0; i < 1000; ++i) {
                                           const void *value;
                                           if (int32_t status = tfc_rt_receive(frame, 0, &value))
                                             return status;
                                           total += *static_cast<const int64_t *>(value);
                                           tfc_rt_release(frame, 0);
                                         }
                                         return 0;
                                       }};

TEST(Devices, ExchangeValuesInALoop) {
  Instance instance;
  for (int i = 0; i < 10; ++i) {
    total = 0;
    EXPECT_EQ(call(instance, {kAddUp, kThere}), TFC_OK) << instance.message();
    EXPECT_EQ(total, 999 * 500);
  }
}

//===- Errors -------------------------------------------------------------===//

static int32_t waitForPeer(tfc_call_frame *frame, int32_t slot) {
  const void *value;
  int32_t status = tfc_rt_receive(frame, slot, &value);
  EXPECT_EQ(status, TFC_RT_ABORTED);
  return status;
}

static constexpr Partition kFailThere[] = {
    [](tfc_call_frame *frame) { return waitForPeer(frame, 1); },
    [](tfc_call_frame *frame) {
      const int64_t values[] = {7};
      return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "index %lld", values, 1);
    },
    [](tfc_call_frame *frame) { return waitForPeer(frame, 2); }};
static constexpr tfc_slot_info kFailSlots[] = {{0, 1}, {1, 0}, {0, 2}};

TEST(Devices, FailTogetherWithTheMessageOfOne) {
  Instance instance;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(call(instance, {kFailThere, kFailSlots}), TFC_OUT_OF_RANGE);
    EXPECT_EQ(instance.message(), "custom: index 7");
    EXPECT_EQ(call(instance, kAdd), TFC_OK);
    EXPECT_EQ(instance.message(), "");
  }
}

static constexpr Partition kFailAlike[] = {
    [](tfc_call_frame *frame) { return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "first", nullptr, 0); },
    [](tfc_call_frame *frame) {
      return tfc_rt_fail(frame, TFC_FAILED_PRECONDITION, "second", nullptr, 0);
    }};

TEST(Devices, ReportOneOfTwoErrors) {
  Instance instance;
  for (int i = 0; i < 300; ++i) {
    tfc_status status = call(instance, {kFailAlike, kThere});
    EXPECT_EQ(instance.message(), status == TFC_OUT_OF_RANGE ? "custom: first" : "custom: second");
    EXPECT_TRUE(status == TFC_OUT_OF_RANGE || status == TFC_FAILED_PRECONDITION);
  }
}

static int32_t failCheck(tfc_call_frame *frame, int64_t number) {
  return tfc_rt_fail_check(frame, &number, 1, TFC_FAILED_PRECONDITION, "check %lld", &number, 1);
}

static constexpr Partition kCheckAll[] = {
    [](tfc_call_frame *frame) -> int32_t {
      const void *value;
      EXPECT_EQ(tfc_rt_receive(frame, 1, &value), TFC_RT_POISON);
      return TFC_RT_POISON;
    },
    [](tfc_call_frame *frame) { return failCheck(frame, 3); },
    [](tfc_call_frame *frame) { return failCheck(frame, 2); },
    [](tfc_call_frame *frame) { return tfc_rt_commit(frame); }};

TEST(Devices, FailWithTheFirstOfTheirFailedChecks) {
  Instance instance;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(call(instance, {kCheckAll, kFailSlots, /*commits=*/true}), TFC_FAILED_PRECONDITION);
    EXPECT_EQ(instance.message(), "custom: check 2");
  }
}

static constexpr Partition kGiveUp[] = {[](tfc_call_frame *) -> int32_t { return TFC_RT_ABORTED; },
                                        [](tfc_call_frame *) -> int32_t { return 0; }};

TEST(Devices, NeverFailWithoutAnError) {
  Instance instance;
  EXPECT_EQ(call(instance, {kGiveUp, kThere}), TFC_INTERNAL);
  EXPECT_EQ(instance.message(), "custom: a device has failed without an error");
}

static int32_t runs;
static constexpr Partition kRestart[] = {
    [](tfc_call_frame *frame) -> int32_t { return runs < 3 ? waitForPeer(frame, 1) : 0; },
    [](tfc_call_frame *) -> int32_t { return runs < 3 ? -1 : 0; }};

TEST(Devices, RestartTogether) {
  Instance instance;
  runs = 0;
  custom = [](tfc_call_frame *frame) {
    static const Divided kEntry(kRestart, kThereAndBack);
    ++runs;
    return kEntry.run(frame);
  };
  EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK);
  EXPECT_EQ(runs, 3);
}

static const tfc_variable_info kItem[] = {{"item", nullptr, TFC_I64, 0, nullptr, 8}};
static const tfc_queue_info kQueue[] = {{"work", TFC_QUEUE_FIFO, 1, kItem, 4, 0, 0}};
static constexpr Partition kTakeFromQueue[] = {
    [](tfc_call_frame *frame) -> int32_t {
      int64_t item;
      void *values[] = {&item};
      if (int32_t status = tfc_rt_dequeue(frame, 0, values, 1, 0, "dequeue"))
        return status;
      return tfc_rt_send(frame, 0, &item, 0);
    },
    [](tfc_call_frame *frame) { return waitForPeer(frame, 0); }};

TEST(Devices, EndAllWaitsWhenAWaitAtAQueueIsCancelled) {
  tfc_model model = kModel;
  model.queues = kQueue;
  model.queue_count = 1;
  Instance instance(model);
  tfc_instance *other = nullptr; // with one handle alone the wait would fail
  ASSERT_EQ(tfc_instance_fork(instance, &other), TFC_OK);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    tfc_instance_cancel(instance);
  });
  EXPECT_EQ(call(instance, {kTakeFromQueue, kThere}), TFC_CANCELLED);
  EXPECT_NE(instance.message(), "");
  canceller.join();
  tfc_instance_destroy(other);
}

/// A model with a queue, whose entry `custom` writes variables if `writes`.
struct QueueModel {
  explicit QueueModel(bool writes = false) : entries(kModel.entries, kModel.entries + 5) {
    entries[kCustom].writes = writes;
    model.entries = entries.data();
    model.queues = kQueue;
    model.queue_count = 1;
  }

  std::vector<tfc_entry_info> entries;
  tfc_model model = kModel;
};

static int32_t put(tfc_call_frame *frame, int64_t item) {
  const void *values[] = {&item};
  return tfc_rt_enqueue(frame, 0, values, 1, 0, "enqueue");
}

static int32_t take(tfc_call_frame *frame, int64_t &item) {
  void *values[] = {&item};
  return tfc_rt_dequeue(frame, 0, values, 1, 0, "dequeue");
}

// Device 1 takes from the queue what device 0 puts there, and tells it when it may put more.
static constexpr int64_t kItems = 100;
static constexpr Partition kPassThrough[] = {
    [](tfc_call_frame *frame) -> int32_t {
      const void *value;
      for (int64_t i = 0; i < kItems; ++i) {
        if (int32_t status = put(frame, i))
          return status;
        if (int32_t status = tfc_rt_receive(frame, 0, &value))
          return status;
        tfc_rt_release(frame, 0);
      }
      return TFC_OK;
    },
    [](tfc_call_frame *frame) -> int32_t {
      for (int64_t i = 0; i < kItems; ++i) {
        int64_t item;
        if (int32_t status = take(frame, item))
          return status;
        EXPECT_EQ(item, i);
        if (int32_t status = tfc_rt_send(frame, 0, nullptr, 0))
          return status;
      }
      return TFC_OK;
    }};
static constexpr tfc_slot_info kBack[] = {{1, 0}};

TEST(Devices, PassElementsThroughAQueueInOneCall) {
  QueueModel model;
  Instance instance(model.model);
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(call(instance, {kPassThrough, kBack}), TFC_OK) << instance.message();
}

static constexpr Partition kTakeAndTell[] = {[](tfc_call_frame *frame) -> int32_t {
                                               const void *value;
                                               int32_t status = tfc_rt_receive(frame, 0, &value);
                                               tfc_rt_release(frame, 0);
                                               return status;
                                             },
                                             [](tfc_call_frame *frame) -> int32_t {
                                               int64_t item;
                                               if (int32_t status = take(frame, item))
                                                 return status;
                                               return tfc_rt_send(frame, 0, nullptr, 0);
                                             }};

TEST(Devices, NoticeThatNobodyElseCanEndTheirWaitAtAQueue) {
  QueueModel model;
  Instance instance(model.model);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(call(instance, {kTakeAndTell, kBack}), TFC_FAILED_PRECONDITION);
    ASSERT_EQ(instance.message(),
              "custom: dequeue: queue 'work' can return 0 of 1 elements, and no "
              "other handle can put more into it");
  }
}

static constexpr Partition kFailWhileWaiting[] = {
    [](tfc_call_frame *frame) -> int32_t {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "here", nullptr, 0);
    },
    kTakeAndTell[1]};

TEST(Devices, EndTheWaitAtAQueueWhenAnotherDeviceFails) {
  QueueModel model;
  Instance instance(model.model);
  tfc_instance *other = nullptr;
  ASSERT_EQ(tfc_instance_fork(instance, &other), TFC_OK);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(call(instance, {kFailWhileWaiting, kBack}), TFC_OUT_OF_RANGE);
    ASSERT_EQ(instance.message(), "custom: here");
  }
  tfc_instance_destroy(other);
}

// While a call on two devices waits for elements, a call that writes variables must get the lock.
TEST(Devices, LetOthersWriteWhileAllOfThemWait) {
  QueueModel model(/*writes=*/true);
  Instance instance(model.model);
  tfc_instance *producer = nullptr;
  ASSERT_EQ(tfc_instance_fork(instance, &producer), TFC_OK);
  static const Divided kTake(kTakeAndTell, kBack);
  custom = [producer](tfc_call_frame *frame) {
    return frame->handle == producer ? put(frame, 7) : kTake.run(frame);
  };
  std::thread thread([&] {
    for (int i = 0; i < 200; ++i)
      EXPECT_EQ(tfc_instance_call(producer, kCustom, nullptr, nullptr, nullptr), TFC_OK);
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK)
        << instance.message();
  thread.join();
  tfc_instance_destroy(producer);
}

//===- Handles ------------------------------------------------------------===//

// Two partitions that exchange a number of their handle, found in its arena pointer.
static constexpr Partition kExchange[] = {[](tfc_call_frame *frame) -> int32_t {
                                            const void *value;
                                            if (int32_t status =
                                                    tfc_rt_send(frame, 0, frame->arena, 0))
                                              return status;
                                            if (int32_t status = tfc_rt_receive(frame, 1, &value))
                                              return status;
                                            return value == frame->arena ? TFC_OK : TFC_INTERNAL;
                                          },
                                          [](tfc_call_frame *frame) -> int32_t {
                                            const void *value;
                                            if (int32_t status = tfc_rt_receive(frame, 0, &value))
                                              return status;
                                            return tfc_rt_send(frame, 1, value, 0);
                                          }};

TEST(Devices, ServeForkedHandlesAtOnce) {
  Instance instance;
  custom = [](tfc_call_frame *frame) {
    static const Divided kEntry(kExchange, kThereAndBack);
    return kEntry.run(frame);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    tfc_instance *handle = nullptr;
    ASSERT_EQ(tfc_instance_fork(instance, &handle), TFC_OK);
    threads.emplace_back([handle] {
      for (int call = 0; call < 500; ++call)
        EXPECT_EQ(tfc_instance_call(handle, kCustom, nullptr, nullptr, nullptr), TFC_OK);
      tfc_instance_destroy(handle);
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Devices, CallParallelLoops) {
  static std::atomic<int64_t> covered;
  covered = 0;
  static constexpr Partition kLoop = [](tfc_call_frame *frame) -> int32_t {
    auto count = [](void *, int64_t begin, int64_t end) { covered += end - begin; };
    for (int i = 0; i < 100; ++i)
      tfc_rt_parallel_for(frame, count, nullptr, 100, 10);
    return 0;
  };
  static constexpr Partition kLoops[] = {kLoop, kLoop, kLoop};
  Instance instance;
  EXPECT_EQ(call(instance, {kLoops, kThere}), TFC_OK);
  EXPECT_EQ(covered, 3 * 100 * 100);
}
