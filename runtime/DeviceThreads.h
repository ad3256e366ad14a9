//===- DeviceThreads.h - The host threads of a handle's devices -----------===//
//
// A handle has a thread for each device that its entries use; the caller's own
// thread is the first. They are not shared between handles: two calls that
// each held one device would wait for each other.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/AwaitedCount.h"
#include "runtime/Memory.h"

#include <pthread.h>

namespace tfc::runtime {

class DeviceThreads {
public:
  using Partition = void (*)(void *context, int32_t partition);

  DeviceThreads() = default;
  ~DeviceThreads();
  DeviceThreads(const DeviceThreads &) = delete;
  DeviceThreads &operator=(const DeviceThreads &) = delete;

  /// Ensures that there are threads for `count` partitions; returns false if one cannot be started.
  /// They sleep between calls, and end with this object.
  bool reserve(const Allocator &allocator, int32_t count);

  /// Runs function(context, i) for each i in [0, count), number 0 on the calling thread and each
  /// other on a thread of its own, always the same. Returns when all have returned. The threads
  /// must have been reserved. Allocates nothing. Only one thread at a time may call this.
  void run(int32_t count, Partition function, void *context);

private:
  struct Worker {
    DeviceThreads *owner;
    int32_t partition;
    pthread_t thread = {};
    Worker *next = nullptr;
    alignas(64) AwaitedCount started = {}; // calls
  };

  static void *workerMain(void *worker);
  void work(Worker &worker);

  // Memory of workers never moves: their threads use it.
  Allocator allocator = {};
  Worker *first = nullptr;
  Worker *last = nullptr;
  int32_t workers = 0;

  // Written between calls; `started` publishes it.
  Partition function = nullptr;
  void *context = nullptr;
  uint32_t calls = 0; // that had other partitions than the caller's
  bool isStopping = false;

  alignas(64) std::atomic<int32_t> running = 0; // partitions on the workers
  AwaitedCount finished;                        // calls
};

} // namespace tfc::runtime
