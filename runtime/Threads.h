//===- Threads.h - The threads of a state and its one parallel loop -------===//

#pragma once

#include "runtime/Memory.h"
#include "runtime/Model.h"

#include <atomic>
#include <pthread.h>

namespace tfc::runtime {

/// Processors that this process may run on, at least 1.
int32_t availableProcessors();

/// Starts a thread that receives no signals: the program handles them on its own threads. Returns
/// false if the system refuses.
bool startThread(pthread_t &thread, void *(*main)(void *), void *argument);

/// Worker threads that wait until a loop has a chunk for them: they spin for a short time after a
/// loop, as long as each thread can have a processor, and then sleep. The thread that starts a loop
/// takes part and waits only for workers that have taken a chunk, so a worker that wakes up late
/// costs nothing.
class ThreadPool {
public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Must be called once, before `run`. The threads, at least 1 with the caller's, start with the
  /// first loop that needs them.
  bool initialise(const Allocator &allocator, const tfc_options &options, int32_t threads);

  /// Ends the threads. No loop may be running.
  void finish();

  /// See tfc_rt_parallel_for. If another loop is running, the loop runs on the calling thread only.
  void run(tfc_rt_body body, void *context, int64_t count, int64_t grain);

private:
  /// The chunks of a loop in ranges of equal length. A thread begins with a range of its own, the
  /// same one in each loop, because what it finds there is in its cache if it has computed it in
  /// the loop before. Then it helps with the other ranges.
  struct Loop {
    struct alignas(64) Range {
      std::atomic<int64_t> next;
      int64_t end;
    };
    static constexpr int32_t kMostRanges = 32;

    tfc_rt_body body;
    void *context;
    int64_t count;
    int64_t grain;
    int64_t chunks;
    int32_t rangeCount;
    Range ranges[kMostRanges];

    void runChunk(int64_t chunk);
    void runChunks(int32_t thread);
    void divide(int32_t threads);
  };

  static void *workerMain(void *pool);
  static void runCallerChunk(void *loop, int64_t chunk);
  void work();
  bool join(int32_t thread);
  void start();
  void share(Loop &loop);

  int32_t threads = 1;
  decltype(tfc_options::parallel_for) callback = nullptr;
  void *callbackContext = nullptr;

  std::atomic<bool> busy = false;
  bool initialised = false;
  bool started = false;
  Block ids;
  int32_t workers = 0;
  int32_t numbered = 0; // workers that have a number; under the mutex

  pthread_mutex_t mutex;
  pthread_cond_t wake;
  pthread_cond_t done;
  // Changed under the mutex.
  Loop *current = nullptr;
  std::atomic<int32_t> wanted = 0; // workers that may still join the loop
  std::atomic<int32_t> joined = 0; // workers inside the loop
  int32_t sleeping = 0;            // workers that have to be woken
  bool stopping = false;
};

} // namespace tfc::runtime
