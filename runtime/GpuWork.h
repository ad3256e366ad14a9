//===- GpuWork.h - Work for a stream of a GPU -----------------------------===//

#pragma once

#include "runtime/CudaDriver.h"
#include "runtime/Memory.h"

namespace tfc::runtime {

class Gpu;

/// Work for a stream that the driver does not have yet, in order: launches, copies and fills. If
/// work comes again as it was, the driver gets it as a graph, in one call. For one thread at a
/// time.
class GpuWork {
public:
  /// kRelocate is a copy on the device that only the driver can make: some of the memory has no
  /// value yet, or another GPU may have it.
  enum Kind : int64_t { kLaunch, kCopyOnDevice, kRelocate, kCopyToDevice, kFill };

  GpuWork() = default;
  GpuWork(const GpuWork &) = delete;
  GpuWork &operator=(const GpuWork &) = delete;

  /// Takes the memory for all later work; returns false if there is none.
  /// Graphs are captured by another stream if `stream` is the caller's, who may use it meanwhile.
  bool open(const Gpu &gpu, const Allocator &allocator, cuda::Stream stream, cuda::Stream captures);
  /// Releases what the driver has, before the stream is destroyed.
  void close();

  // Each returns an error of the driver, which may belong to work that was added before.

  /// Adds a launch of a grid of the model's image, with `count` arguments.
  cuda::Result launch(int32_t grid, uint32_t blocks, const int64_t *arguments, int32_t count) {
    const int64_t step[] = {kLaunch, grid, blocks, count};
    return add(step, arguments, count);
  }
  /// Adds a copy within the device, or from pinned memory, which stays as it is until the next
  /// wait, or a fill with a byte, which is in the place of the source.
  cuda::Result move(Kind kind, void *to, int64_t from, int64_t bytes) {
    const int64_t step[] = {kind, reinterpret_cast<int64_t>(to), from, bytes};
    return add(step, nullptr, 0);
  }

  /// Gives all work to the driver.
  cuda::Result submit();

  /// The graphs that there are.
  int32_t countGraphs() const {
    int32_t count = 0;
    for (const Known &each : known)
      count += each.graph != nullptr;
    return count;
  }

private:
  /// Work that has come before.
  struct Known {
    uint64_t hash = 0, lastUse = 0;
    int64_t size = 0; // in words; 0: none
    bool isBroken = false;
    cuda::GraphExec graph = nullptr; // from the second time on
    Block words;
  };

  cuda::Result add(const int64_t *step, const int64_t *arguments, int32_t count);
  Known *find();
  void remember(uint64_t hash);
  cuda::Result run(cuda::Stream on) const;
  bool capture(Known &known);
  void forget(Known &known);
  const int64_t *words() const { return reinterpret_cast<const int64_t *>(pending.data()); }

  const Gpu *gpu = nullptr;
  Allocator allocator = {};
  cuda::Stream stream = nullptr, captures = nullptr;
  Block pending;
  int64_t size = 0, steps = 0; // of the pending work, in words
  Objects<Known> known;
  uint64_t uses = 0;
};

} // namespace tfc::runtime
