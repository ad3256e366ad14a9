//===- Change.h - Something that threads wait for -------------------------===//

#pragma once

#include <atomic>
#include <pthread.h>
#include <stdint.h>

namespace tfc::runtime {

struct SpinWork;

/// Wakes threads that wait until something under a mutex has changed. They spin first, without the
/// mutex.
class Change {
public:
  Change() = default;
  Change(const Change &) = delete;
  Change &operator=(const Change &) = delete;

  /// Under the mutex.
  void notify() {
    // Relaxed: the mutex orders what has changed.
    count.fetch_add(1, std::memory_order_relaxed);
    pthread_cond_broadcast(&happened);
  }
  /// Waits for the next `notify`, or at most so many nanoseconds if that is not 0, or a little
  /// shorter than either. Under the mutex, which others may take meanwhile.
  void wait(pthread_mutex_t &mutex, const SpinWork *work, int64_t most = 0);

private:
  std::atomic<uint32_t> count = 0;
  pthread_cond_t happened = PTHREAD_COND_INITIALIZER;
};

} // namespace tfc::runtime
