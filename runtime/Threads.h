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

/// Worker threads that sleep until a loop has a chunk for them. The thread that starts a loop takes
/// part and waits only for workers that have taken a chunk, so a worker that wakes up late costs
/// nothing.
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
  struct Loop {
    tfc_rt_body body;
    void *context;
    int64_t count;
    int64_t grain;
    int64_t chunks;
    std::atomic<int64_t> next;

    void runChunk(int64_t chunk);
    void runChunks();
  };

  static void *workerMain(void *pool);
  static void runCallerChunk(void *loop, int64_t chunk);
  void work();
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

  pthread_mutex_t mutex;
  pthread_cond_t wake;
  pthread_cond_t done;
  Loop *current = nullptr;
  int32_t wanted = 0; // workers that may still join the loop
  int32_t joined = 0; // workers inside the loop
  bool stopping = false;
};

} // namespace tfc::runtime
