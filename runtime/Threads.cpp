//===- Threads.cpp - The threads of a state -------------------------------===//
//
// Implements the worker threads of a state and its parallel loop. How a loop is cut into chunks
// does not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "runtime/Threads.h"
#include "runtime/AwaitedCount.h"
#include "runtime/FloatMode.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

using namespace tfc::runtime;

/// The stack of a thread, of which kernels may use half: that of the C library may be smaller.
static constexpr size_t kLeastStackBytes = 2 << 20;

/// More threads do not speed up any kernel, and cost stacks.
static constexpr int32_t kMaxThreads = 256;

int32_t tfc::runtime::availableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int32_t count = 0;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    count = CPU_COUNT(&set);
  if (count < 1)
    count = static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return count < 1 ? 1 : count;
}

bool tfc::runtime::startThread(pthread_t &thread, void *(*main)(void *), void *argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  size_t stackBytes = 0;
  pthread_attr_getstacksize(&attributes, &stackBytes);
  if (stackBytes < kLeastStackBytes)
    pthread_attr_setstacksize(&attributes, kLeastStackBytes);
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved);
  bool isStarted = pthread_create(&thread, &attributes, main, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  pthread_attr_destroy(&attributes);
  return isStarted;
}

void ThreadPool::Loop::runChunk(int64_t chunk) {
  int64_t begin = chunk * grain;
  body(context, begin, count - begin < grain ? count : begin + grain);
}

/// Divides the chunks among threads.
void ThreadPool::Loop::divide(int32_t threads) {
  rangeCount = threads < kMostRanges ? threads : kMostRanges;
  for (int32_t i = 0; i < rangeCount; ++i) {
    // Relaxed: the mutex of the pool passes the loop to others.
    ranges[i].next.store(chunks * i / rangeCount, std::memory_order_relaxed);
    ranges[i].end = chunks * (i + 1) / rangeCount;
  }
}

void ThreadPool::Loop::runChunks(int32_t thread) {
  for (int32_t i = 0; i < rangeCount; ++i) {
    Range &range = ranges[(thread + i) % rangeCount];
    // Relaxed: the counts only divide the work.
    for (int64_t chunk; (chunk = range.next.fetch_add(1, std::memory_order_relaxed)) < range.end;)
      runChunk(chunk);
  }
}

bool ThreadPool::initialise(const Allocator &allocator, const tfc_options &options,
                            int32_t wanted) {
  callback = options.parallel_for;
  callbackContext = options.parallel_context;
  threads = wanted > kMaxThreads ? kMaxThreads : wanted;
  if (!ids.reserve(allocator, threads * sizeof(pthread_t)))
    return false;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&wake, nullptr);
  pthread_cond_init(&done, nullptr);
  initialised = true;
  return true;
}

void ThreadPool::finish() {
  if (!initialised)
    return;
  pthread_mutex_lock(&mutex);
  stopping = true;
  pthread_mutex_unlock(&mutex);
  pthread_cond_broadcast(&wake);
  for (int32_t i = 0; i < workers; ++i)
    pthread_join(reinterpret_cast<pthread_t *>(ids.data())[i], nullptr);
  pthread_cond_destroy(&done);
  pthread_cond_destroy(&wake);
  pthread_mutex_destroy(&mutex);
}

/// Fewer threads than requested are not an error: results do not depend on their number.
void ThreadPool::start() {
  started = true;
  auto *id = reinterpret_cast<pthread_t *>(ids.data());
  while (workers < threads - 1 && startThread(id[workers], workerMain, this))
    ++workers;
}

void *ThreadPool::workerMain(void *pool) {
  static_cast<ThreadPool *>(pool)->work();
  return nullptr;
}

/// Takes part in the current loop, if it wants more workers. Returns false if it does not.
bool ThreadPool::join(int32_t thread) {
  pthread_mutex_lock(&mutex);
  Loop *loop = nullptr;
  if (wanted.load(std::memory_order_relaxed) > 0) {
    wanted.fetch_sub(1, std::memory_order_relaxed);
    joined.fetch_add(1, std::memory_order_relaxed);
    loop = current;
  }
  pthread_mutex_unlock(&mutex);
  if (!loop)
    return false;
  loop->runChunks(thread);
  pthread_mutex_lock(&mutex);
  // Release: the caller may see this without the mutex.
  if (joined.fetch_sub(1, std::memory_order_release) == 1)
    pthread_cond_signal(&done);
  pthread_mutex_unlock(&mutex);
  return true;
}

/// The kernels of a call follow each other, so a worker that has taken part in one waits for the
/// next one before it sleeps.
void ThreadPool::work() {
  FlushDenormals mode;
  pthread_mutex_lock(&mutex);
  int32_t thread = ++numbered; // the caller's is 0
  pthread_mutex_unlock(&mutex);
  for (;;) {
    pthread_mutex_lock(&mutex);
    ++sleeping;
    while (!stopping && wanted.load(std::memory_order_relaxed) == 0)
      pthread_cond_wait(&wake, &mutex);
    --sleeping;
    bool isLast = stopping;
    pthread_mutex_unlock(&mutex);
    if (isLast)
      return;
    BusyThread busy;
    do
      for (Spin spin; wanted.load(std::memory_order_relaxed) == 0 && spin.goOn();) {
      }
    while (join(thread));
  }
}

void ThreadPool::share(Loop &loop) {
  if (!started)
    start();
  int64_t others = loop.chunks - 1;
  int32_t helpers = others < workers ? static_cast<int32_t>(others) : workers;
  loop.divide(helpers + 1);
  pthread_mutex_lock(&mutex);
  current = &loop;
  wanted.store(helpers, std::memory_order_relaxed);
  // Those that are awake look for a loop before they sleep.
  int32_t woken = helpers - (workers - sleeping);
  pthread_mutex_unlock(&mutex);
  for (int32_t i = 0; i < woken; ++i)
    pthread_cond_signal(&wake);
  loop.runChunks(/*thread=*/0);
  pthread_mutex_lock(&mutex);
  wanted.store(0, std::memory_order_relaxed);
  pthread_mutex_unlock(&mutex);
  auto areDone = [&] { return joined.load(std::memory_order_acquire) == 0; };
  for (Spin spin; !areDone();)
    if (!spin.goOn()) {
      pthread_mutex_lock(&mutex);
      while (!areDone())
        pthread_cond_wait(&done, &mutex);
      pthread_mutex_unlock(&mutex);
    }
}

void ThreadPool::runCallerChunk(void *loop, int64_t chunk) {
  static_cast<Loop *>(loop)->runChunk(chunk);
}

void ThreadPool::run(tfc_rt_body body, void *context, int64_t count, int64_t grain) {
  if (count <= 0)
    return;
  grain = grain < 1 ? 1 : grain > count ? count : grain;
  Loop loop;
  loop.body = body;
  loop.context = context;
  loop.count = count;
  loop.grain = grain;
  loop.chunks = count / grain + (count % grain != 0);
  bool alone = loop.chunks == 1 || (!callback && threads == 1);
  if (alone || busy.exchange(true, std::memory_order_acquire)) {
    for (int64_t chunk = 0; chunk < loop.chunks; ++chunk)
      loop.runChunk(chunk);
    return;
  }
  if (callback)
    callback(callbackContext, runCallerChunk, &loop, loop.chunks);
  else
    share(loop);
  busy.store(false, std::memory_order_release);
}
