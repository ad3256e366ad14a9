//===- Queue.h - The queues of a state -------------------------------------===//
//
// A queue keeps its elements in memory that is taken with the state; putting and
// taking one copies bytes and allocates nothing. All queues of a state have one
// mutex, so that a call that would wait can be told whether anybody is left who
// could end its wait.
//
// A call that waits gives the state's lock back meanwhile: others must be able
// to run. What it has read of variables before may then be old. If that was
// before its first operation on a queue, the call has had no effect yet and
// starts again (kRestart), so most calls never see two versions of a variable.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Memory.h"
#include "runtime/Model.h"

#include <atomic>
#include <pthread.h>

namespace tfc::runtime {

/// What an entry returns when it shall run again from its start; no status.
constexpr int32_t kRestart = -1;

/// The elements of one queue and the order in which they leave it. Knows nothing of threads.
class Queue {
public:
  explicit Queue(const tfc_queue_info &info) : info(&info) {}

  /// Bytes of memory that a queue needs, or -1 if that cannot be addressed.
  static int64_t memoryBytes(const tfc_queue_info &info);
  /// Gives the queue its memory: memoryBytes(info), 64-byte aligned.
  void place(char *memory);

  const tfc_queue_info &getInfo() const { return *info; }
  int64_t size() const { return count; }
  int64_t room() const { return info->capacity - count; }
  bool isClosed() const { return closed; }
  void close() { closed = true; }

  /// How many elements may be taken: a shuffling queue keeps some back until it is closed.
  int64_t available() const { return closed ? count : count - info->min_ready; }
  /// The most that can be taken at once.
  int64_t largestTake() const { return closed ? info->capacity : info->capacity - info->min_ready; }

  /// Copies element number `index` of the arrays in, which there must be room for, or out, which
  /// there must be.
  void put(const void *const *values, int64_t index);
  void take(void *const *values, int64_t index);

private:
  /// By what a priority queue compares: equal priorities leave in the order in which they came.
  struct Key {
    int64_t priority;
    uint64_t arrival;
  };

  int64_t slotToFill(const void *const *values, int64_t index);
  int64_t slotToEmpty();
  int64_t drawBelow(int64_t bound);
  bool isBefore(int64_t a, int64_t b) const;
  void swapOrder(int64_t a, int64_t b);
  void moveUp(int64_t position);
  void moveDown(int64_t position);

  const tfc_queue_info *info;
  char *elements = nullptr; // `capacity` slots
  int64_t elementBytes = 0;
  int64_t head = 0; // the oldest slot of a fifo
  int64_t count = 0;
  /// A permutation of all slots, the filled ones first; of a priority queue those are a heap.
  int64_t *order = nullptr;
  Key *keys = nullptr; // by slot
  uint64_t draws = 0;
  uint64_t arrivals = 0;
  bool closed = false;
};

/// One operation that puts elements into a queue or takes them out, as long as it runs.
struct QueueAccess {
  tfc_instance *handle;
  Queue *queue;
  bool puts;
  bool upTo;      // takes what is left once the queue is closed
  int64_t wanted; // elements
  const void *const *from;
  void *const *to;
  int64_t done = 0;
  bool cancelled = false; // by closing the queue
  bool isStuck = false;   // fails, because nobody could help it
  QueueAccess *next = nullptr;
};

/// The queues of a state and who waits at them.
class Queues {
public:
  Queues() = default;
  Queues(const Queues &) = delete;
  Queues &operator=(const Queues &) = delete;

  /// Call once before all others. `handles` counts those who may use the queues.
  bool initialise(const Allocator &allocator, const tfc_model &model,
                  const std::atomic<int32_t> &handles);
  void finish();

  Queue &operator[](int32_t index) const { return queues[index]; }
  /// The number of the queue of that name, or -1.
  int32_t find(const char *name) const;

  /// Waits until the access is done or fails; sets the handle's message then. `isLate`: the call
  /// has read variables before.
  int32_t run(QueueAccess &access, bool isLate);
  int64_t sizeOf(const Queue &queue);
  void close(Queue &queue, bool cancelPending);

  /// Changes something that waits depend on besides the queues.
  template <typename F> auto change(F what) {
    pthread_mutex_lock(&mutex);
    auto result = what();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return result;
  }

private:
  enum class Turn { Now, Later, Never };

  Turn turnOf(const QueueAccess &access) const;
  Turn turnToTake(const QueueAccess &access) const;
  bool isFirst(const QueueAccess &access) const;
  bool hasPutters(const Queue &queue) const;
  bool isStuck() const;
  void add(QueueAccess &access);
  void remove(QueueAccess &access);
  bool proceed(QueueAccess &access);
  int32_t runInTurn(QueueAccess &access, bool isLate);
  int32_t waitForTurn(QueueAccess &access, bool isLate);

  Block memory;
  Queue *queues = nullptr;
  int32_t count = 0;
  const std::atomic<int32_t> *handles = nullptr;
  bool initialised = false;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  QueueAccess *accesses = nullptr; // that run, in the order in which they came
};

} // namespace tfc::runtime
