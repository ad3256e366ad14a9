//===- Rendezvous.h - Messages between the devices of a call --------------===//
//
// The partitions of an entry, one for each device, run on threads of their own
// and exchange values through numbered slots. A slot belongs to one sender and
// one receiver. A message is a pointer: the receiver reads the sender's memory
// in place and then releases the message.
//
// A slot has two buffers: its sender waits until the message before the last
// one was released. In straight-line code a slot has one message, and no send
// waits; in a loop the sender is up to two iterations ahead.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/AwaitedCount.h"
#include "runtime/Memory.h"
#include "runtime/Model.h"

#include <pthread.h>

namespace tfc::runtime {

class Queues;

/// The position of a failed check in a call: see tfc_rt_fail_check. Positions are compared
/// lexicographically.
struct CheckPosition {
  const int64_t *numbers;
  int32_t size;

  bool isBefore(const CheckPosition &other) const;
};

/// The slots of a handle, which has one call at a time.
///
/// Functions that wait return 0 (TFC_OK), or TFC_RT_ABORTED if the call is aborted, or
/// TFC_RT_POISON if a sender waits for a receiver that has left; after an abort they return at
/// once. Only `reserve` allocates.
class Rendezvous {
public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous &) = delete;
  Rendezvous &operator=(const Rendezvous &) = delete;

  //===- The handle's thread, while no partition runs ---------------------===//

  /// Ensures that there are at least `count` slots; returns false if there is no memory for them.
  /// No other thread may abort meanwhile.
  bool reserve(const Allocator &allocator, int32_t count);

  /// Begins a call; its cost does not depend on the number of slots. `partitioning` must outlive
  /// the call. All messages of the call before are released.
  void begin(const tfc_partitioning &partitioning);
  /// Tells `queues` of the waits of this call, of `handle`. Must be called after `begin`.
  void tell(Queues &queues, tfc_instance &handle);
  /// Lets threads that wait do some work in this call. Must be called after `begin`.
  void share(const SpinWork &work) { spinWork = &work; }
  void end();

  /// Changes the number of the last call, for tests: it is modulo 2^32.
  void renumber(uint32_t call);

  //===- Any thread -------------------------------------------------------===//

  /// Ends all waits of the call with `status`, which is not 0. Returns true for the first abort of
  /// a call; the others have no effect.
  bool abort(int32_t status);

  /// The status of the first abort, or 0.
  int32_t status() const {
    // Acquire: pairs with `abort`.
    return static_cast<int32_t>(state.load(std::memory_order_acquire));
  }

  /// Returns true between `begin` and `end`. Only for the threads of the handle.
  bool isRunning() const { return current; }

  //===- The sender of a slot ---------------------------------------------===//

  /// Waits until the buffer of the next message is free and returns its number, 0 or 1.
  int32_t nextBuffer(int32_t slot);
  /// Waits as `nextBuffer` does, then sends. The memory at `value` must not change until the
  /// message is released, and must be valid until all partitions have returned.
  int32_t send(int32_t slot, const void *value);
  /// Waits until all messages of the slot are released.
  int32_t awaitRelease(int32_t slot);

  //===- The receiver of a slot -------------------------------------------===//

  /// Waits for the next message. Returns TFC_RT_POISON if its sender has left.
  int32_t receive(int32_t slot, const void *&value);
  /// Releases the oldest message that was received and not yet released.
  void release(int32_t slot);

  //===- Every partition --------------------------------------------------===//

  /// The partition will send and receive nothing more. Messages that it has sent can still be
  /// received.
  void leave(int32_t partition);

  /// Waits until all partitions have brought the position of a failed check, or null. Sets `first`
  /// to the first of them, or null; only its address may be used. The result is the same for all
  /// partitions, even if the call is aborted meanwhile. If it is not null, the partitions must
  /// return.
  int32_t commit(const CheckPosition *failedCheck, const CheckPosition *&first);

  /// In a call with other processes, Tasks::commit decides when a round of commits is complete.
  /// `awaitRound` waits until so many are, and returns false if the call is aborted.
  void completeRound() { rounds.advance(call()); }
  bool awaitRound(uint32_t count) { return await(rounds, count) == AwaitedCount::Outcome::Reached; }

private:
  /// Each side has a cache line of its own.
  struct Slot {
    // Written by the sender.
    alignas(64) AwaitedCount sent;
    const void *buffers[2] = {};
    // Written by the receiver.
    alignas(64) AwaitedCount released;
    uint32_t received = 0; // messages in `receivedIn`
    uint32_t receivedIn = 0;
  };

  uint32_t call() const {
    // Relaxed: the call does not change while its partitions run.
    return static_cast<uint32_t>(state.load(std::memory_order_relaxed) >> 32);
  }
  Slot *slots() const { return reinterpret_cast<Slot *>(memory.data()); }
  void resetSlots();
  AwaitedCount::Outcome await(AwaitedCount &count, uint32_t target);
  AwaitedCount::Outcome awaitBuffer(Slot &slot, uint32_t sent);
  void bring(const CheckPosition &failedCheck, uint32_t round);
  void withdraw(const CheckPosition &failedCheck, uint32_t round);
  AwaitedCount::Outcome arrive(uint32_t round);

  /// The number of the call in the upper half, the status of its first abort in the lower one.
  alignas(64) std::atomic<uint64_t> state = 0;
  const tfc_partitioning *current = nullptr;
  Queues *queues = nullptr; // that learn of waits
  const SpinWork *spinWork = nullptr;
  tfc_instance *handle = nullptr;
  Block memory;
  int32_t slotCount = 0;

  // The commits of a call: rounds in which each partition arrives once. A partition may be one
  // round ahead of another that still reads the result, so results take turns.
  alignas(64) std::atomic<int32_t> arrivals = 0;
  std::atomic<const CheckPosition *> first[2] = {};       // on the stacks of partitions that wait
  pthread_mutex_t firstMutex = PTHREAD_MUTEX_INITIALIZER; // of writers of `first`
  AwaitedCount rounds;
};

} // namespace tfc::runtime
