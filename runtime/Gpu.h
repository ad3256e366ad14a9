//===- Gpu.h - GPUs: their memory, code and streams -----------------------===//

#pragma once

#include "runtime/CudaDriver.h"
#include "runtime/GpuWork.h"
#include "runtime/Memory.h"
#include "runtime/Model.h"

#include <atomic>

namespace tfc::runtime {

class Message;

/// A GPU that a model uses: the functions of the model on it, and memory that all handles share.
///
/// Without a driver or a device it is missing, and after an error from which the driver does not
/// recover it is lost; `check` says so. Functions that return a status set the message if it is not
/// TFC_OK. All are thread-safe, except for `open`.
class Gpu {
public:
  Gpu() = default;
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;
  ~Gpu();

  /// Loads the image of a model and copies the constants of a device, both by its number in the
  /// model. Fails only if there is no memory.
  tfc_status open(const Allocator &allocator, const tfc_model &model, int32_t device,
                  Message &message);

  /// True for devices that are GPUs, also if they are missing.
  bool isUsed() const { return used; }
  /// Returns TFC_NO_DEVICE or TFC_DEVICE_LOST if nothing can run.
  tfc_status check(Message &message) const;

  /// Makes calls of the driver on this thread refer to the device, which the functions below do by
  /// themselves.
  void enter() const;

  /// Does so in a scope, for threads that do not belong to the runtime.
  class Scope {
  public:
    explicit Scope(const Gpu &gpu) : Scope(&gpu) {}
    explicit Scope(const Gpu *gpu); // may be null
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    const Gpu *gpu;
    cuda::Context previous = nullptr;
  };

  const cuda::Driver &getDriver() const { return driver; }
  /// Turns the result of a call of the driver, which did `what`, into a status.
  tfc_status report(cuda::Result result, const char *what, Message &message);
  /// Returns true for errors from which the driver does not recover.
  static bool endsDevice(cuda::Result result);

  /// Returns true for addresses in memory of a GPU.
  bool isOnDevice(const void *address) const;

  /// Memory of the device; null if there is none.
  void *allocate(int64_t bytes);
  void release(void *memory);

  tfc_status upload(void *to, const void *from, uint64_t bytes, Message &message) {
    return copy(to, from, bytes, /*isToDevice=*/true, message);
  }
  /// Copies on the device; an error shows in later calls.
  void copyOnDevice(void *to, const void *from, uint64_t bytes);
  /// Sets memory to zero; an error shows in later calls.
  void clear(void *memory, uint64_t bytes);
  tfc_status download(void *to, const void *from, uint64_t bytes, Message &message) {
    return copy(to, from, bytes, /*isToDevice=*/false, message);
  }

  /// Launches blocks of a grid, on the thread of a partition.
  cuda::Result launch(cuda::Stream stream, int32_t grid, uint32_t blocks, const int64_t *arguments,
                      int32_t count) const;
  /// The most copies that are one launch.
  static constexpr int32_t kCopies = 8;
  /// Makes copies on the device at once, each with the address to and from which and the bytes;
  /// `hasCopies` says whether the image has the function for that.
  cuda::Result launchCopies(cuda::Stream stream, const int64_t (*copies)[3], int32_t count) const;
  bool hasCopies() const { return copyFunction; }
  const tfc_grid_info &infoOf(int32_t grid) const { return image->grids[grid]; }
  /// The address of the copy of a constant, by its number in the model.
  const void *constant(int32_t number) const {
    return reinterpret_cast<void *const *>(constants.data())[number];
  }

private:
  bool find(int32_t number);
  tfc_status load(const Allocator &allocator, Message &message);
  tfc_status loadCode(Message &message);
  tfc_status copyConstants(const Allocator &allocator, const tfc_model &model, int32_t device,
                           Message &message);
  tfc_status copy(void *to, const void *from, uint64_t bytes, bool isToDevice, Message &message);

  bool used = false;
  bool isMissing = false;
  std::atomic<bool> isLost = false;
  char reason[256] = {}; // why it is missing
  cuda::Driver driver;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Module module = nullptr;
  const tfc_image_info *image = nullptr; // null without kernels
  Block functions;                       // cuda::Function, by grid
  cuda::Function copyFunction = nullptr;
  Block constants; // addresses, by number; null for those of other devices
  void *constantMemory = nullptr;
};

/// Returns the binary of an image that runs best on a GPU of a compute capability, in tenths; null
/// if none does.
const tfc_binary_info *findBinary(const tfc_image_info &image, int64_t capability);

/// Gives the work of a partition on a GPU to the driver, before its thread waits for others.
/// Returns a status, with the message set if it is not TFC_OK.
int32_t submitWork(tfc_call_frame *frame);

/// Copies memory of a GPU of which some has no value yet, or that another GPU may have. Returns a
/// status, with the message set if it is not TFC_OK.
int32_t relocate(tfc_call_frame *frame, void *to, const void *from, int64_t bytes);

/// Waits for the work of a partition on a GPU. Returns a status, with the message set if it is not
/// TFC_OK.
int32_t finishStream(tfc_call_frame *frame);

/// Memory of a device, with the interface of Block.
class DeviceBlock {
public:
  DeviceBlock() = default;
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;
  ~DeviceBlock() { reset(); }

  bool reserve(Gpu &gpu, int64_t bytes);
  void reset();
  char *data() const { return memory; }

private:
  Gpu *gpu = nullptr;
  char *memory = nullptr;
  int64_t capacity = 0;
};

/// The work of a handle on a GPU: a stream, and memory for its calls.
class GpuStream {
public:
  GpuStream() = default;
  GpuStream(const GpuStream &) = delete;
  GpuStream &operator=(const GpuStream &) = delete;
  ~GpuStream();

  /// Creates the stream, once, or takes that of the caller.
  tfc_status open(Gpu &gpu, const Allocator &allocator, void *ofCaller, Message &message);
  bool isOfCaller() const { return stream != own; }

  Gpu &getGpu() const { return *gpu; }
  cuda::Stream get() const { return stream; }

  // The functions below are for the thread of a partition.

  // Work is added to what the driver gets when the thread waits, or when there is enough of it.

  /// Launches a grid, unless it has no threads.
  tfc_status launch(int32_t grid, int64_t threads, const int64_t *arguments, int32_t count,
                    Message &message);
  GpuWork &getWork() { return work; }
  /// Gives the work so far to the driver.
  tfc_status submit(Message &message) { return report(work.submit(), "a launch", message); }
  /// Waits for everything that was added.
  tfc_status synchronize(Message &message);
  /// Copies to the host, and waits.
  tfc_status read(void *to, const void *from, int64_t bytes, Message &message);
  /// Turns the result of a call of the driver into a status. Errors of the device belong to
  /// launches since the last wait rather than to this call.
  tfc_status report(cuda::Result result, const char *what, Message &message);

  /// Begins to copy from memory of the host, which may change as soon as this returns.
  tfc_status upload(void *to, const void *from, int64_t bytes, Message &message);

  /// Returns memory for a message, pinned or of the device; null if there is none. `number` counts
  /// slots and their buffers.
  void *staging(const Allocator &allocator, int32_t number, int64_t bytes, bool isOnDevice);

  DeviceBlock arena;

private:
  struct Staging {
    void *memory;
    int64_t bytes;
    bool isOnDevice;
  };

  Gpu *gpu = nullptr;
  cuda::Stream stream = nullptr, own = nullptr; // where work goes; of this handle
  GpuWork work;
  int32_t firstGrid = -1, lastGrid = -1; // launched since the last wait
  Block stagings;
  int32_t stagingCount = 0;
  // Pinned memory, of which the first bytes are on their way to the device since the last wait.
  char *uploads = nullptr;
  int64_t uploadCapacity = 0, uploading = 0;

  void releaseStaging(const Staging &staging);
  bool reserveUpload(int64_t bytes, Message &message);
};

} // namespace tfc::runtime
