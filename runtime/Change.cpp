//===- Change.cpp - Something that threads wait for -----------------------===//
//
// Implements waits that spin, during which a thread can do the work that ends them, and then sleep.
//
//===----------------------------------------------------------------------===//

#include "runtime/Change.h"

#include "runtime/AwaitedCount.h"

#include <time.h>

using namespace tfc::runtime;

/// Returns CLOCK_REALTIME in so many nanoseconds.
static timespec timeIn(int64_t nanoseconds) {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  int64_t sum = time.tv_nsec + nanoseconds;
  time.tv_sec += sum / 1'000'000'000;
  time.tv_nsec = sum % 1'000'000'000;
  return time;
}

void Change::wait(pthread_mutex_t &mutex, const SpinWork *work, int64_t most) {
  // Relaxed: see `notify`.
  uint32_t seen = count.load(std::memory_order_relaxed);
  if (work) {
    pthread_mutex_unlock(&mutex);
    {
      BusyThread busy;
      for (Spin spin(work); count.load(std::memory_order_relaxed) == seen && spin.goOn();) {
      }
    }
    pthread_mutex_lock(&mutex);
    if (count.load(std::memory_order_relaxed) != seen)
      return;
  }
  if (most == 0) {
    pthread_cond_wait(&happened, &mutex);
    return;
  }
  timespec end = timeIn(most);
  pthread_cond_timedwait(&happened, &mutex, &end);
}
