//===- GpuWork.cpp - Work for a stream of a GPU ---------------------------===//
//
// Collects work until the host waits or enough has come, and finds work that has come before by its
// contents: the same kernels with the same arguments and copies of the same memory. So no part of
// the compiler needs to know which calls repeat themselves.
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuWork.h"

#include "runtime/Gpu.h"

using namespace tfc::runtime;

/// The driver gets work after this many steps, so that the device begins while the host goes on.
static constexpr int64_t kMostSteps = 128, kMostWords = 4096;
/// Fewer steps are not worth a graph.
static constexpr int64_t kFewSteps = 3;
/// Works that are remembered.
static constexpr int32_t kKnown = 64;

bool GpuWork::open(const Gpu &of, const Allocator &from, cuda::Stream on, cuda::Stream captureOn) {
  gpu = &of;
  allocator = from;
  stream = on;
  captures = captureOn;
  return pending.reserve(from, kMostWords * sizeof(int64_t)) && known.create(from, kKnown);
}

void GpuWork::close() {
  for (Known &each : known)
    forget(each);
}

void GpuWork::forget(Known &each) {
  if (each.graph)
    gpu->getDriver().destroyGraphExec(each.graph);
  each.graph = nullptr;
  each.size = 0;
  each.isBroken = false;
}

/// Adds the words of a step, and its arguments.
cuda::Result GpuWork::add(const int64_t *step, const int64_t *arguments, int32_t count) {
  constexpr int64_t kStep = 4;
  cuda::Result result = cuda::kSuccess;
  if (steps == kMostSteps || size + kStep + count > kMostWords)
    result = submit();
  auto *end = reinterpret_cast<int64_t *>(pending.data()) + size;
  memcpy(end, step, kStep * sizeof(int64_t));
  for (int32_t i = 0; i < count; ++i)
    end[kStep + i] = arguments[i];
  size += kStep + count;
  ++steps;
  return result;
}

/// Copies of more bytes are left to the driver.
static constexpr int64_t kSmallCopy = 1 << 20;

/// Collects copies from a step on that may be made at once, since none writes what another reads or
/// writes: loops save and read many values one after the other. Returns how many there are.
static int32_t collectCopies(const int64_t *step, const int64_t *end, int64_t (*copies)[3]) {
  auto areApart = [](int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) {
    return a + aBytes <= b || b + bBytes <= a;
  };
  int32_t count = 0;
  for (; step < end && count < Gpu::kCopies; step += 4) {
    int64_t to = step[1], from = step[2], bytes = step[3];
    if (step[0] != GpuWork::kCopyOnDevice || bytes > kSmallCopy)
      break;
    bool isFree = true;
    for (int32_t i = 0; i < count; ++i)
      isFree &= areApart(to, bytes, copies[i][0], copies[i][2]) &&
                areApart(to, bytes, copies[i][1], copies[i][2]) &&
                areApart(from, bytes, copies[i][0], copies[i][2]);
    if (!isFree)
      break;
    copies[count][0] = to;
    copies[count][1] = from;
    copies[count++][2] = bytes;
  }
  return count;
}

/// Calls the driver for each step.
cuda::Result GpuWork::run(cuda::Stream on) const {
  const cuda::Driver &driver = gpu->getDriver();
  const int64_t *end = words() + size;
  for (const int64_t *step = words(); step < end; step += 4) {
    cuda::Result result = cuda::kSuccess;
    auto to = static_cast<cuda::Pointer>(step[1]), from = static_cast<cuda::Pointer>(step[2]);
    auto bytes = static_cast<size_t>(step[3]);
    switch (static_cast<Kind>(step[0])) {
    case kLaunch:
      result = gpu->launch(on, static_cast<int32_t>(step[1]), static_cast<uint32_t>(step[2]),
                           step + 4, static_cast<int32_t>(step[3]));
      step += step[3];
      break;
    case kCopyOnDevice:
    case kRelocate: {
      int64_t copies[Gpu::kCopies][3];
      int32_t count = gpu->hasCopies() ? collectCopies(step, end, copies) : 0;
      if (count > 1) {
        result = gpu->launchCopies(on, copies, count);
        step += 4 * (count - 1);
      } else {
        result = driver.copyOnDevice(to, from, bytes, on);
      }
      break;
    }
    case kCopyToDevice:
      result = driver.copyToDevice(to, reinterpret_cast<const void *>(from), bytes, on);
      break;
    case kFill:
      result = driver.fillBytes(to, static_cast<uint8_t>(step[2]), bytes, on);
      break;
    }
    if (result != cuda::kSuccess)
      return result;
  }
  return cuda::kSuccess;
}

/// Makes a graph of the pending work. It does not run then, also if that fails.
bool GpuWork::capture(Known &each) {
  const cuda::Driver &driver = gpu->getDriver();
  if (driver.beginCapture(captures, cuda::kThreadLocalCapture) != cuda::kSuccess)
    return false;
  cuda::Result result = run(captures);
  cuda::Graph graph = nullptr;
  bool hasEnded = driver.endCapture(captures, &graph) == cuda::kSuccess && graph;
  if (hasEnded && result == cuda::kSuccess &&
      driver.instantiateGraph(&each.graph, graph, 0) != cuda::kSuccess)
    each.graph = nullptr;
  if (hasEnded)
    driver.destroyGraph(graph);
  return each.graph;
}

/// FNV-1a over words (http://www.isthe.com/chongo/tech/comp/fnv/).
static uint64_t hashOf(const int64_t *words, int64_t count) {
  uint64_t hash = 14695981039346656037u;
  for (int64_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<uint64_t>(words[i])) * 1099511628211u;
  return hash;
}

/// Returns the pending work among what is known; null if it is new, and remembered now.
GpuWork::Known *GpuWork::find() {
  uint64_t hash = hashOf(words(), size);
  for (Known &each : known)
    if (each.size == size && each.hash == hash &&
        memcmp(each.words.data(), words(), size * sizeof(int64_t)) == 0) {
      each.lastUse = ++uses;
      return &each;
    }
  remember(hash);
  return nullptr;
}

/// Replaces what has not been used for the longest time.
void GpuWork::remember(uint64_t hash) {
  Known *oldest = known.begin();
  for (Known &each : known)
    if (each.lastUse < oldest->lastUse)
      oldest = &each;
  forget(*oldest);
  oldest->lastUse = ++uses;
  if (!oldest->words.reserve(allocator, size * sizeof(int64_t)))
    return;
  memcpy(oldest->words.data(), words(), size * sizeof(int64_t));
  oldest->hash = hash;
  oldest->size = size;
}

cuda::Result GpuWork::submit() {
  if (size == 0)
    return cuda::kSuccess;
  Known *before = steps < kFewSteps ? nullptr : find();
  if (before && !before->graph && !before->isBroken)
    before->isBroken = !capture(*before);
  cuda::Result result =
      before && before->graph ? gpu->getDriver().launchGraph(before->graph, stream) : run(stream);
  size = steps = 0;
  return result;
}
