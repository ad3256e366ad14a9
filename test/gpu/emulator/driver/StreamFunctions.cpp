//===- StreamFunctions.cpp - Streams of the emulated driver ---------------===//
//
// The functions for memory, streams, events and graphs.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/driver/Call.h"
#include <cstdlib>
#include <cstring>

using namespace tfc::gpu;

/// The error of a copy, with the function that asked for it.
static std::string errorOf(const char *function, const std::string &error) {
  return error.empty() ? error : std::string(function) + ": " + error;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result tfc::runtime::cuda::cuMemAlloc_v2(Pointer *address, size_t bytes) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (bytes == 0)
      return kInvalidValue;
    *address = device.memory.allocate(bytes);
    return *address ? kSuccess : kOutOfMemory;
  });
}

Result tfc::runtime::cuda::cuPointerGetAttribute(void *value, PointerAttribute attribute,
                                                 Pointer address) {
  return call([&](EmulatedDevice &device) {
    if (attribute != kMemoryType || !device.memory.cover(address, address + 1))
      return kInvalidValue;
    memcpy(value, &kDeviceMemory, sizeof kDeviceMemory);
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuMemFree_v2(Pointer address) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (address == 0)
      return kSuccess;
    device.synchronizeAll();
    return device.memory.release(address).empty() ? kSuccess : kInvalidValue;
  });
}

Result tfc::runtime::cuda::cuMemHostAlloc(void **address, size_t bytes, uint32_t flags) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    *address = bytes && flags == 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
    if (!*address)
      return bytes && flags == 0 ? kOutOfMemory : kInvalidValue;
    device.pinned[static_cast<const char *>(*address)] = bytes;
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuMemFreeHost(void *address) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    device.synchronizeAll();
    if (device.pinned.erase(static_cast<const char *>(address)) == 0)
      return kInvalidValue;
    free(address);
    return kSuccess;
  });
}

/// Pinned memory is read when the copy runs, other memory at once.
Result tfc::runtime::cuda::cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes,
                                                Stream stream) {
  std::vector<uint8_t> snapshot;
  {
    std::lock_guard guard(theLock());
    if (!theDevice().isPinned(from))
      snapshot.assign(static_cast<const uint8_t *>(from),
                      static_cast<const uint8_t *>(from) + bytes);
  }
  return enqueue(stream, [to, from, bytes, snapshot] {
    const void *source = snapshot.empty() ? from : snapshot.data();
    return errorOf("cuMemcpyHtoDAsync", theDevice().memory.write(to, bytes, source, false));
  });
}

/// A copy to memory that is not pinned is over when the function returns.
Result tfc::runtime::cuda::cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes,
                                                Stream stream) {
  Result result = enqueue(stream, [to, from, bytes] {
    return errorOf("cuMemcpyDtoHAsync", theDevice().memory.read(from, bytes, to, false));
  });
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (result == kSuccess && known && !known->capture && !device.isPinned(to))
      device.synchronize(*known);
    return result;
  });
}

Result tfc::runtime::cuda::cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes,
                                                Stream stream) {
  return enqueue(stream, [to, from, bytes] {
    return errorOf("cuMemcpyDtoDAsync", theDevice().memory.copy(to, from, bytes));
  });
}

Result tfc::runtime::cuda::cuMemsetD8Async(Pointer to, uint8_t value, size_t count, Stream stream) {
  return enqueue(stream, [to, value, count] {
    std::vector<uint8_t> data(count, value);
    return errorOf("cuMemsetD8Async", theDevice().memory.write(to, count, data.data(), false));
  });
}

Result tfc::runtime::cuda::cuMemsetD32Async(Pointer to, uint32_t value, size_t count,
                                            Stream stream) {
  if (to % 4 != 0)
    return kInvalidValue;
  return enqueue(stream, [to, value, count] {
    std::vector<uint32_t> data(count, value);
    return errorOf("cuMemsetD32Async", theDevice().memory.write(to, 4 * count, data.data(), false));
  });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Result tfc::runtime::cuda::cuStreamCreate(Stream *stream, uint32_t flags) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (flags > kNonBlockingStream)
      return kInvalidValue;
    auto added = device.streams.insert(std::make_unique<EmulatedStream>()).first;
    *stream = toHandle<Stream>(added->get());
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuStreamDestroy_v2(Stream stream) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = find(device.streams, stream);
    if (!known)
      return kInvalidHandle;
    device.synchronize(*known);
    for (const auto &event : device.events)
      if (event->stream == known)
        event->stream = nullptr; // it has happened
    erase(device.streams, stream);
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuStreamSynchronize(Stream stream) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (!known)
      return kInvalidHandle;
    if (known->capture) // by another thread
      return known->isInvalidated = true, kCaptureUnsupported;
    if (known == &device.legacy)
      device.synchronizeAll();
    device.synchronize(*known);
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuEventCreate(Event *event, uint32_t flags) {
  return call([&](EmulatedDevice &device) {
    auto added = device.events.insert(std::make_unique<EmulatedEvent>()).first;
    (*added)->isTimed = !(flags & kUntimedEvent);
    *event = toHandle<Event>(added->get());
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuEventDestroy_v2(Event event) {
  return call([&](EmulatedDevice &device) {
    return erase(device.events, event) ? kSuccess : kInvalidHandle;
  });
}

Result tfc::runtime::cuda::cuEventRecord(Event event, Stream stream) {
  return call([&](EmulatedDevice &device) {
    EmulatedEvent *known = find(device.events, event);
    EmulatedStream *on = findStream(device, stream);
    if (!known || !on)
      return kInvalidHandle;
    if (on->capture) // events between captured streams are not known here
      return on->isInvalidated = true, kCaptureUnsupported;
    auto time = std::make_shared<std::chrono::steady_clock::time_point>();
    device.enqueue(*on, [time] {
      *time = std::chrono::steady_clock::now();
      return std::string();
    });
    known->stream = on;
    known->position = on->enqueued;
    known->isRecorded = true;
    known->time = time;
    return kSuccess;
  });
}

/// The stream waits for the moment that the event has now, even if it is recorded again.
Result tfc::runtime::cuda::cuStreamWaitEvent(Stream stream, Event event, uint32_t flags) {
  return call([&](EmulatedDevice &device) {
    EmulatedEvent *known = find(device.events, event);
    EmulatedStream *waiting = findStream(device, stream);
    if (!known || !waiting || flags != 0)
      return !known || !waiting ? kInvalidHandle : kInvalidValue;
    if (waiting->capture)
      return waiting->isInvalidated = true, kCaptureUnsupported;
    if (!known->isRecorded || !known->stream)
      return kSuccess;
    device.enqueue(*waiting, [&device, on = known->stream, position = known->position] {
      bool isThere = on == &device.legacy || find(device.streams, on);
      if (isThere)
        device.advance(*on, position);
      return device.failure;
    });
    return kSuccess;
  });
}

static bool hasHappened(const EmulatedEvent &event) {
  return !event.stream || event.stream->done >= event.position;
}

/// A query runs a step of the stream, so that waiting by queries ends.
Result tfc::runtime::cuda::cuEventQuery(Event event) {
  return call([&](EmulatedDevice &device) {
    EmulatedEvent *known = find(device.events, event);
    if (!known)
      return kInvalidHandle;
    if (hasHappened(*known))
      return kSuccess;
    device.advance(*known->stream, known->stream->done + 1);
    return kNotReady;
  });
}

Result tfc::runtime::cuda::cuEventSynchronize(Event event) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    EmulatedEvent *known = find(device.events, event);
    if (!known)
      return kInvalidHandle;
    if (!hasHappened(*known))
      device.advance(*known->stream, known->position);
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  return call([&](EmulatedDevice &device) {
    EmulatedEvent *first = find(device.events, begin), *second = find(device.events, end);
    bool isKnown = first && second && first->isTimed && second->isTimed && first->isRecorded &&
                   second->isRecorded;
    if (!isKnown)
      return kInvalidHandle;
    if (!hasHappened(*first) || !hasHappened(*second))
      return kNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(*second->time - *first->time).count();
    return kSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Result tfc::runtime::cuda::cuStreamBeginCapture_v2(Stream stream, int32_t mode) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = find(device.streams, stream);
    if (!known || known->capture)
      return known ? kCaptureUnsupported : kInvalidHandle;
    if (mode != kThreadLocalCapture)
      return kInvalidValue; // others are not emulated
    known->capturer = std::this_thread::get_id();
    known->capture = std::make_unique<EmulatedGraph>();
    known->isInvalidated = false;
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuStreamEndCapture(Stream stream, Graph *graph) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = find(device.streams, stream);
    *graph = nullptr;
    if (!known || !known->capture)
      return known ? kInvalidValue : kInvalidHandle;
    std::unique_ptr<EmulatedGraph> captured = std::move(known->capture);
    if (known->isInvalidated)
      return kCaptureInvalidated;
    *graph = toHandle<Graph>(captured.get());
    device.graphs.insert(std::move(captured));
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph,
                                                       uint64_t flags) {
  return call([&](EmulatedDevice &device) {
    EmulatedGraph *known = find(device.graphs, graph);
    if (!known || flags != 0)
      return known ? kInvalidValue : kInvalidHandle;
    auto added = device.executables.insert(std::make_unique<EmulatedGraph>(*known)).first;
    *exec = toHandle<GraphExec>(added->get());
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuGraphLaunch(GraphExec exec, Stream stream) {
  return call([&](EmulatedDevice &device) {
    EmulatedGraph *known = find(device.executables, exec);
    EmulatedStream *on = findStream(device, stream);
    if (!known || !on)
      return kInvalidHandle;
    for (const Work &work : known->work)
      device.enqueue(*on, work);
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuGraphDestroy(Graph graph) {
  return call([&](EmulatedDevice &device) {
    return erase(device.graphs, graph) ? kSuccess : kInvalidHandle;
  });
}

Result tfc::runtime::cuda::cuGraphExecDestroy(GraphExec exec) {
  return call([&](EmulatedDevice &device) {
    return erase(device.executables, exec) ? kSuccess : kInvalidHandle;
  });
}
