//===- AwaitedCount.h - Counts that threads wait for ----------------------===//

#pragma once

#include <atomic>
#include <stdint.h>

namespace tfc::runtime {

/// During its lifetime, its thread counts as one that occupies a processor, except while it sleeps
/// in a wait. Waits spin only while no more threads do than there are processors.
class BusyThread {
public:
  BusyThread();
  ~BusyThread();
  BusyThread(const BusyThread &) = delete;
  BusyThread &operator=(const BusyThread &) = delete;
};

/// Work that a thread does while it spins in a wait, so that the wait ends sooner.
struct SpinWork {
  void *context = nullptr;
  void (*run)(void *context, bool isLast) = nullptr; // after the last time it sleeps
};

/// Passes the time of a wait in which a thread does not sleep.
class Spin {
public:
  explicit Spin(const SpinWork *work = nullptr) : work(work) {}

  /// Passes a moment. Returns false if the thread had better sleep: the time is up, or more threads
  /// are busy than there are processors.
  bool goOn();

private:
  const SpinWork *work;
  int64_t start = 0;
  int32_t count = 0;
};

/// A count that some threads advance and others wait for, within one call.
///
/// Every operation names its call. A count that an earlier call left is 0 for it, so that nothing
/// has to be reset between calls. Calls and counts are modulo 2^32 and 2^29; a count must be reset
/// before it is 2^31 calls old. A wait spins for a short time if a processor is idle, and then
/// sleeps; an advance makes a system call only if a thread sleeps.
class AwaitedCount {
public:
  enum class Outcome { Reached, Ended, Aborted };

  /// The count in this call. Exact for a thread that alone advances it.
  uint32_t get(uint32_t call) const {
    // Relaxed: a thread sees its own writes, and no other data depend on the value.
    return stateIn(call, word.load(std::memory_order_relaxed)) / kOne;
  }

  /// Returns true if the count is 0 because this call has not changed it.
  bool isUnused(uint32_t call) const { return word.load(std::memory_order_relaxed) >> 32 != call; }

  /// Adds 1, unless waits of the call are aborted: then returns false. Earlier writes of this
  /// thread are visible to threads whose wait reaches the new count.
  bool advance(uint32_t call);

  /// Waits until the count is `target` or later, or waits are aborted, or the count has ended, in
  /// this order of precedence. The thread may do `work` meanwhile.
  Outcome await(uint32_t call, uint32_t target, const SpinWork *work = nullptr) {
    // Acquire: pairs with `advance`.
    uint32_t state = stateIn(call, word.load(std::memory_order_acquire));
    if (isDecided(state, target))
      return outcomeOf(state, target);
    return awaitLonger(call, target, work);
  }

  /// Returns true if a wait for `target` would return at once.
  bool isOver(uint32_t call, uint32_t target) const {
    // Acquire: pairs with `advance`.
    return isDecided(stateIn(call, word.load(std::memory_order_acquire)), target);
  }

  /// Ends waits in this call for counts that are not reached. The count may still advance.
  void end(uint32_t call) { raise(call, kEnded); }

  /// Aborts all waits and advances of this call; has no effect on later calls.
  void abort(uint32_t call) { raise(call, kAborted); }

  /// Sets the count of this call to 0. No other thread may be in a call that uses it.
  void reset(uint32_t call) {
    // Relaxed: whatever starts the threads of the call orders this before them.
    word.store(uint64_t(call) << 32, std::memory_order_relaxed);
  }

private:
  // The upper half of the word is the call, the lower half the state: flags below the count.
  static constexpr uint32_t kAsleep = 1, kAborted = 2, kEnded = 4, kOne = 8;

  static uint32_t stateIn(uint32_t call, uint64_t word) {
    return word >> 32 == call ? static_cast<uint32_t>(word) : 0;
  }
  static uint64_t wordOf(uint32_t call, uint32_t state) { return uint64_t(call) << 32 | state; }
  static bool isReached(uint32_t state, uint32_t target) {
    return static_cast<int32_t>((state & ~(kOne - 1)) - target * kOne) >= 0;
  }
  static bool isDecided(uint32_t state, uint32_t target) {
    return (state & (kAborted | kEnded)) || isReached(state, target);
  }
  static Outcome outcomeOf(uint32_t state, uint32_t target) {
    if (isReached(state, target))
      return Outcome::Reached;
    return state & kAborted ? Outcome::Aborted : Outcome::Ended;
  }

  Outcome awaitLonger(uint32_t call, uint32_t target, const SpinWork *work);
  uint32_t spin(uint32_t call, uint32_t target, const SpinWork *work) const;
  void sleep(uint32_t state);
  void wake();
  void raise(uint32_t call, uint32_t flag);

  std::atomic<uint64_t> word = 0;
};

} // namespace tfc::runtime
