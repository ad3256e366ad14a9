//===- QueueTest.cpp - Queues, and who waits at them ----------------------===//
//
// Tests the order of elements in a queue, and calls on several threads that wait for each other.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <unistd.h>

using namespace toy;
using tfc::runtime::Queue;

//===- The order of one queue ---------------------------------------------===//

static const tfc_variable_info kNumber[] = {{"key", nullptr, TFC_I64, 0, nullptr, 8},
                                            {"value", nullptr, TFC_F32, 0, nullptr, 4}};

namespace {
/// A queue of (key: i64, value: f32) with its memory.
struct Numbers {
  Numbers(tfc_queue_kind kind, int64_t capacity, int64_t minReady = 0, int64_t seed = 0)
      : info{"numbers", kind, 2, kNumber, capacity, minReady, seed}, queue(info),
        memory(Queue::memoryBytes(info)) {
    queue.place(memory.data());
  }
  void put(int64_t key, float value) {
    const void *values[] = {&key, &value};
    queue.put(values, 0);
  }
  std::pair<int64_t, float> take() {
    int64_t key;
    float value;
    void *values[] = {&key, &value};
    queue.take(values, 0);
    return {key, value};
  }

  tfc_queue_info info;
  Queue queue;
  std::vector<char> memory;
};
} // namespace

TEST(Queue, ReturnsTheOldestFirst) {
  Numbers numbers(TFC_QUEUE_FIFO, 3);
  for (int round = 0; round < 5; ++round) {
    numbers.put(round, 0.5f);
    numbers.put(round + 100, 1.5f);
    EXPECT_EQ(numbers.queue.room(), 1);
    EXPECT_EQ(numbers.take(), std::pair(int64_t(round), 0.5f));
    EXPECT_EQ(numbers.take(), std::pair(int64_t(round + 100), 1.5f));
  }
}

TEST(Queue, ReturnsTheSmallestPriorityFirstAndEqualOnesInOrder) {
  Numbers numbers(TFC_QUEUE_PRIORITY, 64);
  for (int i = 0; i < 64; ++i)
    numbers.put((i * 37) % 8 - 4, i);
  std::pair<int64_t, float> last = {-100, 0};
  for (int i = 0; i < 64; ++i) {
    auto next = numbers.take();
    EXPECT_LT(last, next);
    last = next;
  }
}

static std::vector<int64_t> shuffled(int64_t seed) {
  Numbers numbers(TFC_QUEUE_SHUFFLE, 100, 0, seed);
  std::vector<int64_t> result;
  for (int i = 0; i < 100; ++i)
    numbers.put(i, 0);
  for (int i = 0; i < 100; ++i)
    result.push_back(numbers.take().first);
  return result;
}

TEST(Queue, ShufflesBySeedAndLosesNothing) {
  std::vector<int64_t> first = shuffled(1);
  EXPECT_EQ(first, shuffled(1));
  EXPECT_NE(first, shuffled(2));
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100u);
}

TEST(Queue, DrawsEvenly) {
  Numbers numbers(TFC_QUEUE_SHUFFLE, 4, 0, 7);
  int64_t counts[4] = {};
  for (int64_t i = 0; i < 4; ++i)
    numbers.put(i, 0);
  for (int i = 0; i < 8000; ++i) {
    int64_t key = numbers.take().first;
    ++counts[key];
    numbers.put(key, 0);
  }
  for (int64_t count : counts)
    EXPECT_NEAR(count, 2000, 200);
}

TEST(Queue, KeepsSomeBackUntilItIsClosed) {
  Numbers numbers(TFC_QUEUE_SHUFFLE, 10, 4);
  for (int i = 0; i < 6; ++i)
    numbers.put(i, 0);
  EXPECT_EQ(numbers.queue.available(), 2);
  EXPECT_EQ(numbers.queue.largestTake(), 6);
  numbers.queue.close();
  EXPECT_EQ(numbers.queue.available(), 6);
}

TEST(Queue, RefusesACapacityThatCannotBeAddressed) {
  tfc_queue_info info = {"numbers", TFC_QUEUE_FIFO, 2, kNumber, INT64_MAX / 2, 0, 0};
  EXPECT_EQ(Queue::memoryBytes(info), -1);
}

//===- Calls that use queues ----------------------------------------------===//

static const tfc_variable_info kItem[] = {{"item", nullptr, TFC_I64, 0, nullptr, 8}};
static const tfc_queue_info kQueues[] = {{"work", TFC_QUEUE_FIFO, 1, kItem, 4, 0, 0},
                                         {"results", TFC_QUEUE_FIFO, 1, kItem, 4, 0, 0},
                                         {"mixed", TFC_QUEUE_SHUFFLE, 1, kItem, 8, 3, 5}};
enum { kWork, kResults, kMixed };
constexpr int32_t kChange = kCustom + 1; // as `custom`, and changes variables

namespace {
/// An instance of the toy model with queues; its entry `custom` calls the function passed to `run`.
struct Handle {
  Handle() {
    std::copy(kModel.entries, kModel.entries + kChange, entries);
    entries[kChange] = entries[kCustom];
    entries[kChange].writes = 1;
    model = kModel;
    model.entries = entries;
    model.entry_count = kChange + 1;
    model.queues = kQueues;
    model.queue_count = 3;
    custom = [](tfc_call_frame *frame) { return threadBody(frame); };
    EXPECT_EQ(tfc_instance_create(&model, nullptr, &instance), TFC_OK);
  }
  explicit Handle(const Handle &other) {
    EXPECT_EQ(tfc_instance_fork(other.instance, &instance), TFC_OK);
  }
  ~Handle() { tfc_instance_destroy(instance); }

  tfc_status run(std::function<int32_t(tfc_call_frame *)> body, int32_t entry = kCustom) {
    threadBody = std::move(body);
    return tfc_instance_call(instance, entry, nullptr, nullptr, nullptr);
  }
  tfc_status put(int32_t queue, std::vector<int64_t> items) {
    return run([&](tfc_call_frame *frame) {
      const void *values[] = {items.data()};
      return tfc_rt_enqueue(frame, queue, values, items.size(), 0, "'enqueue'");
    });
  }
  tfc_status take(int32_t queue, int64_t count = 1) {
    taken.assign(count, -1);
    return run([&](tfc_call_frame *frame) {
      void *values[] = {taken.data()};
      return tfc_rt_dequeue(frame, queue, values, count, 0, "'dequeue'");
    });
  }
  tfc_status takeUpTo(int32_t queue, int64_t count) {
    taken.assign(count, -1);
    return run([&](tfc_call_frame *frame) {
      void *values[] = {taken.data()};
      return tfc_rt_dequeue_up_to(frame, queue, values, count, &number, 0, "'dequeue_up_to'");
    });
  }
  int64_t size(const char *queue) {
    int64_t size = -1;
    EXPECT_EQ(tfc_instance_queue_size(instance, queue, &size), TFC_OK);
    return size;
  }
  std::string message() const { return tfc_instance_message(instance); }

  static thread_local std::function<int32_t(tfc_call_frame *)> threadBody;
  tfc_entry_info entries[kChange + 1];
  tfc_model model = {};
  tfc_instance *instance = nullptr;
  std::vector<int64_t> taken;
  int32_t number = -1;
};
thread_local std::function<int32_t(tfc_call_frame *)> Handle::threadBody;
} // namespace

using Items = std::vector<int64_t>;

/// Lets another thread start waiting; if it has not by then, tests still pass but check less.
static void letWait() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(Queues, ReturnWhatWasPutIn) {
  Handle handle;
  EXPECT_EQ(handle.put(kWork, {1, 2, 3}), TFC_OK);
  EXPECT_EQ(handle.size("work"), 3);
  EXPECT_EQ(handle.take(kWork, 2), TFC_OK);
  EXPECT_EQ(handle.taken, (Items{1, 2}));
  EXPECT_EQ(handle.take(kWork), TFC_OK);
  EXPECT_EQ(handle.taken, Items{3});
}

TEST(Queues, FailInsteadOfWaitingForNobody) {
  Handle handle;
  EXPECT_EQ(handle.take(kWork, 2), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(handle.message(),
            "custom: 'dequeue': queue 'work' can return 0 of 2 elements, and no other handle "
            "can put more into it");
  EXPECT_EQ(handle.put(kWork, {1, 2, 3, 4, 5}), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(handle.message(),
            "custom: 'enqueue': queue 'work' is full, and no other handle can take from it");
  EXPECT_EQ(handle.size("work"), 4);
}

TEST(Queues, RefuseToReturnMoreThanTheyHold) {
  Handle handle;
  EXPECT_EQ(handle.take(kWork, 5), TFC_OUT_OF_RANGE);
  EXPECT_EQ(handle.message(),
            "custom: 'dequeue': queue 'work' returns at most 4 elements at once, but got 5");
  EXPECT_EQ(handle.take(kMixed, 6), TFC_OUT_OF_RANGE);
}

TEST(Queues, TakeAndGiveNothingAtOnce) {
  Handle handle;
  EXPECT_EQ(handle.put(kWork, {}), TFC_OK);
  EXPECT_EQ(handle.take(kWork, 0), TFC_OK);
  EXPECT_EQ(handle.takeUpTo(kWork, 0), TFC_OK);
  EXPECT_EQ(handle.number, 0);
}

TEST(Queues, ReturnTheRestOnceTheyAreClosed) {
  Handle handle;
  EXPECT_EQ(handle.put(kWork, {7, 8, 9}), TFC_OK);
  EXPECT_EQ(tfc_instance_queue_close(handle.instance, "work", 0), TFC_OK);
  EXPECT_EQ(handle.put(kWork, {1}), TFC_CLOSED);
  EXPECT_EQ(handle.message(), "custom: 'enqueue': queue 'work' is closed");
  EXPECT_EQ(handle.take(kWork), TFC_OK);
  EXPECT_EQ(handle.take(kWork, 3), TFC_CLOSED);
  EXPECT_EQ(handle.message(),
            "custom: 'dequeue': queue 'work' is closed and holds 2 of 3 elements");
  EXPECT_EQ(handle.takeUpTo(kWork, 4), TFC_OK);
  EXPECT_EQ(handle.number, 2);
  EXPECT_EQ(handle.taken, (Items{8, 9, 0, 0}));
  EXPECT_EQ(handle.takeUpTo(kWork, 4), TFC_CLOSED);
  EXPECT_EQ(handle.takeUpTo(kWork, 5), TFC_CLOSED);
  EXPECT_EQ(handle.message(),
            "custom: 'dequeue_up_to': queue 'work' is closed and holds 0 of 5 elements");
  EXPECT_EQ(handle.number, 0);
}

TEST(Queues, ShuffleOnlyWhatLeavesEnough) {
  Handle handle;
  EXPECT_EQ(handle.put(kMixed, {1, 2, 3}), TFC_OK);
  EXPECT_EQ(handle.take(kMixed), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(handle.put(kMixed, {4}), TFC_OK);
  EXPECT_EQ(handle.take(kMixed), TFC_OK);
  EXPECT_EQ(tfc_instance_queue_close(handle.instance, "mixed", 0), TFC_OK);
  EXPECT_EQ(handle.take(kMixed, 3), TFC_OK);
}

TEST(Queues, AreFoundByName) {
  Handle handle;
  int64_t size;
  EXPECT_EQ(tfc_instance_queue_size(handle.instance, "play", &size), TFC_NOT_FOUND);
  EXPECT_EQ(handle.message(), "toy has no queue 'play'");
  EXPECT_EQ(tfc_instance_queue_close(handle.instance, nullptr, 0), TFC_NOT_FOUND);
  EXPECT_EQ(tfc_instance_queue_size(handle.instance, "work", nullptr), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(handle.message(), "the pointer for the size of queue 'work' is null");
  EXPECT_EQ(tfc_instance_queue_size(nullptr, "work", &size), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(tfc_instance_queue_close(nullptr, "work", 0), TFC_INVALID_ARGUMENT);
  tfc_instance_cancel(nullptr);
}

TEST(Queues, AreDescribed) {
  Handle handle;
  tfc_queue queue;
  ASSERT_EQ(tfc_runtime_api.queue(&handle.model, kMixed, &queue), TFC_OK);
  EXPECT_STREQ(queue.name, "mixed");
  EXPECT_EQ(queue.kind, TFC_QUEUE_SHUFFLE);
  EXPECT_EQ(queue.capacity, 8);
  tfc_value item;
  ASSERT_EQ(tfc_runtime_api.component(&handle.model, kMixed, 0, &item), TFC_OK);
  EXPECT_STREQ(item.name, "item");
  EXPECT_EQ(tfc_runtime_api.queue(&handle.model, 3, &queue), TFC_NOT_FOUND);
  EXPECT_EQ(tfc_runtime_api.component(&handle.model, kMixed, 1, &item), TFC_NOT_FOUND);
  EXPECT_EQ(tfc_runtime_api.queue(&kModel, 0, &queue), TFC_NOT_FOUND);
}

TEST(Queues, AreRefusedWhereMemoryRunsOut) {
  tfc_queue_info huge = kQueues[0];
  huge.capacity = INT64_MAX / 2;
  tfc_model model = kModel;
  model.queues = &huge;
  model.queue_count = 1;
  tfc_instance *instance = nullptr;
  EXPECT_EQ(tfc_instance_create(&model, nullptr, &instance), TFC_OUT_OF_MEMORY);
  EXPECT_STREQ(tfc_instance_message(nullptr),
               "not enough memory for the variables and queues of toy");
}

//===- Threads ------------------------------------------------------------===//

TEST(QueueThreads, PassEveryElementOnce) {
  constexpr int kThreads = 3, kEach = 400;
  Handle first;
  std::atomic<int64_t> total = 0, count = 0;
  std::vector<std::thread> putters, takers;
  std::vector<std::unique_ptr<Handle>> handles;
  for (int i = 0; i < 2 * kThreads; ++i)
    handles.push_back(std::make_unique<Handle>(first));
  for (int i = 0; i < kThreads; ++i) {
    putters.emplace_back([&, i] {
      for (int64_t k = 0; k < kEach; k += 5)
        EXPECT_EQ(handles[i]->put(kWork, {k, k + 1, k + 2, k + 3, k + 4}), TFC_OK);
    });
    takers.emplace_back([&, i] {
      Handle &own = *handles[kThreads + i];
      while (own.takeUpTo(kWork, 3) == TFC_OK) {
        count += own.number;
        for (int64_t item : own.taken)
          total += item;
      }
      EXPECT_EQ(own.message(),
                "custom: 'dequeue_up_to': queue 'work' is closed and holds 0 of 3 elements");
    });
  }
  for (std::thread &thread : putters)
    thread.join();
  tfc_instance_queue_close(first.instance, "work", 0);
  for (std::thread &thread : takers)
    thread.join();
  EXPECT_EQ(count, kThreads * kEach);
  EXPECT_EQ(total, int64_t(kThreads) * kEach * (kEach - 1) / 2);
}

TEST(QueueThreads, KeepElementsOfOneCallTogether) {
  Handle first, second(first), reader(first);
  std::thread a([&] { EXPECT_EQ(first.put(kWork, Items(50, 1)), TFC_OK); });
  std::thread b([&] { EXPECT_EQ(second.put(kWork, Items(50, 2)), TFC_OK); });
  Items all;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(reader.take(kWork), TFC_OK);
    all.push_back(reader.taken[0]);
  }
  a.join();
  b.join();
  EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 2);
}

TEST(QueueThreads, FinishWaitingPutsWhenClosed) {
  Handle first, second(first);
  std::thread putter([&] { EXPECT_EQ(second.put(kWork, {1, 2, 3, 4, 5, 6}), TFC_OK); });
  while (first.size("work") < 4)
    std::this_thread::yield();
  first.run([](tfc_call_frame *frame) { return tfc_rt_queue_close(frame, kWork, 0), TFC_OK; });
  int64_t sum = 0;
  tfc_status status;
  while ((status = first.take(kWork)) == TFC_OK)
    sum += first.taken[0];
  putter.join();
  EXPECT_EQ(status, TFC_CLOSED);
  EXPECT_EQ(sum, 21);
}

TEST(QueueThreads, CancelWaitingPutsWhenClosed) {
  Handle first, second(first);
  std::thread putter([&] { EXPECT_EQ(second.put(kWork, {1, 2, 3, 4, 5}), TFC_CANCELLED); });
  while (first.size("work") < 4)
    std::this_thread::yield();
  tfc_instance_queue_close(first.instance, "work", 1);
  putter.join();
  EXPECT_EQ(second.message(), "custom: 'enqueue': the wait at queue 'work' was cancelled");
  EXPECT_EQ(first.size("work"), 4);
}

TEST(QueueThreads, EndWaitingTakesWhenClosed) {
  Handle first, second(first), third(first);
  std::thread all([&] {
    EXPECT_EQ(second.take(kWork, 3), TFC_CLOSED);
    EXPECT_EQ(second.size("work"), 2);
  });
  letWait();
  EXPECT_EQ(first.put(kWork, {1, 2}), TFC_OK);
  letWait();
  tfc_instance_queue_close(first.instance, "work", 0);
  all.join();
  EXPECT_EQ(third.takeUpTo(kWork, 3), TFC_OK);
  EXPECT_EQ(third.number, 2);
}

TEST(QueueThreads, AreCancelledFromOutside) {
  Handle first, second(first);
  std::thread taker([&] { EXPECT_EQ(second.take(kWork), TFC_CANCELLED); });
  letWait();
  tfc_instance_cancel(second.instance);
  taker.join();
  EXPECT_EQ(second.take(kWork), TFC_CANCELLED) << "it stays cancelled";
  EXPECT_EQ(second.put(kWork, {1}), TFC_OK) << "what need not wait goes on";
  EXPECT_EQ(first.take(kWork), TFC_OK);
}

TEST(QueueThreads, FailWhenTheLastHelperLeaves) {
  Handle first;
  auto second = std::make_unique<Handle>(first);
  std::thread taker([&] { EXPECT_EQ(first.take(kWork), TFC_FAILED_PRECONDITION); });
  letWait();
  second.reset();
  taker.join();
}

TEST(QueueThreads, FailOneCallOfADeadlock) {
  Handle first, second(first);
  std::atomic<int> failed = 0;
  auto wait = [&](Handle &own, int32_t from, int32_t to) {
    tfc_status status = own.take(from);
    EXPECT_TRUE(status == TFC_OK || status == TFC_FAILED_PRECONDITION);
    if (status == TFC_OK)
      return;
    ++failed;
    EXPECT_EQ(own.put(to, {1}), TFC_OK);
  };
  std::thread a([&] { wait(first, kWork, kResults); });
  std::thread b([&] { wait(second, kResults, kWork); });
  a.join();
  b.join();
  EXPECT_EQ(failed, 1);
}

//===- Variables ----------------------------------------------------------===//

static tfc_status step(Handle &handle) {
  float x[4] = {}, total, y[4];
  int32_t label = 0;
  int64_t n = 1;
  const void *feeds[] = {x, &label};
  void *fetches[] = {&total, y};
  return tfc_instance_call(handle.instance, kStep, &n, feeds, fetches);
}

TEST(QueueVariables, ChangeWhileACallWaits) {
  Handle first, second(first);
  std::thread taker([&] { EXPECT_EQ(second.take(kWork), TFC_OK); });
  letWait();
  EXPECT_EQ(step(first), TFC_OK) << "the waiting call does not hold the lock";
  EXPECT_EQ(first.put(kWork, {1}), TFC_OK);
  taker.join();
}

TEST(QueueVariables, AreReadAgainWhenTheyChangedDuringAWait) {
  Handle first, second(first);
  EXPECT_EQ(first.put(kWork, {1, 2, 3, 4}), TFC_OK);
  std::atomic<int> runs = 0;
  std::thread putter([&] {
    EXPECT_EQ(second.run([&](tfc_call_frame *frame) {
      ++runs;
      const void *values[] = {frame->variables[kSteps]};
      return tfc_rt_enqueue(frame, kWork, values, 1, /*is_late=*/1, "'enqueue'");
    }),
              TFC_OK);
  });
  while (runs == 0)
    std::this_thread::yield();
  EXPECT_EQ(step(first), TFC_OK) << "waits until the other one waits";
  EXPECT_EQ(first.take(kWork, 4), TFC_OK);
  putter.join();
  EXPECT_EQ(first.take(kWork), TFC_OK);
  EXPECT_EQ(first.taken, Items{1});
  EXPECT_EQ(runs, 2);
}

TEST(QueueVariables, AreThoseOfACheckpointThatWasLoadedDuringAWait) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("tfc-waits-" + std::to_string(getpid()) + ".safetensors");
  Handle first, second(first);
  EXPECT_EQ(tfc_instance_save(first.instance, path.c_str()), TFC_OK);
  EXPECT_EQ(step(first), TFC_OK);
  std::atomic<int64_t> before = -1;
  int64_t seen = -1;
  std::thread taker([&] {
    EXPECT_EQ(second.run([&](tfc_call_frame *frame) -> int32_t {
      int64_t item;
      void *values[] = {&item};
      auto *steps = static_cast<int64_t *>(frame->variables[kSteps]);
      before = *steps;
      if (int32_t status = tfc_rt_dequeue(frame, kWork, values, 1, /*is_late=*/0, "'dequeue'"))
        return status;
      seen = *steps;
      return TFC_OK;
    }),
              TFC_OK);
  });
  while (before < 0)
    std::this_thread::yield();
  letWait();
  EXPECT_EQ(tfc_instance_load(first.instance, path.c_str()), TFC_OK) << first.message();
  EXPECT_EQ(first.put(kWork, {1}), TFC_OK);
  taker.join();
  EXPECT_EQ(before, 1);
  EXPECT_EQ(seen, 0);
  std::filesystem::remove(path);
}

TEST(QueueVariables, LoseNoUpdateOfACallThatWaits) {
  constexpr int kCalls = 300;
  Handle first, second(first), reader(first);
  // Reads the counter, waits, then writes what it computed before.
  auto work = [&](Handle &own) {
    for (int i = 0; i < kCalls; ++i) {
      int64_t next = 0;
      auto body = [&](tfc_call_frame *frame) {
        auto *steps = static_cast<int64_t *>(frame->variables[kSteps]);
        next = *steps + 1;
        const void *values[] = {&next};
        if (int32_t status = tfc_rt_enqueue(frame, kWork, values, 1, /*is_late=*/1, "'enqueue'"))
          return status;
        *steps = next;
        return 0;
      };
      EXPECT_EQ(own.run(body, kChange), TFC_OK);
    }
  };
  std::thread a([&] { work(first); }), b([&] { work(second); });
  Items all;
  for (int i = 0; i < 2 * kCalls; ++i) {
    EXPECT_EQ(reader.take(kWork), TFC_OK);
    all.push_back(reader.taken[0]);
  }
  a.join();
  b.join();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 2 * kCalls);
  EXPECT_EQ(read(first.instance).steps, 2 * kCalls);
}
