//===- Gpu.cpp - GPUs: their memory, code and streams ---------------------===//
//
// Calls the driver for a device, and turns its errors into statuses.
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu.h"

#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

static cuda::Pointer asPointer(const void *address) {
  return reinterpret_cast<cuda::Pointer>(address);
}

//===- Devices ------------------------------------------------------------===//

Gpu::~Gpu() {
  if (!context)
    return;
  {
    Scope scope(*this);
    release(constantMemory);
    if (module)
      driver.unloadModule(module);
  }
  driver.releaseContext(device);
}

bool Gpu::endsDevice(cuda::Result result) {
  switch (static_cast<int32_t>(result)) {
  case 214: // memory that cannot be corrected
  case 220: // a link that cannot be corrected
  case 700: // an illegal address
  case 702: // a launch that takes too long
  case 709: // the context is destroyed
  case 710: // an assertion
  case 714: // the stack
  case 715: // an illegal instruction
  case 716: // a misaligned address
  case 717: // an invalid address space
  case 718: // an invalid program counter
  case cuda::kLaunchFailed:
  case 999: // unknown
    return true;
  default:
    return false;
  }
}

tfc_status Gpu::report(cuda::Result result, const char *what, Message &message) {
  if (result == cuda::kSuccess)
    return TFC_OK;
  const char *text = nullptr;
  if (driver.getErrorString(result, &text) != cuda::kSuccess || !text)
    text = "unknown error";
  message.clear();
  if (!endsDevice(result)) {
    message.add("%s: %s (%d)", what, text, static_cast<int>(result));
    return result == cuda::kOutOfMemory ? TFC_OUT_OF_MEMORY : TFC_INTERNAL;
  }
  message.add("the GPU has failed in %s: %s (%d)", what, text, static_cast<int>(result));
  isLost.store(true, std::memory_order_relaxed);
  return TFC_DEVICE_LOST;
}

tfc_status Gpu::check(Message &message) const {
  if (isMissing) {
    message.clear();
    message.add("%s", reason);
    return TFC_NO_DEVICE;
  }
  // Relaxed: a thread that sees it late gets the same error from the driver.
  if (!isLost.load(std::memory_order_relaxed))
    return TFC_OK;
  message.clear();
  message.add("the GPU has failed before, and nothing can run on it any more");
  return TFC_DEVICE_LOST;
}

void Gpu::enter() const {
  if (context)
    driver.setContext(context);
}

Gpu::Scope::Scope(const Gpu *of) : gpu(of && of->context ? of : nullptr) {
  if (!gpu)
    return;
  gpu->driver.getContext(&previous);
  if (previous != gpu->context)
    gpu->driver.setContext(gpu->context);
}

Gpu::Scope::~Scope() {
  if (gpu && previous != gpu->context)
    gpu->driver.setContext(previous);
}

/// Finds the device with this number among those of the driver, and its context; sets `reason`
/// otherwise.
bool Gpu::find(int32_t number) {
  if (!driver.load(reason, sizeof reason))
    return false;
  int32_t count = 0;
  if (cuda::Result result = driver.init(0)) {
    snprintf(reason, sizeof reason, "the CUDA driver cannot be initialised (%d)",
             static_cast<int>(result));
    return false;
  }
  if (driver.countDevices(&count) != cuda::kSuccess || number >= count) {
    snprintf(reason, sizeof reason, "there is no GPU with the number %d: the driver has %d",
             static_cast<int>(number), static_cast<int>(count));
    return false;
  }
  if (driver.getDevice(&device, number) == cuda::kSuccess &&
      driver.retainContext(&context, device) == cuda::kSuccess)
    return true;
  context = nullptr;
  snprintf(reason, sizeof reason, "the GPU with the number %d cannot be used",
           static_cast<int>(number));
  return false;
}

tfc_status Gpu::open(const Allocator &allocator, const tfc_model &model, int32_t number,
                     Message &message) {
  used = true;
  image = model.image;
  isMissing = !find(static_cast<int32_t>(model.devices[number].index));
  if (isMissing)
    return TFC_OK;
  Scope scope(*this);
  tfc_status status = image ? load(allocator, message) : TFC_OK;
  if (status == TFC_OK)
    status = copyConstants(allocator, model, number, message);
  if (status == TFC_OK || status == TFC_OUT_OF_MEMORY)
    return status;
  isMissing = true;
  snprintf(reason, sizeof reason, "%s", message.c_str());
  message.clear();
  return TFC_OK;
}

const tfc_binary_info *tfc::runtime::findBinary(const tfc_image_info &image, int64_t capability) {
  const tfc_binary_info *best = nullptr;
  for (int64_t i = 0; i < image.binary_count; ++i) {
    const tfc_binary_info &binary = image.binaries[i];
    bool runs = binary.capability / 10 == capability / 10 && binary.capability <= capability;
    if (runs && (!best || binary.capability > best->capability))
      best = &binary;
  }
  return best;
}

/// Loads the binary for the device. If there is none, or the driver does not take it, it compiles
/// the PTX.
tfc_status Gpu::loadCode(Message &message) {
  int32_t major = 0, minor = 0;
  if (driver.getDeviceAttribute(&major, cuda::kCapabilityMajor, device) == cuda::kSuccess &&
      driver.getDeviceAttribute(&minor, cuda::kCapabilityMinor, device) == cuda::kSuccess)
    if (const tfc_binary_info *binary = findBinary(*image, int64_t(major) * 10 + minor)) {
      cuda::Result result = driver.loadModule(&module, binary->code, 0, nullptr, nullptr);
      if (result == cuda::kSuccess || result == cuda::kOutOfMemory || endsDevice(result)) {
        module = result == cuda::kSuccess ? module : nullptr;
        return report(result, "the code of the model", message);
      }
    }
  char log[1024] = {};
  cuda::JitOption options[] = {cuda::kErrorLog, cuda::kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  cuda::Result result = driver.loadModule(&module, image->code, 2, options, values);
  if (result == cuda::kSuccess)
    return TFC_OK;
  module = nullptr;
  tfc_status status = report(result, "the code of the model", message);
  if (log[0])
    message.add(": %s", log);
  return status;
}

tfc_status Gpu::load(const Allocator &allocator, Message &message) {
  const tfc_image_info &code = *image;
  if (tfc_status status = loadCode(message))
    return status;
  if (!functions.reserve(allocator, code.grid_count * sizeof(cuda::Function))) {
    message.add("not enough memory for the functions of the GPU");
    return TFC_OUT_OF_MEMORY;
  }
  auto *found = reinterpret_cast<cuda::Function *>(functions.data());
  for (int64_t i = 0; i < code.grid_count; ++i) {
    cuda::Result result = driver.getFunction(&found[i], module, code.grids[i].name);
    if (result == cuda::kSuccess)
      result = driver.loadFunction(found[i]);
    if (result != cuda::kSuccess)
      return report(result, code.grids[i].name, message);
  }
  if (driver.getFunction(&copyFunction, module, "tfc_copies") != cuda::kSuccess ||
      driver.loadFunction(copyFunction) != cuda::kSuccess)
    copyFunction = nullptr;
  return TFC_OK;
}

//===- Memory -------------------------------------------------------------===//

bool Gpu::isOnDevice(const void *address) const {
  uint32_t type = 0;
  return driver.getPointerAttribute(&type, cuda::kMemoryType, asPointer(address)) ==
             cuda::kSuccess &&
         type == cuda::kDeviceMemory;
}

void *Gpu::allocate(int64_t bytes) {
  Scope scope(*this);
  cuda::Pointer address = 0;
  if (driver.allocate(&address, bytes > 0 ? bytes : 1) != cuda::kSuccess)
    return nullptr;
  return reinterpret_cast<void *>(address);
}

void Gpu::release(void *memory) {
  if (!memory)
    return;
  Scope scope(*this);
  driver.release(asPointer(memory));
}

tfc_status Gpu::copy(void *to, const void *from, uint64_t bytes, bool isToDevice,
                     Message &message) {
  if (bytes == 0)
    return TFC_OK;
  Scope scope(*this);
  cuda::Result result = isToDevice ? driver.copyToDevice(asPointer(to), from, bytes, nullptr)
                                   : driver.copyToHost(to, asPointer(from), bytes, nullptr);
  if (result == cuda::kSuccess)
    result = driver.synchronize(nullptr);
  return report(result, "a copy of a value", message);
}

void Gpu::copyOnDevice(void *to, const void *from, uint64_t bytes) {
  Scope scope(*this);
  driver.copyOnDevice(asPointer(to), asPointer(from), bytes, nullptr);
  driver.synchronize(nullptr);
}

void Gpu::clear(void *memory, uint64_t bytes) {
  Scope scope(*this);
  driver.fillBytes(asPointer(memory), 0, bytes, nullptr);
  driver.synchronize(nullptr);
}

tfc_status Gpu::copyConstants(const Allocator &allocator, const tfc_model &model, int32_t number,
                              Message &message) {
  auto paddedBytes = [](const tfc_constant_info &constant) {
    return (constant.bytes + 63) / 64 * 64;
  };
  int64_t bytes = 0;
  for (int64_t i = 0; i < model.constant_count; ++i)
    bytes += model.constants[i].device == number ? paddedBytes(model.constants[i]) : 0;
  if (!constants.reserve(allocator, model.constant_count * sizeof(void *)) ||
      !(constantMemory = allocate(bytes)))
    return TFC_OUT_OF_MEMORY;
  auto **addresses = reinterpret_cast<char **>(constants.data());
  auto *next = static_cast<char *>(constantMemory);
  for (int64_t i = 0; i < model.constant_count; ++i) {
    const tfc_constant_info &constant = model.constants[i];
    addresses[i] = constant.device == number ? next : nullptr;
    if (constant.device != number)
      continue;
    if (tfc_status status = upload(next, constant.data, constant.bytes, message))
      return status;
    next += paddedBytes(constant);
  }
  return TFC_OK;
}

bool DeviceBlock::reserve(Gpu &from, int64_t bytes) {
  if (memory && bytes <= capacity)
    return true;
  auto *larger = static_cast<char *>(from.allocate(bytes));
  if (!larger)
    return false;
  // Code may read, and drop, elements of empty tensors, which nobody writes.
  from.clear(larger, static_cast<uint64_t>(bytes));
  reset();
  gpu = &from;
  memory = larger;
  capacity = bytes;
  return true;
}

void DeviceBlock::reset() {
  if (memory)
    gpu->release(memory);
  memory = nullptr;
  capacity = 0;
}

//===- Streams ------------------------------------------------------------===//

tfc_status GpuStream::open(Gpu &of, const Allocator &allocator, void *ofCaller, Message &message) {
  gpu = &of;
  if (stream)
    return TFC_OK;
  Gpu::Scope scope(*gpu);
  if (tfc_status status = gpu->report(gpu->getDriver().createStream(&own, cuda::kNonBlockingStream),
                                      "a stream", message))
    return status;
  stream = ofCaller ? static_cast<cuda::Stream>(ofCaller) : own;
  if (work.open(*gpu, allocator, stream, own))
    return TFC_OK;
  message.add("not enough memory for the work of a GPU");
  return TFC_OUT_OF_MEMORY;
}

GpuStream::~GpuStream() {
  if (!stream)
    return;
  Gpu::Scope scope(*gpu);
  for (int32_t i = 0; i < stagingCount; ++i)
    releaseStaging(reinterpret_cast<Staging *>(stagings.data())[i]);
  if (uploads)
    gpu->getDriver().releaseHost(uploads);
  work.close();
  gpu->getDriver().destroyStream(own);
}

tfc_status GpuStream::launch(int32_t grid, int64_t threads, const int64_t *arguments, int32_t count,
                             Message &message) {
  if (threads <= 0)
    return TFC_OK;
  const tfc_grid_info &info = gpu->infoOf(grid);
  int64_t blocks = (threads - 1) / info.block + 1;
  if (blocks > INT32_MAX) {
    message.clear();
    message.add("%s: %lld threads are more than a GPU can have", info.name,
                static_cast<long long>(threads));
    return TFC_INVALID_ARGUMENT;
  }
  firstGrid = firstGrid < 0 ? grid : firstGrid;
  lastGrid = grid;
  return report(work.launch(grid, static_cast<uint32_t>(blocks), arguments, count), info.name,
                message);
}

tfc_status GpuStream::synchronize(Message &message) {
  cuda::Result result = work.submit();
  cuda::Result waited = gpu->getDriver().synchronize(stream);
  tfc_status status = report(result != cuda::kSuccess ? result : waited, "a wait", message);
  firstGrid = lastGrid = -1;
  uploading = 0;
  return status;
}

tfc_status GpuStream::read(void *to, const void *from, int64_t bytes, Message &message) {
  cuda::Result result = work.submit();
  if (result == cuda::kSuccess && bytes > 0)
    result = gpu->getDriver().copyToHost(to, asPointer(from), bytes, stream);
  if (tfc_status status = report(result, "a copy of a value", message))
    return status;
  return synchronize(message);
}

tfc_status GpuStream::report(cuda::Result result, const char *what, Message &message) {
  if (firstGrid < 0 || !Gpu::endsDevice(result))
    return gpu->report(result, what, message);
  char launches[512];
  if (firstGrid == lastGrid)
    snprintf(launches, sizeof launches, "kernel '%s'", gpu->infoOf(firstGrid).name);
  else
    snprintf(launches, sizeof launches, "a kernel between '%s' and '%s'",
             gpu->infoOf(firstGrid).name, gpu->infoOf(lastGrid).name);
  return gpu->report(result, launches, message);
}

/// Makes room for a copy in pinned memory, twice as much as before if it is full, and returns true.
/// Returns false if the copy is too large for that, there is no memory, or the device has failed.
bool GpuStream::reserveUpload(int64_t bytes, Message &message) {
  constexpr int64_t kMost = int64_t(16) << 20;
  if (bytes > kMost)
    return false;
  if (uploading + bytes <= uploadCapacity)
    return true;
  int64_t capacity =
      2 * uploadCapacity > uploading + bytes ? 2 * uploadCapacity : uploading + bytes;
  capacity = capacity < kMost ? capacity : kMost;
  if (uploading > 0 && synchronize(message) != TFC_OK)
    return false;
  if (capacity == uploadCapacity)
    return true;
  void *larger = nullptr;
  if (gpu->getDriver().allocateHost(&larger, static_cast<size_t>(capacity), 0) != cuda::kSuccess)
    return bytes <= uploadCapacity;
  if (uploads)
    gpu->getDriver().releaseHost(uploads);
  uploads = static_cast<char *>(larger);
  uploadCapacity = capacity;
  return true;
}

tfc_status GpuStream::upload(void *to, const void *from, int64_t bytes, Message &message) {
  constexpr int64_t kAlignment = 64;
  int64_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  bool isPinned = reserveUpload(padded, message);
  if (isPinned) {
    memcpy(uploads + uploading, from, static_cast<size_t>(bytes));
    from = uploads + uploading;
    uploading += padded;
  }
  cuda::Result result =
      isPinned ? work.move(GpuWork::kCopyToDevice, to, reinterpret_cast<int64_t>(from), bytes)
               : work.submit();
  if (!isPinned && result == cuda::kSuccess)
    result = gpu->getDriver().copyToDevice(asPointer(to), from, bytes, stream);
  tfc_status status = report(result, "a copy of a value", message);
  return status == TFC_OK && !isPinned ? synchronize(message) : status;
}

void GpuStream::releaseStaging(const Staging &staging) {
  if (staging.memory && staging.isOnDevice)
    gpu->release(staging.memory);
  else if (staging.memory)
    gpu->getDriver().releaseHost(staging.memory);
}

void *GpuStream::staging(const Allocator &allocator, int32_t number, int64_t bytes,
                         bool isOnDevice) {
  if (number >= stagingCount) {
    Block larger;
    int32_t count = number + 16;
    if (!larger.reserve(allocator, count * sizeof(Staging)))
      return nullptr;
    memset(static_cast<void *>(larger.data()), 0, count * sizeof(Staging));
    if (stagingCount)
      memcpy(larger.data(), stagings.data(), stagingCount * sizeof(Staging));
    stagings.swap(larger);
    stagingCount = count;
  }
  Staging &own = reinterpret_cast<Staging *>(stagings.data())[number];
  if (own.memory && own.isOnDevice == isOnDevice && bytes <= own.bytes)
    return own.memory;
  int64_t room = bytes > 64 ? bytes : 64;
  void *memory = nullptr;
  if (isOnDevice)
    memory = gpu->allocate(room);
  else if (gpu->getDriver().allocateHost(&memory, room, 0) != cuda::kSuccess)
    return nullptr;
  if (!memory)
    return nullptr;
  releaseStaging(own);
  own = {memory, room, isOnDevice};
  return memory;
}

//===- Launches -----------------------------------------------------------===//

cuda::Result Gpu::launch(cuda::Stream stream, int32_t grid, uint32_t blocks,
                         const int64_t *arguments, int32_t count) const {
  constexpr int32_t kMost = 512;
  void *parameters[kMost];
  for (int32_t i = 0; i < count; ++i)
    parameters[i] = const_cast<int64_t *>(arguments + i);
  auto function = reinterpret_cast<cuda::Function *>(functions.data())[grid];
  return driver.launch(function, blocks, 1, 1, static_cast<uint32_t>(infoOf(grid).block), 1, 1, 0,
                       stream, parameters, nullptr);
}

/// compiler/gpu/CopyKernel.cpp knows the parameters.
cuda::Result Gpu::launchCopies(cuda::Stream stream, const int64_t (*copies)[3],
                               int32_t count) const {
  constexpr int64_t kBlock = 256, kBytesOfBlock = kBlock * 16, kMostBlocks = 32;
  int64_t words[kCopies][3] = {}, bytes = 1;
  void *parameters[kCopies * 3];
  for (int32_t i = 0; i < kCopies; ++i)
    for (int32_t j = 0; j < 3; ++j) {
      parameters[3 * i + j] = &words[i][j];
      if (i < count)
        words[i][j] = copies[i][j];
    }
  for (int32_t i = 0; i < count; ++i)
    bytes = copies[i][2] > bytes ? copies[i][2] : bytes;
  int64_t blocks = (bytes + kBytesOfBlock - 1) / kBytesOfBlock;
  blocks = kCopies * (blocks < kMostBlocks ? blocks : kMostBlocks);
  return driver.launch(copyFunction, static_cast<uint32_t>(blocks), 1, 1, kBlock, 1, 1, 0, stream,
                       parameters, nullptr);
}
