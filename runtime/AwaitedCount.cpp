//===- AwaitedCount.cpp - Counts that threads wait for --------------------===//
//
// Implements waits that spin and then sleep on a futex. A flag in the counted word says that a
// thread sleeps; as it is set and cleared together with the count, no wake-up is lost and none is
// superfluous.
//
//===----------------------------------------------------------------------===//

#include "runtime/AwaitedCount.h"
#include "runtime/Clock.h"
#include "runtime/Threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace tfc::runtime;

//===- Processors ---------------------------------------------------------===//

// Relaxed everywhere: these two decide only how a thread waits.
static std::atomic<int32_t> processors = 0; // that the process may run on; 0 if not yet known
static std::atomic<int32_t> busyThreads = 0;

BusyThread::BusyThread() {
  if (processors.load(std::memory_order_relaxed) == 0)
    processors.store(availableProcessors(), std::memory_order_relaxed);
  busyThreads.fetch_add(1, std::memory_order_relaxed);
}

BusyThread::~BusyThread() { busyThreads.fetch_sub(1, std::memory_order_relaxed); }

/// Returns true if each busy thread, including those that spin, can have a processor.
static bool hasProcessorForEach() {
  return busyThreads.load(std::memory_order_relaxed) <= processors.load(std::memory_order_relaxed);
}

static void pauseProcessor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

//===- Waits --------------------------------------------------------------===//

/// The longest time that a wait spins: about twice the time to wake a sleeping thread; with work,
/// which other threads would have to do, twice as long.
static constexpr int64_t kSpinNanoseconds = 50'000, kSpinNanosecondsWithWork = 100'000;
/// After this time, a spin lets other threads run: the one that it waits for may need the
/// processor.
static constexpr int64_t kYieldNanoseconds = 2'000;
/// Reading the clock takes about as long as a pause.
static constexpr int32_t kPausesPerClock = 16, kWorksPerClock = 2;

bool Spin::goOn() {
  if (count++ % (work ? kWorksPerClock : kPausesPerClock) == 0) {
    int64_t now = nanoseconds();
    if (count == 1)
      start = now;
    bool isLate = now - start >= (work ? kSpinNanosecondsWithWork : kSpinNanoseconds);
    if (isLate || !hasProcessorForEach()) {
      if (work && count > 1)
        work->run(work->context, /*isLast=*/true);
      return false;
    }
    if (now - start >= kYieldNanoseconds)
      sched_yield();
  }
  if (work)
    work->run(work->context, /*isLast=*/false);
  else
    pauseProcessor();
  return true;
}

/// Returns the last state seen.
uint32_t AwaitedCount::spin(uint32_t call, uint32_t target, const SpinWork *work) const {
  for (Spin spin(work);;) {
    bool goesOn = spin.goOn();
    // Acquire: pairs with `advance`.
    uint32_t state = stateIn(call, word.load(std::memory_order_acquire));
    if (isDecided(state, target) || !goesOn)
      return state;
  }
}

AwaitedCount::Outcome AwaitedCount::awaitLonger(uint32_t call, uint32_t target,
                                                const SpinWork *work) {
  uint32_t state = spin(call, target, work);
  if (isDecided(state, target))
    return outcomeOf(state, target);
  // Acquire: pairs with `advance`.
  uint64_t seen = word.load(std::memory_order_acquire);
  while (!isDecided(state = stateIn(call, seen), target)) {
    uint64_t asleep = wordOf(call, state | kAsleep);
    // Relaxed on success: publishes nothing, and continues the release sequence of `advance`.
    if (seen == asleep || word.compare_exchange_weak(seen, asleep, std::memory_order_relaxed,
                                                     std::memory_order_acquire)) {
      sleep(state | kAsleep);
      seen = word.load(std::memory_order_acquire);
    }
  }
  return outcomeOf(state, target);
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(std::atomic<uint64_t>) == 8,
              "the address of the word is that of its lower half");

/// Sleeps unless the lower half of the word has changed.
void AwaitedCount::sleep(uint32_t state) {
  busyThreads.fetch_sub(1, std::memory_order_relaxed);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, state, nullptr, nullptr, 0);
  busyThreads.fetch_add(1, std::memory_order_relaxed);
}

void AwaitedCount::wake() {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool AwaitedCount::advance(uint32_t call) {
  uint64_t seen = word.load(std::memory_order_relaxed);
  uint32_t state;
  do {
    state = stateIn(call, seen);
    if (state & kAborted)
      return false;
    // Release: pairs with the acquire of waits. Relaxed on failure: only the value is used.
  } while (!word.compare_exchange_weak(seen, wordOf(call, (state & ~kAsleep) + kOne),
                                       std::memory_order_release, std::memory_order_relaxed));
  if (state & kAsleep)
    wake();
  return true;
}

void AwaitedCount::raise(uint32_t call, uint32_t flag) {
  uint64_t seen = word.load(std::memory_order_relaxed);
  uint32_t state;
  do {
    uint32_t age = call - static_cast<uint32_t>(seen >> 32);
    if (static_cast<int32_t>(age) < 0) // a later call uses the count already
      return;
    state = stateIn(call, seen);
    // Release: who sees the flag sees why it was raised. Relaxed on failure: only the value is
    // used.
  } while (!word.compare_exchange_weak(seen, wordOf(call, (state & ~kAsleep) | flag),
                                       std::memory_order_release, std::memory_order_relaxed));
  if (state & kAsleep)
    wake();
}
