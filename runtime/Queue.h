//===- Queue.h - The queues of a state ------------------------------------===//
//
// A queue keeps its elements in memory that is allocated with the state; putting and taking
// elements copies bytes and allocates nothing. All queues of a state share one mutex, so that a
// call that would wait can determine whether any other handle could end its wait.
//
// A waiting call releases the state's lock, so that others can run. Variables
// that it has read before may then be outdated. If it read them before its
// first operation on a queue, the call has had no effect yet and starts again
// (kRestart), so most calls never see two versions of a variable.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/CallWaits.h"
#include "runtime/Memory.h"
#include "runtime/Model.h"

#include <atomic>
#include <pthread.h>

namespace tfc::runtime {

/// Returned by an entry that must run again from its start; not a status.
constexpr int32_t kRestart = -1;

/// The elements of one queue and the order in which they are taken. Not aware of threads.
class Queue {
public:
  explicit Queue(const tfc_queue_info &info) : info(&info) {}

  /// The bytes of memory that a queue needs, or -1 if they cannot be addressed.
  static int64_t memoryBytes(const tfc_queue_info &info);
  /// Sets the queue's memory: memoryBytes(info) bytes, 64-byte aligned.
  void place(char *memory);

  const tfc_queue_info &getInfo() const { return *info; }
  int64_t size() const { return count; }
  int64_t room() const { return info->capacity - count; }
  bool isClosed() const { return closed; }
  void close() { closed = true; }

  /// The number of elements that may be taken: a shuffling queue retains some until it is closed.
  int64_t available() const { return closed ? count : count - info->min_ready; }
  /// The largest number that can be taken at once.
  int64_t largestTake() const { return closed ? info->capacity : info->capacity - info->min_ready; }

  /// Copies element `index` of the arrays into the queue, which must have room, or from the queue,
  /// which must not be empty.
  void put(const void *const *values, int64_t index);
  void take(void *const *values, int64_t index);

private:
  /// The key of a priority queue: equal priorities are taken in the order of their arrival.
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
  /// A permutation of all slots, the filled ones first; in a priority queue these form a heap.
  int64_t *order = nullptr;
  Key *keys = nullptr; // by slot
  uint64_t draws = 0;
  uint64_t arrivals = 0;
  bool closed = false;
};

/// A running operation that puts elements into a queue or takes them out.
struct QueueAccess {
  tfc_instance *handle;
  Queue *queue;
  bool puts;
  bool upTo;      // takes the remaining elements if the queue is closed
  int64_t wanted; // elements
  const char *subject;
  const void *const *from;
  void *const *to;
  int64_t done = 0;
  bool cancelled = false; // by closing the queue
  bool isStuck = false;   // fails, because no handle could end its wait
  bool isDivided = false; // of a call on several devices
  int32_t task = -1;      // on whose queue other processes can act, too; or -1
  int64_t limit = 0;      // of a wait, in nanoseconds; 0 for none
  QueueAccess *next = nullptr;
};

/// The queues of a state and the calls that wait at them.
class Queues {
public:
  Queues() = default;
  Queues(const Queues &) = delete;
  Queues &operator=(const Queues &) = delete;

  /// Must be called once, before all other functions. `handles` counts the handles that may use the
  /// queues.
  bool initialise(const Allocator &allocator, const tfc_model &model,
                  const std::atomic<int32_t> &handles);
  void finish();

  Queue &operator[](int32_t index) const { return queues[index]; }
  /// The number of the queue of that name, or -1.
  int32_t find(const char *name) const;

  /// Waits until the access succeeds or fails; sets the handle's message if it fails. `isLate`: the
  /// call has already read variables.
  int32_t run(QueueAccess &access, bool isLate);
  int64_t sizeOf(const Queue &queue);
  void close(Queue &queue, bool cancelPending);

  //===- Calls on several devices -----------------------------------------===//

  /// Must be called around the partitions of a call.
  void begin(tfc_instance &handle, int32_t partitions, int32_t readers);
  void end(tfc_instance &handle);
  /// Must be called when a partition has returned.
  void leave(tfc_instance &handle);
  /// Releases the lock of the call for good if no other partition uses variables.
  void releaseState(tfc_instance &handle);
  /// Must be called around the waits of a partition for messages.
  void beginWait(tfc_instance &handle, MessageWait &wait);
  void endWait(tfc_instance &handle, MessageWait &wait);

  /// Changes state other than the queues that waits depend on.
  template <typename F> auto change(F what) {
    pthread_mutex_lock(&mutex);
    auto result = what();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return result;
  }

  /// Lets waits look at the time.
  void wake() {
    pthread_mutex_lock(&mutex);
    if (accesses)
      pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
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
  void becomeIdle(tfc_instance &handle);
  void becomeBusy(tfc_instance &handle);

  Block memory;
  Queue *queues = nullptr;
  int32_t count = 0;
  const std::atomic<int32_t> *handles = nullptr;
  // Messages of other processes may come before `initialise`.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  QueueAccess *accesses = nullptr; // running ones, in the order of their arrival
};

} // namespace tfc::runtime
