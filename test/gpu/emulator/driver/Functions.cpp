//===- Functions.cpp - Devices and modules of the emulated driver ---------===//
//
// The ABI of the CUDA driver for one device of capability 8.0. Errors of the arguments come back at
// once; what fails when it runs is printed, and every later call returns 719, as after a fault of a
// real device.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/driver/Call.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tfc::gpu;

namespace {

constexpr int kVersion = 12000; // CUDA 12.0, which takes PTX up to 8.0
constexpr int kPtxVersion = 80;
constexpr uint32_t kUsualSharedBytes = 48 * 1024, kMostSharedBytes = 163 * 1024;
constexpr uint32_t kMostThreads = 1024;

EmulatedFunction *findFunction(EmulatedDevice &device, Function function) {
  for (const auto &module : device.modules)
    for (auto &[name, known] : module->functions)
      if (toHandle<Function>(&known) == function)
        return &known;
  return nullptr;
}

} // namespace

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

Result tfc::runtime::cuda::cuInit(uint32_t flags) {
  std::lock_guard guard(theLock());
  isInitialized = true;
  return flags == 0 ? kSuccess : kInvalidValue;
}

Result tfc::runtime::cuda::cuDriverGetVersion(int32_t *version) {
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

Result tfc::runtime::cuda::cuGetErrorName(Result result, const char **name) {
  auto found = kResults.find(result);
  *name = found == kResults.end() ? nullptr : found->second.first;
  return found == kResults.end() ? kInvalidValue : kSuccess;
}

Result tfc::runtime::cuda::cuGetErrorString(Result result, const char **text) {
  auto found = kResults.find(result);
  *text = found == kResults.end() ? nullptr : found->second.second;
  return found == kResults.end() ? kInvalidValue : kSuccess;
}

Result tfc::runtime::cuda::cuDeviceGetCount(int32_t *count) {
  *count = 1;
  return isInitialized ? kSuccess : kNotInitialized;
}

Result tfc::runtime::cuda::cuDeviceGet(Device *device, int32_t number) {
  *device = 0;
  return !isInitialized ? kNotInitialized : number == 0 ? kSuccess : kInvalidDevice;
}

Result tfc::runtime::cuda::cuDeviceGetName(char *name, int32_t bytes, Device device) {
  if (device != 0)
    return kInvalidDevice;
  snprintf(name, bytes, "tfc's emulated device");
  return kSuccess;
}

Result tfc::runtime::cuda::cuDeviceGetAttribute(int32_t *value, DeviceAttribute attribute,
                                                Device device) {
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

Result tfc::runtime::cuda::cuDeviceTotalMem_v2(size_t *bytes, Device device) {
  *bytes = size_t(1) << 34;
  return device == 0 ? kSuccess : kInvalidDevice;
}

Result tfc::runtime::cuda::cuDevicePrimaryCtxRetain(Context *context, Device device) {
  std::lock_guard guard(theLock());
  if (!isInitialized || device != 0)
    return isInitialized ? kInvalidDevice : kNotInitialized;
  const char *bytes = getenv("TFC_EMULATED_BYTES"); // of the device
  theDevice().memory.setLimit(bytes ? strtoull(bytes, nullptr, 10) : size_t(1) << 34);
  if (theDevice().contexts++ == 0)
    theDevice().counters.clear();
  *context = toHandle<Context>(&theDevice());
  return kSuccess;
}

/// The last release reports what is left.
Result tfc::runtime::cuda::cuDevicePrimaryCtxRelease_v2(Device device) {
  std::lock_guard guard(theLock());
  if (device != 0 || theDevice().contexts == 0)
    return kInvalidContext;
  if (--theDevice().contexts > 0)
    return kSuccess;
  theDevice().synchronizeAll();
  for (const std::string &leak : theDevice().getLeaks())
    fprintf(stderr, "emulated device: %s are not released\n", leak.c_str());
  if (const char *path = getenv("TFC_EMULATED_COUNTERS"))
    theDevice().writeCounters(path);
  return kSuccess;
}

Result tfc::runtime::cuda::cuCtxGetCurrent(Context *context) {
  std::lock_guard guard(theLock());
  *context = hasContext ? toHandle<Context>(&theDevice()) : nullptr;
  return isInitialized ? kSuccess : kNotInitialized;
}

Result tfc::runtime::cuda::cuCtxSetCurrent(Context context) {
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
static Result checkTarget(const ptx::Module &module) {
  if (module.version > kPtxVersion)
    return kUnsupportedPtxVersion;
  // Code for features of one architecture runs on that one alone.
  bool isSpecific = module.target.empty() || module.target.back() == 'a';
  int capability = atoi(module.target.c_str() + std::min<size_t>(3, module.target.size()));
  return isSpecific || capability > 80 ? kNoBinaryForGpu : kSuccess;
}

Result tfc::runtime::cuda::cuModuleLoadDataEx(Module *module, const void *image,
                                              uint32_t optionCount, JitOption *options,
                                              void **values) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    auto refuse = [&](Result result, const std::string &message) {
      logError(message, optionCount, options, values);
      return result;
    };
    // It executes PTX alone.
    if (strncmp(static_cast<const char *>(image), "\177ELF", 4) == 0)
      return refuse(kNoBinaryForGpu, "the code is for another device");
    ptx::Error syntax;
    std::optional<ptx::Module> parsed = ptx::parse(static_cast<const char *>(image), syntax);
    if (!parsed)
      return refuse(kInvalidPtx, syntax.str());
    if (Result result = checkTarget(*parsed); result != kSuccess)
      return refuse(result, result == kNoBinaryForGpu ? "the code is for another device"
                                                      : "the version of PTX is too new");
    auto loaded = std::make_unique<EmulatedModule>();
    std::string error;
    loaded->program = Program::load(std::move(*parsed), device.memory, error);
    if (!loaded->program)
      return refuse(kInvalidPtx, error);
    *module = toHandle<Module>(loaded.get());
    device.modules.insert(std::move(loaded));
    return kSuccess;
  });
}

Result tfc::runtime::cuda::cuModuleUnload(Module module) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    device.synchronizeAll();
    return erase(device.modules, module) ? kSuccess : kInvalidHandle;
  });
}

Result tfc::runtime::cuda::cuModuleGetFunction(Function *function, Module module,
                                               const char *name) {
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

Result tfc::runtime::cuda::cuModuleGetGlobal_v2(Pointer *address, size_t *bytes, Module module,
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

Result tfc::runtime::cuda::cuFuncLoad(Function function) {
  return callOutsideCapture([&](EmulatedDevice &device) {
    return findFunction(device, function) ? kSuccess : kInvalidHandle;
  });
}

Result tfc::runtime::cuda::cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                                              int32_t value) {
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

Result tfc::runtime::cuda::cuFuncGetAttribute(int32_t *value, FunctionAttribute attribute,
                                              Function function) {
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
Result tfc::runtime::cuda::cuLaunchKernel(Function function, uint32_t gridX, uint32_t gridY,
                                          uint32_t gridZ, uint32_t blockX, uint32_t blockY,
                                          uint32_t blockZ, uint32_t sharedBytes, Stream stream,
                                          void **parameters, void **extra) {
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
