//===- Device.h - The emulated device -------------------------------------===//
//
// Streams are queues of work that runs only when somebody waits for it: whoever
// forgets to wait sees the memory as it was before. Contexts, streams, events,
// modules and graphs that are not released are reported.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/CudaDriver.h"
#include "test/gpu/emulator/Program.h"
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <thread>

namespace tfc::gpu {

/// Runs a piece of work; returns an error, empty if there is none. Graphs run it several times.
using Work = std::function<std::string()>;

struct EmulatedGraph {
  std::vector<Work> work;
};

struct EmulatedStream {
  std::deque<Work> work;
  uint64_t enqueued = 0, done = 0;
  std::unique_ptr<EmulatedGraph> capture; // while it records a graph
  bool isInvalidated = false;             // the capture
  std::thread::id capturer;               // the thread that has begun it
};

/// The moment when a stream has done what it had been given when the event was recorded.
struct EmulatedEvent {
  EmulatedStream *stream = nullptr;
  uint64_t position = 0;
  bool isRecorded = false, isTimed = true;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

struct EmulatedFunction {
  const Program *program;
  const Code *kernel;
  uint32_t dynamicSharedBytes = 48 * 1024;
};

struct EmulatedModule {
  std::unique_ptr<Program> program;
  std::map<std::string, EmulatedFunction, std::less<>> functions;
};

class EmulatedDevice {
public:
  /// The message of the first launch or copy that failed when it ran; nothing works after it.
  std::string failure;

  /// Adds work to a stream, or to the graph that it records.
  void enqueue(EmulatedStream &stream, Work work);
  /// Runs the work of a stream up to a position.
  void advance(EmulatedStream &stream, uint64_t position);
  void synchronize(EmulatedStream &stream) { advance(stream, stream.enqueued); }
  void synchronizeAll();
  /// Returns true during a capture by this thread: that is thread-local, and does not concern
  /// others.
  bool isCapturing() const;
  /// Such a capture does not survive what is not allowed during it.
  void invalidateCaptures();

  /// Returns true for memory of the host that the device reads and writes by itself.
  bool isPinned(const void *address) const;

  /// The objects that have not been released.
  std::vector<std::string> getLeaks() const;

  /// Writes the counters of all kernels to a file: a line for each, a JSON object.
  void writeCounters(const char *path) const;

  Memory memory;
  EmulatedStream legacy; // the stream without a handle, ordered with all others
  std::set<std::unique_ptr<EmulatedStream>> streams;
  std::set<std::unique_ptr<EmulatedEvent>> events;
  std::set<std::unique_ptr<EmulatedModule>> modules;
  std::set<std::unique_ptr<EmulatedGraph>> graphs, executables;
  std::map<const char *, size_t> pinned; // by address, with their bytes
  /// Of all launches of a kernel since somebody began to use the device.
  std::map<std::string, Counters> counters;
  int contexts = 0;
};

} // namespace tfc::gpu
