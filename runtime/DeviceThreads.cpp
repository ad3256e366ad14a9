//===- DeviceThreads.cpp - The host threads of a handle's devices ---------===//
//
// Starts the threads on which the partitions of a handle's calls run, and hands them one call after
// another. They wait for calls as devices wait for messages: with a short spin, then asleep.
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceThreads.h"
#include "runtime/FloatMode.h"
#include "runtime/Threads.h"

using namespace tfc::runtime;

/// These counts are not those of a call: they grow for ever.
static constexpr uint32_t kAlways = 0;

DeviceThreads::~DeviceThreads() {
  isStopping = true;
  for (Worker *worker = first; worker; worker = worker->next)
    worker->started.advance(kAlways);
  for (Worker *worker = first; worker;) {
    Worker *next = worker->next;
    pthread_join(worker->thread, nullptr);
    allocator.give(worker, sizeof(Worker));
    worker = next;
  }
}

bool DeviceThreads::reserve(const Allocator &from, int32_t count) {
  allocator = from;
  while (workers < count - 1) {
    void *memory = allocator.take(sizeof(Worker));
    if (!memory)
      return false;
    auto *worker = new (memory) Worker{this, workers + 1};
    if (!startThread(worker->thread, workerMain, worker)) {
      allocator.give(worker, sizeof(Worker));
      return false;
    }
    (last ? last->next : first) = worker;
    last = worker;
    ++workers;
  }
  return true;
}

void *DeviceThreads::workerMain(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  worker.owner->work(worker);
  return nullptr;
}

void DeviceThreads::work(Worker &worker) {
  FlushDenormals mode;
  BusyThread busy;
  for (uint32_t call = 1;; ++call) {
    worker.started.await(kAlways, call);
    if (isStopping)
      return;
    function(context, worker.partition);
    // Release: publishes the effects of the partition. Acquire: the last worker publishes those of
    // all to the caller.
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      finished.advance(kAlways);
  }
}

void DeviceThreads::run(int32_t count, Partition newFunction, void *newContext) {
  BusyThread busy;
  if (count > 1) {
    function = newFunction;
    context = newContext;
    // Relaxed: `started` publishes it.
    running.store(count - 1, std::memory_order_relaxed);
    Worker *worker = first;
    for (int32_t i = 1; i < count; ++i, worker = worker->next)
      worker->started.advance(kAlways);
  }
  newFunction(newContext, 0);
  if (count > 1)
    finished.await(kAlways, ++calls);
}
