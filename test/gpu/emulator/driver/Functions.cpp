//===- Functions.cpp - The functions of the emulated driver ---------------===//
//
// The ABI of the CUDA driver for one device of capability 8.0. Errors of the arguments come back at
// once; what fails when it runs is printed, and every later call returns 719, as after a fault of a
// real device.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/driver/Device.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace tfc::gpu;
using namespace tfc::runtime::cuda;

namespace {

constexpr int kVersion = 12000; // CUDA 12.0, which takes PTX up to 8.0
constexpr int kPtxVersion = 80;
constexpr uint32_t kUsualSharedBytes = 48 * 1024, kMostSharedBytes = 163 * 1024;
constexpr uint32_t kMostThreads = 1024;

/// The device, and the lock that all functions take.
EmulatedDevice &theDevice() {
  static EmulatedDevice device;
  return device;
}

std::recursive_mutex &theLock() {
  static std::recursive_mutex lock;
  return lock;
}

bool isInitialized = false;
thread_local bool hasContext = false;

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

EmulatedStream *findStream(EmulatedDevice &device, Stream stream) {
  return stream ? find(device.streams, stream) : &device.legacy;
}

EmulatedFunction *findFunction(EmulatedDevice &device, Function function) {
  for (const auto &module : device.modules)
    for (auto &[name, known] : module->functions)
      if (toHandle<Function>(&known) == function)
        return &known;
  return nullptr;
}

/// Adds work to a stream.
Result enqueue(Stream stream, Work work) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (!known)
      return kInvalidHandle;
    device.enqueue(*known, std::move(work));
    return kSuccess;
  });
}

std::string copyName(const char *name, const std::string &error) {
  return error.empty() ? error : std::string(name) + ": " + error;
}

} // namespace

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Result cuInit(uint32_t flags) {
  std::lock_guard guard(theLock());
  isInitialized = true;
  return flags == 0 ? kSuccess : kInvalidValue;
}

EXPORT Result cuDriverGetVersion(int32_t *version) {
  *version = kVersion;
  return kSuccess;
}

static const std::map<Result, std::pair<const char *, const char *>> kResults = {
    {kSuccess, {"CUDA_SUCCESS", "no error"}},
    {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {kNotInitialized, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {kNoDevice, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {kInvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {kInvalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {kNoBinaryForGpu, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for the device"}},
    {kInvalidPtx, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {kUnsupportedPtxVersion,
     {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX has a version that is too new"}},
    {kInvalidHandle, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {kNotReady, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {kLaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {kCaptureUnsupported,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}},
    {kCaptureInvalidated,
     {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error"}}};

EXPORT Result cuGetErrorName(Result result, const char **name) {
  auto found = kResults.find(result);
  *name = found == kResults.end() ? nullptr : found->second.first;
  return found == kResults.end() ? kInvalidValue : kSuccess;
}

EXPORT Result cuGetErrorString(Result result, const char **text) {
  auto found = kResults.find(result);
  *text = found == kResults.end() ? nullptr : found->second.second;
  return found == kResults.end() ? kInvalidValue : kSuccess;
}

EXPORT Result cuDeviceGetCount(int32_t *count) {
  *count = 1;
  return isInitialized ? kSuccess : kNotInitialized;
}

EXPORT Result cuDeviceGet(Device *device, int32_t number) {
  *device = 0;
  return !isInitialized ? kNotInitialized : number == 0 ? kSuccess : kInvalidDevice;
}

EXPORT Result cuDeviceGetName(char *name, int32_t bytes, Device device) {
  if (device != 0)
    return kInvalidDevice;
  snprintf(name, bytes, "tfc's emulated device");
  return kSuccess;
}

EXPORT Result cuDeviceGetAttribute(int32_t *value, DeviceAttribute attribute, Device device) {
  static const std::map<DeviceAttribute, int32_t> values = {
      {kThreadsPerBlock, kMostThreads},
      {kWarpSize, kLanes},
      {kMultiprocessors, 108},
      {kCapabilityMajor, 8},
      {kCapabilityMinor, 0},
      {kSharedPerBlock, kUsualSharedBytes},
      {kSharedPerBlockOptIn, kMostSharedBytes}};
  auto found = values.find(attribute);
  if (device != 0 || found == values.end())
    return device != 0 ? kInvalidDevice : kInvalidValue;
  *value = found->second;
  return kSuccess;
}

EXPORT Result cuDeviceTotalMem_v2(size_t *bytes, Device device) {
  *bytes = size_t(1) << 34;
  return device == 0 ? kSuccess : kInvalidDevice;
}

EXPORT Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  std::lock_guard guard(theLock());
  if (!isInitialized || device != 0)
    return isInitialized ? kInvalidDevice : kNotInitialized;
  theDevice().memory.setLimit(size_t(1) << 34);
  ++theDevice().contexts;
  *context = toHandle<Context>(&theDevice());
  return kSuccess;
}

/// The last release reports what is left.
EXPORT Result cuDevicePrimaryCtxRelease_v2(Device device) {
  std::lock_guard guard(theLock());
  if (device != 0 || theDevice().contexts == 0)
    return kInvalidContext;
  if (--theDevice().contexts > 0)
    return kSuccess;
  theDevice().synchronizeAll();
  for (const std::string &leak : theDevice().getLeaks())
    fprintf(stderr, "emulated device: %s are not released\n", leak.c_str());
  return kSuccess;
}

EXPORT Result cuCtxSetCurrent(Context context) {
  std::lock_guard guard(theLock());
  bool isKnown = context == toHandle<Context>(&theDevice()) && theDevice().contexts > 0;
  if (context && !isKnown)
    return kInvalidContext;
  hasContext = context != nullptr;
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Modules and functions
//===----------------------------------------------------------------------===//

/// Writes the error of a module to the log that the caller may have passed.
static void logError(const std::string &message, uint32_t count, const JitOption *options,
                     void **values) {
  char *log = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (options[i] == kErrorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == kErrorLogBytes)
      bytes = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (log && bytes > 0)
    snprintf(log, bytes, "%s", message.c_str());
}

/// Returns the reason for which the device does not take a module, as the driver would.
static Result checkTarget(const std::string &text) {
  ptx::Error error;
  std::optional<ptx::Module> module = ptx::parse(text, error);
  if (!module)
    return kInvalidPtx;
  if (module->version > kPtxVersion)
    return kUnsupportedPtxVersion;
  // Code for features of one architecture runs on that one alone.
  bool isSpecific = module->target.empty() || module->target.back() == 'a';
  int capability = atoi(module->target.c_str() + std::min<size_t>(3, module->target.size()));
  return isSpecific || capability > 80 ? kNoBinaryForGpu : kSuccess;
}

EXPORT Result cuModuleLoadDataEx(Module *module, const void *image, uint32_t optionCount,
                                 JitOption *options, void **values) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    std::string text = static_cast<const char *>(image);
    auto loaded = std::make_unique<EmulatedModule>();
    std::string error;
    Result result = checkTarget(text);
    if (result == kSuccess || result == kInvalidPtx)
      loaded->program = Program::load(text, device.memory, error);
    if (!loaded->program) {
      logError(result == kUnsupportedPtxVersion ? "the version of PTX is too new"
               : result == kNoBinaryForGpu      ? "the code is for another device"
                                                : error,
               optionCount, options, values);
      return result == kSuccess ? kInvalidPtx : result;
    }
    *module = toHandle<Module>(loaded.get());
    device.modules.insert(std::move(loaded));
    return kSuccess;
  });
}

EXPORT Result cuModuleUnload(Module module) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    device.synchronizeAll();
    return erase(device.modules, module) ? kSuccess : kInvalidHandle;
  });
}

EXPORT Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  return call([&](EmulatedDevice &device) {
    EmulatedModule *known = find(device.modules, module);
    if (!known)
      return kInvalidHandle;
    const Code *kernel = known->program->findKernel(name);
    if (!kernel)
      return kNotFound;
    auto added =
        known->functions.try_emplace(name, EmulatedFunction{known->program.get(), kernel}).first;
    *function = toHandle<Function>(&added->second);
    return kSuccess;
  });
}

EXPORT Result cuModuleGetGlobal_v2(Pointer *address, size_t *bytes, Module module,
                                   const char *name) {
  return call([&](EmulatedDevice &device) {
    EmulatedModule *known = find(device.modules, module);
    if (!known)
      return kInvalidHandle;
    const GlobalVariable *variable = known->program->findVariable(name);
    if (!variable)
      return kNotFound;
    *address = variable->address;
    if (bytes)
      *bytes = variable->bytes;
    return kSuccess;
  });
}

EXPORT Result cuFuncLoad(Function function) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    return findFunction(device, function) ? kSuccess : kInvalidHandle;
  });
}

EXPORT Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int32_t value) {
  return call([&](EmulatedDevice &device) {
    EmulatedFunction *known = findFunction(device, function);
    if (!known)
      return kInvalidHandle;
    bool isKnown = attribute == kFunctionDynamicSharedBytes && value >= 0 &&
                   known->kernel->staticSharedBytes + value <= kMostSharedBytes;
    if (isKnown)
      known->dynamicSharedBytes = value;
    return isKnown ? kSuccess : kInvalidValue;
  });
}

EXPORT Result cuFuncGetAttribute(int32_t *value, FunctionAttribute attribute, Function function) {
  return call([&](EmulatedDevice &device) {
    EmulatedFunction *known = findFunction(device, function);
    if (!known)
      return kInvalidHandle;
    const std::map<FunctionAttribute, uint64_t> values = {
        {kFunctionThreads, kMostThreads},
        {kFunctionSharedBytes, known->kernel->staticSharedBytes},
        {kFunctionLocalBytes, known->kernel->localEnd - known->kernel->localBegin},
        {kFunctionDynamicSharedBytes, known->dynamicSharedBytes}};
    auto found = values.find(attribute);
    if (found == values.end())
      return kInvalidValue;
    *value = static_cast<int32_t>(found->second);
    return kSuccess;
  });
}

/// Parameters are copied at once, as the driver does.
EXPORT Result cuLaunchKernel(Function function, uint32_t gridX, uint32_t gridY, uint32_t gridZ,
                             uint32_t blockX, uint32_t blockY, uint32_t blockZ,
                             uint32_t sharedBytes, Stream stream, void **parameters, void **extra) {
  return call([&](EmulatedDevice &device) {
    EmulatedFunction *known = findFunction(device, function);
    if (!known)
      return kInvalidHandle;
    const Code &kernel = *known->kernel;
    Dimensions grid{gridX, gridY, gridZ}, block{blockX, blockY, blockZ};
    bool isTooLarge = block.count() > kMostThreads || sharedBytes > known->dynamicSharedBytes;
    if (grid.count() == 0 || block.count() == 0 || isTooLarge || extra ||
        (!parameters && !kernel.parameters.empty()))
      return kInvalidValue;
    std::vector<uint8_t> bytes(kernel.parameterBytes);
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
      memcpy(&bytes[kernel.parameters[i].offset], parameters[i], kernel.parameters[i].bytes);
    Launch launch{kernel.name, grid, block, sharedBytes, std::move(bytes)};
    return enqueue(stream, [&device, program = known->program, launch] {
      return tfc::gpu::launch(*program, launch, device.memory, device.counters[launch.kernel]);
    });
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

EXPORT Result cuMemAlloc_v2(Pointer *address, size_t bytes) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (bytes == 0)
      return kInvalidValue;
    *address = device.memory.allocate(bytes);
    return *address ? kSuccess : kOutOfMemory;
  });
}

EXPORT Result cuMemFree_v2(Pointer address) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (address == 0)
      return kSuccess;
    device.synchronizeAll();
    return device.memory.release(address).empty() ? kSuccess : kInvalidValue;
  });
}

EXPORT Result cuMemHostAlloc(void **address, size_t bytes, uint32_t flags) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    *address = bytes && flags == 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
    if (!*address)
      return bytes && flags == 0 ? kOutOfMemory : kInvalidValue;
    device.pinned[static_cast<const char *>(*address)] = bytes;
    return kSuccess;
  });
}

EXPORT Result cuMemFreeHost(void *address) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    device.synchronizeAll();
    if (device.pinned.erase(static_cast<const char *>(address)) == 0)
      return kInvalidValue;
    free(address);
    return kSuccess;
  });
}

/// Pinned memory is read when the copy runs, other memory at once.
EXPORT Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Stream stream) {
  std::vector<uint8_t> snapshot;
  {
    std::lock_guard guard(theLock());
    if (!theDevice().isPinned(from))
      snapshot.assign(static_cast<const uint8_t *>(from),
                      static_cast<const uint8_t *>(from) + bytes);
  }
  return enqueue(stream, [to, from, bytes, snapshot] {
    const void *source = snapshot.empty() ? from : snapshot.data();
    return copyName("cuMemcpyHtoDAsync", theDevice().memory.write(to, bytes, source, false));
  });
}

/// A copy to memory that is not pinned is over when the function returns.
EXPORT Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Stream stream) {
  Result result = enqueue(stream, [to, from, bytes] {
    return copyName("cuMemcpyDtoHAsync", theDevice().memory.read(from, bytes, to, false));
  });
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (result == kSuccess && known && !known->capture && !device.isPinned(to))
      device.synchronize(*known);
    return result;
  });
}

EXPORT Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Stream stream) {
  return enqueue(stream, [to, from, bytes] {
    std::vector<uint8_t> data(bytes);
    Memory &memory = theDevice().memory;
    std::string error = memory.read(from, bytes, data.data(), false);
    if (error.empty())
      error = memory.write(to, bytes, data.data(), false);
    return copyName("cuMemcpyDtoDAsync", error);
  });
}

EXPORT Result cuMemsetD8Async(Pointer to, uint8_t value, size_t count, Stream stream) {
  return enqueue(stream, [to, value, count] {
    std::vector<uint8_t> data(count, value);
    return copyName("cuMemsetD8Async", theDevice().memory.write(to, count, data.data(), false));
  });
}

EXPORT Result cuMemsetD32Async(Pointer to, uint32_t value, size_t count, Stream stream) {
  if (to % 4 != 0)
    return kInvalidValue;
  return enqueue(stream, [to, value, count] {
    std::vector<uint32_t> data(count, value);
    return copyName("cuMemsetD32Async",
                    theDevice().memory.write(to, 4 * count, data.data(), false));
  });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

EXPORT Result cuStreamCreate(Stream *stream, uint32_t flags) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    if (flags > kNonBlockingStream)
      return kInvalidValue;
    auto added = device.streams.insert(std::make_unique<EmulatedStream>()).first;
    *stream = toHandle<Stream>(added->get());
    return kSuccess;
  });
}

EXPORT Result cuStreamDestroy_v2(Stream stream) {
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

EXPORT Result cuStreamSynchronize(Stream stream) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    EmulatedStream *known = findStream(device, stream);
    if (!known)
      return kInvalidHandle;
    if (known == &device.legacy)
      device.synchronizeAll();
    device.synchronize(*known);
    return kSuccess;
  });
}

EXPORT Result cuEventCreate(Event *event, uint32_t flags) {
  return call([&](EmulatedDevice &device) {
    auto added = device.events.insert(std::make_unique<EmulatedEvent>()).first;
    (*added)->isTimed = !(flags & kUntimedEvent);
    *event = toHandle<Event>(added->get());
    return kSuccess;
  });
}

EXPORT Result cuEventDestroy_v2(Event event) {
  return call([&](EmulatedDevice &device) {
    return erase(device.events, event) ? kSuccess : kInvalidHandle;
  });
}

EXPORT Result cuEventRecord(Event event, Stream stream) {
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
EXPORT Result cuStreamWaitEvent(Stream stream, Event event, uint32_t flags) {
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
EXPORT Result cuEventQuery(Event event) {
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

EXPORT Result cuEventSynchronize(Event event) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    EmulatedEvent *known = find(device.events, event);
    if (!known)
      return kInvalidHandle;
    if (!hasHappened(*known))
      device.advance(*known->stream, known->position);
    return kSuccess;
  });
}

EXPORT Result cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
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

EXPORT Result cuStreamBeginCapture_v2(Stream stream, int32_t) {
  return call([&](EmulatedDevice &device) {
    EmulatedStream *known = find(device.streams, stream);
    if (!known || known->capture)
      return known ? kCaptureUnsupported : kInvalidHandle;
    known->capture = std::make_unique<EmulatedGraph>();
    known->isInvalidated = false;
    return kSuccess;
  });
}

EXPORT Result cuStreamEndCapture(Stream stream, Graph *graph) {
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

EXPORT Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, uint64_t flags) {
  return call([&](EmulatedDevice &device) {
    EmulatedGraph *known = find(device.graphs, graph);
    if (!known || flags != 0)
      return known ? kInvalidValue : kInvalidHandle;
    auto added = device.executables.insert(std::make_unique<EmulatedGraph>(*known)).first;
    *exec = toHandle<GraphExec>(added->get());
    return kSuccess;
  });
}

EXPORT Result cuGraphLaunch(GraphExec exec, Stream stream) {
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

EXPORT Result cuGraphDestroy(Graph graph) {
  return call([&](EmulatedDevice &device) {
    return erase(device.graphs, graph) ? kSuccess : kInvalidHandle;
  });
}

EXPORT Result cuGraphExecDestroy(GraphExec exec) {
  return call([&](EmulatedDevice &device) {
    return erase(device.executables, exec) ? kSuccess : kInvalidHandle;
  });
}

// The functions have the types that the runtime calls.
#define TFC_CUDA(name, symbol, parameters)                                                         \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Driver::name)>);
#include "runtime/CudaFunctions.inc"
#undef TFC_CUDA
