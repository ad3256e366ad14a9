//===- SharedLock.h - A lock of many readers or one writer ----------------===//

#pragma once

#include <pthread.h>
#include <stdint.h>

namespace tfc::runtime {

/// Held by any number of readers or by one writer. Unlike a pthread_rwlock_t it belongs to a call,
/// not to a thread: a thread of another device may release it. A waiting writer goes before new
/// readers, which could otherwise overtake it for ever.
class SharedLock {
public:
  SharedLock();
  ~SharedLock();
  SharedLock(const SharedLock &) = delete;
  SharedLock &operator=(const SharedLock &) = delete;

  /// Blocks until the lock is held.
  void acquire(bool exclusive);
  void release(bool exclusive);

private:
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int32_t readers = 0;
  int32_t waitingWriters = 0;
  bool hasWriter = false;
};

} // namespace tfc::runtime
