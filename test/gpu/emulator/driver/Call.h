//===- Call.h - Calls of the emulated driver ------------------------------===//

#pragma once

#include "test/gpu/emulator/driver/Device.h"
#include <mutex>

namespace tfc::gpu {

using namespace tfc::runtime::cuda;

/// The device, and the lock that all functions take.
inline EmulatedDevice &theDevice() {
  static EmulatedDevice device;
  return device;
}

inline std::recursive_mutex &theLock() {
  static std::recursive_mutex lock;
  return lock;
}

/// Whether cuInit was called, and whether the thread has a current context.
inline bool isInitialized = false;
inline thread_local bool hasContext = false;

/// Runs a function of the driver under the lock, if a context is current and nothing has failed.
template <typename Body> Result call(Body body) {
  std::lock_guard guard(theLock());
  if (!isInitialized)
    return kNotInitialized;
  if (!hasContext)
    return kInvalidContext;
  EmulatedDevice &device = theDevice();
  if (!device.failure.empty())
    return kLaunchFailed;
  Result result = body(device);
  return device.failure.empty() ? result : kLaunchFailed;
}

/// The same for what a stream that records a graph does not allow.
template <typename Body> Result callOutsideCapture(Body body) {
  return call([&](EmulatedDevice &device) {
    if (!device.isCapturing())
      return body(device);
    device.invalidateCaptures();
    return kCaptureUnsupported;
  });
}

/// Finds an object by its handle; null if there is none.
template <typename T, typename Handle>
T *find(const std::set<std::unique_ptr<T>> &objects, Handle handle) {
  for (const auto &object : objects)
    if (static_cast<void *>(object.get()) == static_cast<void *>(handle))
      return object.get();
  return nullptr;
}

template <typename T, typename Handle>
bool erase(std::set<std::unique_ptr<T>> &objects, Handle handle) {
  for (auto it = objects.begin(); it != objects.end(); ++it)
    if (static_cast<void *>(it->get()) == static_cast<void *>(handle)) {
      objects.erase(it);
      return true;
    }
  return false;
}

template <typename Handle, typename T> Handle toHandle(T *object) {
  return reinterpret_cast<Handle>(object);
}

inline EmulatedStream *findStream(EmulatedDevice &device, Stream stream) {
  return stream ? find(device.streams, stream) : &device.legacy;
}

/// Adds work to a stream.
inline Result enqueue(Stream stream, Work work) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (!known)
      return kInvalidHandle;
    device.enqueue(*known, std::move(work));
    return kSuccess;
  });
}

} // namespace tfc::gpu

/// The functions that the library exports have the types that the runtime calls.
namespace tfc::runtime::cuda {
#define TFC_CUDA(name, symbol, parameters)                                                         \
  extern "C" __attribute__((visibility("default"))) Result symbol parameters;
#include "runtime/CudaFunctions.inc"
#undef TFC_CUDA
} // namespace tfc::runtime::cuda
