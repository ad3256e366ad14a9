//===- Instance.h - States, handles and error messages --------------------===//

#pragma once

#include "runtime/DeviceThreads.h"
#include "runtime/Gpu.h"
#include "runtime/Memory.h"
#include "runtime/Model.h"
#include "runtime/Queue.h"
#include "runtime/Rendezvous.h"
#include "runtime/SharedLock.h"
#include "runtime/Tasks.h"
#include "runtime/Threads.h"

#include <pthread.h>
#include <stdarg.h>

namespace tfc::runtime {

class Datasets;

/// A message of bounded length; longer ones are truncated.
class Message {
public:
  Message() { clear(); }
  void clear() { text[length = 0] = 0; }
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...);
  void addList(const char *format, va_list arguments);
  void addShape(const int64_t *dims, int32_t rank);
  /// Replaces the text, and returns `status`.
  __attribute__((format(printf, 3, 4))) tfc_status fail(tfc_status status, const char *format, ...);
  const char *c_str() const { return text; }

private:
  size_t length;
  char text[1024];
};

/// The state that all handles of an instance share.
struct State {
  const tfc_model *model = nullptr;
  Allocator allocator = {};
  std::atomic<int32_t> handles = 0;
  std::atomic<int32_t> programHandles = 0; // those of the program, rather than of other processes
  SharedLock lock;
  SharedLock files;           // of checkpoints that a process writes or reads alone; before `lock`
  Objects<ThreadPool> pools;  // by device
  Objects<Gpu> gpus;          // by device
  Block storage;              // every variable on the host, 64-byte aligned
  void **variables = nullptr; // into storage, or memory of a GPU; null if that is missing
  /// By device: the initial values of variables there could not be computed.
  Objects<std::atomic<bool>> lacksValues;
  Block pointers;       // the memory of `variables`
  uint64_t version = 0; // counts changes of variables; under `lock`
  Queues queues;
  Datasets *datasets = nullptr; // null for models without any
  Tasks tasks{allocator};
};

/// The most threads that read rows of a dataset ahead.
inline constexpr int32_t kMostReaderThreads = 64;

/// Create and destroy the datasets of a state. Models without any do not link them.
__attribute__((weak)) bool createDatasets(State &state, const tfc_options &options);
__attribute__((weak)) void destroyDatasets(State &state);

/// Returns true if a device is in this process.
bool isHere(const State &state, int64_t device);

/// The GPU on which a variable is, or null.
Gpu *gpuOf(const State &state, const tfc_variable_info &variable);

/// Returns a status, with the message set, unless the variable has a value that can be accessed.
tfc_status checkVariable(const State &state, int32_t variable, Message &message);

/// Opens the GPUs and allocates the variables on those that are there.
bool openGpus(State &state);
void releaseOnGpus(State &state);

/// Sets a variable to zero, if it is there.
void clearVariable(State &state, int32_t variable);

/// Allocates memory in `storage` for the variables on the host, or for those that are not, and
/// stores their addresses. `variables` has room for all; the others do not change.
enum class Place { Host, Elsewhere };
bool allocateVariables(const State &state, Place place, Block &storage, void **variables);

/// Copies a variable, from or to memory of the host. Returns a status, with the message set if it
/// is not TFC_OK.
tfc_status readVariable(State &state, int32_t variable, void *to, Message &message);
tfc_status writeVariable(State &state, int32_t variable, const void *from, Message &message);

/// Makes calls that change variables exclusive; costs nothing while there is only one handle.
class StateLock {
public:
  enum class Hold { None, Shared, Exclusive };

  StateLock(State &state, Hold hold);
  ~StateLock();
  StateLock(const StateLock &) = delete;
  StateLock &operator=(const StateLock &) = delete;

  /// Releases the lock so that others can run, and acquires it again.
  void pause();
  /// Releases the lock for good, if nothing has changed.
  void finish();
  /// Returns true if the lock is released only while the call waits.
  bool holds() const { return isHeld; }
  void resume();

private:
  State &state;
  bool isExclusive;
  bool isHeld;
};

struct Dtype {
  const char *name;        // "f32"
  const char *safetensors; // "F32"
  int32_t bytes;
};

/// Null if the number is not a dtype.
const Dtype *dtypeInfo(int32_t dtype);
const char *dtypeName(int32_t dtype);

/// Bytes after the last value of an arena: empty tensors have their address there, and code may
/// read the first of them.
constexpr int64_t kArenaSlack = 64;

/// Returns true if an arena can have this many bytes; -1 means that the number overflows.
constexpr bool isArenaSize(int64_t bytes) { return bytes >= 0 && bytes <= INT64_MAX - kArenaSlack; }

/// The product of `dims`, or -1 if one is negative or the product does not fit.
int64_t elementCount(const int64_t *dims, int32_t rank);

/// Returns false if a byte of memory of dtype bool is neither 0 nor 1.
bool isValidBool(const void *data, uint64_t bytes);

} // namespace tfc::runtime

/// A handle: the data of a call, in addition to the shared state.
struct tfc_instance {
  tfc::runtime::State *state = nullptr;
  const tfc_entry_info *entry = nullptr;   // of the last call, for messages
  bool hasFound = false;                   // the last function was a call that has succeeded
  tfc::runtime::StateLock *lock = nullptr; // of the running call
  int64_t queueEffects = 0;                // of this call so far; under the queues' mutex
  tfc::runtime::CallWaits waits;           // of this call; under the queues' mutex
  std::atomic<bool> cancelled = false;     // calls no longer wait
  tfc::runtime::Objects<tfc::runtime::Block> arenas;      // by device, those on the host
  tfc::runtime::Objects<tfc::runtime::GpuStream> streams; // by device

  tfc_chunk *chunks = nullptr; // of the model's chunk_count, for each device; in `scratch`

  // Memory for the values of a call, sized for the largest entry.
  tfc::runtime::Block scratch;
  int64_t *dims = nullptr;
  int64_t *symbols = nullptr;
  int64_t *found = nullptr;
  void **pointers = nullptr;
  void **onDevice = nullptr; // of a call's feeds, then its fetches: their data on a GPU, or null

  // For feeds and fetches in memory of a GPU: their copies on the host.
  tfc::runtime::Block crossing;
  bool hasDeviceFeeds = false, hasDeviceFetches = false;

  // For entries on several devices.
  tfc::runtime::Rendezvous rendezvous;
  tfc::runtime::DeviceThreads devices;
  tfc::runtime::TaskCall tasks;

  tfc::runtime::Message message;

  /// Sets the message and returns `status`. In a call on several devices it aborts the call on all
  /// of them; the message is that of the first that fails.
  __attribute__((format(printf, 3, 4))) tfc_status fail(tfc_status status, const char *format, ...);
};

namespace tfc::runtime {

/// Checks the bounds of `symbols`; the message names the one that violates them.
tfc_status checkSymbols(tfc_instance &instance, const tfc_entry_info &entry,
                        const int64_t *symbols);

/// Returns true if calls of a handle can have a partition on a device.
bool needsArena(const tfc_instance &handle, int32_t device);
/// Ensures that a device has an arena of this size for the calls of a handle; returns false if
/// there is no memory. Missing devices need none.
bool reserveArena(tfc_instance &handle, int32_t device, int64_t bytes);

/// Opens the streams of a handle that are not yet open, on the GPUs that are there. Options, if not
/// null, may have streams of the caller.
tfc_status openStreams(tfc_instance &handle, const tfc_options *options);

/// Replaces data of feeds and fetches in memory of a GPU by memory of the host, and copies feeds
/// that the host reads; those that only GPUs read stay where they are.
tfc_status bringToHost(tfc_instance &handle, const tfc_entry_info &entry, const int64_t *symbols,
                       const void *const *&feeds, void *const *&fetches);
/// Returns where the fetch in memory of a GPU belongs that comes by a slot, and sets its place on
/// the host, which nobody reads; null if there is none.
void *findOnDevice(const tfc_instance &handle, int32_t slot, void *&onHost);
/// Copies other such fetches to where they belong, after a call.
tfc_status bringToDevice(tfc_instance &handle, const tfc_entry_info &entry, const int64_t *symbols);

/// Creates a handle for the calls of a handle of another process; null if there is no memory. It
/// has no arenas yet.
tfc_instance *createServed(State *state, int32_t leader, uint32_t number);
/// Reserves the memory for calls of a handle.
tfc_status reserveRoom(tfc_instance &handle);
/// Frees a handle, and the state with the last one.
void destroyHandle(tfc_instance *handle);

/// Releases the memory of lists and tapes.
void releaseChunks(tfc_instance &handle);

/// The chunks of a handle on all devices.
int64_t chunkCount(const tfc_model &model);

/// Returns a status, with the message set, unless the devices of an entry are there and the
/// variables on them have values.
tfc_status checkDevices(tfc_instance &handle, const tfc_entry_info &entry);

/// Returns true for devices that the runtime calls by the CUDA driver.
bool isGpuKind(const tfc_device_info &device);

/// The devices of a model, at least 1.
int32_t deviceCount(const tfc_model &model);

/// The bytes of arena that a call of the entry needs on a device.
int64_t arenaBytes(const tfc_entry_info &entry, int32_t device, const int64_t *symbols);

/// Runs the partitions of a call, as tfc_rt_run_partitions does. Only the initial values may be
/// computed without a device that they need: `lacksValues` says then which partitions could not
/// end.
int32_t runPartitions(tfc_call_frame &frame, const tfc_partitioning &partitioning);

/// Sends a message of a partition, as tfc_rt_send does.
int32_t sendMessage(tfc_call_frame &frame, int32_t slot, const void *value, int64_t bytes);

/// Runs an entry whose symbols are within their bounds.
tfc_status runEntry(tfc_instance &instance, const tfc_entry_info &entry, const int64_t *symbols,
                    const void *const *feeds, void *const *fetches);

} // namespace tfc::runtime
