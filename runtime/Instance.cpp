//===- Instance.cpp - Creating, sharing and destroying instances ----------===//
//
// Creates, forks and destroys instances, and allocates the variables, arenas and scratch memory
// that calls use. Entries run in Call.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

#include "runtime/Cpu.h"
#include "runtime/DeviceName.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

using namespace tfc::runtime;

/// The message of the last failed `create`, for which there is no instance.
static pthread_mutex_t createMutex = PTHREAD_MUTEX_INITIALIZER;
static Message createMessage;

__attribute__((format(printf, 2, 3))) static tfc_status failCreate(tfc_status status,
                                                                   const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&createMutex);
  createMessage.clear();
  createMessage.addList(format, arguments);
  pthread_mutex_unlock(&createMutex);
  va_end(arguments);
  return status;
}

//===- Options ------------------------------------------------------------===//

/// Large blocks consist of huge pages where the system has them: the processor then translates
/// fewer addresses, and their first use takes fewer page faults.
static void *allocateByMalloc(void *, size_t bytes, size_t alignment) {
  constexpr size_t kHugePage = size_t(2) << 20;
  bool isLarge = bytes >= 2 * kHugePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, isLarge ? kHugePage : alignment, bytes) != 0)
    return nullptr;
#ifdef MADV_HUGEPAGE
  if (isLarge)
    madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE); // ordinary pages if it fails
#endif
  return memory;
}

static void releaseByFree(void *, void *memory, size_t) { free(memory); }

Allocator tfc::runtime::defaultAllocator() { return {allocateByMalloc, releaseByFree, nullptr}; }

/// Copies the options of a caller whose tfc_options may be shorter or longer than ours.
static tfc_status readOptions(const tfc_options *given, tfc_options &options) {
  options = {};
  if (!given)
    return TFC_OK;
  if (given->size < offsetof(tfc_options, allocate))
    return failCreate(TFC_ABI_MISMATCH, "tfc_options.size is %u, but expected sizeof(tfc_options)",
                      given->size);
  size_t known = given->size < sizeof(options) ? given->size : sizeof(options);
  memcpy(&options, given, known);
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = known; i < given->size; ++i)
    if (bytes[i])
      return failCreate(TFC_ABI_MISMATCH, "tfc_options has a field that this runtime lacks");
  if (options.threads < 0)
    return failCreate(TFC_INVALID_ARGUMENT, "tfc_options.threads is %d, but expected 0 or more",
                      options.threads);
  if (options.reader_threads < 0 || options.reader_threads > kMostReaderThreads)
    return failCreate(TFC_INVALID_ARGUMENT,
                      "tfc_options.reader_threads is %d, but expected 0 to %d",
                      options.reader_threads, kMostReaderThreads);
  if (!options.allocate != !options.release)
    return failCreate(TFC_INVALID_ARGUMENT,
                      "tfc_options has one of allocate and release, but expected both");
  if (options.device_count < 0 || (options.device_count > 0 && !options.devices))
    return failCreate(TFC_INVALID_ARGUMENT,
                      "tfc_options.device_count is %lld, but expected the length of devices",
                      static_cast<long long>(options.device_count));
  if (options.gpu_stream_count < 0 || (options.gpu_stream_count > 0 && !options.gpu_streams))
    return failCreate(
        TFC_INVALID_ARGUMENT,
        "tfc_options.gpu_stream_count is %lld, but expected the length of gpu_streams",
        static_cast<long long>(options.gpu_stream_count));
  return TFC_OK;
}

static tfc_status checkModel(const tfc_model *model) {
  if (!model)
    return failCreate(TFC_INVALID_ARGUMENT, "the model is null");
  if (model->abi_version != TFC_ABI_VERSION)
    return failCreate(TFC_ABI_MISMATCH, "%s has ABI version %d, but this runtime has %d",
                      model->name, model->abi_version, TFC_ABI_VERSION);
  char missing[32];
  if (findMissingFeature(model->features, missing, sizeof(missing)))
    return failCreate(TFC_UNSUPPORTED_CPU,
                      "%s was compiled for %s and needs '%s', which this processor lacks",
                      model->name, model->cpu ? model->cpu : "another processor", missing);
  return TFC_OK;
}

//===- Devices ------------------------------------------------------------===//

int32_t tfc::runtime::deviceCount(const tfc_model &model) {
  return model.device_count > 1 ? static_cast<int32_t>(model.device_count) : 1;
}

int64_t tfc::runtime::arenaBytes(const tfc_entry_info &entry, int32_t device,
                                 const int64_t *symbols) {
  if (device == 0)
    return entry.arena_bytes(symbols);
  const tfc_partitioning *partitioning = entry.partitioning;
  for (int32_t i = 0; partitioning && i < partitioning->partition_count; ++i)
    if (partitioning->partitions[i].device == device)
      return partitioning->partitions[i].arena_bytes(symbols);
  return 0;
}

static DeviceName nameOf(const char *text) {
  DeviceName name;
  name.parse(text);
  return name;
}

static const tfc_device_options *findOptions(const tfc_device_info &device,
                                             const tfc_options &options) {
  for (int64_t i = 0; options.devices && i < options.device_count; ++i)
    if (nameOf(options.devices[i].name) == nameOf(device.name))
      return &options.devices[i];
  return nullptr;
}

/// Checks a device of the options; those before it have been checked.
static tfc_status checkDevice(const tfc_options &options, int64_t number) {
  const tfc_device_options &device = options.devices[number];
  if (!device.name)
    return failCreate(TFC_INVALID_ARGUMENT, "the name of device %lld in tfc_options is null",
                      static_cast<long long>(number));
  if (DeviceName name; !name.parse(device.name))
    return failCreate(TFC_INVALID_ARGUMENT,
                      "device %lld in tfc_options is '%s', but expected a name such as 'cpu:1'",
                      static_cast<long long>(number), device.name);
  if (device.threads < 0)
    return failCreate(TFC_INVALID_ARGUMENT,
                      "device '%s' in tfc_options has %d threads, but expected 0 or more",
                      device.name, device.threads);
  if (device.reserved != 0)
    return failCreate(TFC_INVALID_ARGUMENT,
                      "device '%s' in tfc_options has %d as 'reserved', but expected 0",
                      device.name, device.reserved);
  for (int64_t i = 0; i < number; ++i)
    if (nameOf(options.devices[i].name) == nameOf(device.name))
      return failCreate(TFC_INVALID_ARGUMENT, "device '%s' is twice in tfc_options", device.name);
  return TFC_OK;
}

static tfc_status checkDevices(const tfc_model &model, const tfc_options &options) {
  for (int64_t i = 0; options.devices && i < options.device_count; ++i)
    if (tfc_status status = checkDevice(options, i))
      return status;
  for (int64_t i = 1; i < model.device_count; ++i) {
    const tfc_device_info &device = model.devices[i];
    // Calls find out whether a GPU is there.
    bool isElsewhere =
        options.transport && device.task >= 0 && device.task != options.transport->task;
    bool isThere =
        isElsewhere || isGpuKind(device) ||
        (strcmp(device.kind, "cpu") == 0 && (!options.devices || findOptions(device, options)));
    if (!isThere)
      return failCreate(TFC_NO_DEVICE, "%s needs the device %s, which is not there", model.name,
                        device.name);
  }
  return TFC_OK;
}

/// The threads of a device: its own number, or that of all devices, or an equal share of the
/// processors. Only CPUs have threads besides the one that runs their partition.
static int32_t threadsOf(const State &state, int32_t device, const tfc_options &options) {
  const tfc_model &model = *state.model;
  auto hasThreads = [&](int32_t number) {
    return isHere(state, number) && !isGpuKind(model.devices[number]);
  };
  if (model.device_count && !hasThreads(device))
    return 1;
  const tfc_device_options *own =
      model.device_count ? findOptions(model.devices[device], options) : nullptr;
  if (own && own->threads)
    return own->threads;
  if (options.threads)
    return options.threads;
  int32_t sharers = deviceCount(model);
  for (int32_t i = 0; i < model.device_count; ++i)
    sharers -= !hasThreads(i);
  int32_t share = availableProcessors() / sharers;
  return share < 1 ? 1 : share;
}

//===- States -------------------------------------------------------------===//

StateLock::StateLock(State &state, Hold hold)
    : state(state), isExclusive(hold == Hold::Exclusive),
      isHeld(hold != Hold::None &&
             (state.tasks.areAlone() || state.handles.load(std::memory_order_acquire) != 1)) {
  resume();
}

StateLock::~StateLock() {
  if (isHeld && isExclusive)
    ++state.version;
  pause();
}

void StateLock::pause() {
  if (isHeld)
    state.lock.release(isExclusive);
}

void StateLock::finish() {
  pause();
  isHeld = false;
}

void StateLock::resume() {
  if (isHeld)
    state.lock.acquire(isExclusive);
}

static bool startPools(State &state, const tfc_options &options) {
  const tfc_model &model = *state.model;
  if (!state.pools.create(state.allocator, deviceCount(model)))
    return false;
  for (int32_t device = 0; device < state.pools.size(); ++device)
    if (!state.pools[device].initialise(state.allocator, options,
                                        threadsOf(state, device, options)))
      return false;
  return true;
}

static bool reserveState(State &state, const tfc_options &options) {
  const tfc_model &model = *state.model;
  int32_t devices = deviceCount(model);
  if (model.dataset_count > 0 && !(createDatasets && createDatasets(state, options)))
    return false;
  if (!startPools(state, options) || !state.gpus.create(state.allocator, devices) ||
      !state.lacksValues.create(state.allocator, devices) ||
      !state.queues.initialise(state.allocator, model, state.handles) ||
      !state.pointers.reserve(state.allocator, model.variable_count * sizeof(void *)))
    return false;
  state.variables = reinterpret_cast<void **>(state.pointers.data());
  if (model.variable_count)
    memset(static_cast<void *>(state.variables), 0, model.variable_count * sizeof(void *));
  if (!openGpus(state) || !allocateVariables(state, Place::Host, state.storage, state.variables))
    return false;
  state.tasks.useGpus();
  // Entries of an imported graph may read variables before an initializing entry has set them.
  for (int32_t i = 0; !model.init && i < model.variable_count; ++i)
    clearVariable(state, i);
  return true;
}

static void destroyState(State *state) {
  for (ThreadPool &pool : state->pools)
    pool.finish();
  state->tasks.detach(); // its thread wakes waits at queues
  state->queues.finish();
  if (destroyDatasets)
    destroyDatasets(*state);
  releaseOnGpus(*state);
  Allocator allocator = state->allocator;
  state->~State();
  allocator.give(state, sizeof(State));
}

static tfc_status failCreateForMemory(const tfc_model &model) {
  return failCreate(TFC_OUT_OF_MEMORY, "not enough memory for the variables and queues of %s",
                    model.name);
}

/// Sets `state` unless it fails.
static tfc_status createState(const tfc_model *model, const Allocator &allocator,
                              const tfc_options &options, State *&state) {
  void *memory = allocator.take(sizeof(State));
  if (!memory)
    return failCreateForMemory(*model);
  auto *created = new (memory) State;
  created->model = model;
  created->allocator = allocator;
  Message message;
  tfc_status status = created->tasks.attach(*created, options, message);
  if (status)
    failCreate(status, "%s", message.c_str());
  else if (!reserveState(*created, options))
    status = failCreateForMemory(*model);
  if (status)
    destroyState(created);
  else
    state = created;
  return status;
}

//===- Handles ------------------------------------------------------------===//

namespace {
/// The memory that a handle needs for calls by name: the maximum over all entries.
struct Room {
  int64_t dims = 0;
  int64_t symbols = 0;
  int64_t found = 0;
  int64_t values = 0;
};
} // namespace

static void includeCounts(Room &room, const tfc_entry_info &entry) {
  int64_t dims = 0;
  for (int32_t i = 0; i < entry.feed_count; ++i)
    dims += entry.feeds[i].rank;
  for (int32_t i = 0; i < entry.fetch_count; ++i)
    dims += entry.fetches[i].rank;
  int64_t values = entry.feed_count + entry.fetch_count;
  room.dims = dims > room.dims ? dims : room.dims;
  room.symbols = entry.symbol_count > room.symbols ? entry.symbol_count : room.symbols;
  room.found = entry.found_count > room.found ? entry.found_count : room.found;
  room.values = values > room.values ? values : room.values;
}

static bool reserveScratch(tfc_instance &handle) {
  const tfc_model &model = *handle.state->model;
  Room room;
  for (int32_t i = 0; i < model.entry_count; ++i)
    includeCounts(room, model.entries[i]);
  size_t chunkBytes = chunkCount(model) * sizeof(tfc_chunk);
  size_t bytes = chunkBytes + (room.dims + room.symbols + room.found) * sizeof(int64_t) +
                 2 * room.values * sizeof(void *);
  if (!handle.arenas.create(handle.state->allocator, deviceCount(model)) ||
      !handle.streams.create(handle.state->allocator, deviceCount(model)) ||
      !handle.scratch.reserve(handle.state->allocator, bytes))
    return false;
  handle.chunks = reinterpret_cast<tfc_chunk *>(handle.scratch.data());
  memset(static_cast<void *>(handle.chunks), 0, chunkBytes);
  handle.dims = reinterpret_cast<int64_t *>(handle.scratch.data() + chunkBytes);
  handle.symbols = handle.dims + room.dims;
  handle.found = handle.symbols + room.symbols;
  handle.pointers = reinterpret_cast<void **>(handle.found + room.found);
  handle.onDevice = handle.pointers + room.values;
  return handle.state->tasks.add(handle);
}

/// Handles for calls of other processes have no part on the device of the caller.
bool tfc::runtime::needsArena(const tfc_instance &handle, int32_t device) {
  const State &state = *handle.state;
  return isHere(state, device) && (!state.tasks.areAlone() ||
                                   state.tasks.isUsed(handle.tasks, state.model->devices[device]));
}

/// Reserves what all entries need on a device. Sizes without a bound count as their smallest value;
/// calls grow the arena for larger ones.
static tfc_status reserveArenas(tfc_instance &handle, int32_t device) {
  const tfc_model &model = *handle.state->model;
  int64_t most = 0;
  for (int32_t i = 0; i < model.entry_count; ++i) {
    const tfc_entry_info &entry = model.entries[i];
    for (int32_t j = 0; j < entry.symbol_count; ++j) {
      const tfc_symbol_info &symbol = entry.symbols[j];
      handle.symbols[j] = symbol.upper < 0 ? symbol.lower : symbol.upper;
    }
    int64_t bytes = arenaBytes(entry, device, handle.symbols);
    if (!isArenaSize(bytes))
      return handle.fail(TFC_OUT_OF_MEMORY, "%s needs more memory than can be addressed",
                         entry.name);
    most = bytes > most ? bytes : most;
  }
  if (reserveArena(handle, device, most))
    return TFC_OK;
  return handle.fail(TFC_OUT_OF_MEMORY, "not enough memory for the %lld bytes of the arena",
                     static_cast<long long>(most));
}

tfc_status tfc::runtime::reserveRoom(tfc_instance &handle) {
  if (!handle.scratch.data() && !reserveScratch(handle))
    return handle.fail(TFC_OUT_OF_MEMORY, "not enough memory for an instance of %s",
                       handle.state->model->name);
  if (tfc_status status = openStreams(handle, nullptr))
    return status;
  for (int32_t device = 0; device < handle.arenas.size(); ++device)
    if (needsArena(handle, device))
      if (tfc_status status = reserveArenas(handle, device))
        return status;
  return TFC_OK;
}

static tfc_instance *createHandle(State *state) {
  void *memory = state->allocator.take(sizeof(tfc_instance));
  if (!memory)
    return nullptr;
  auto *handle = new (memory) tfc_instance;
  handle->state = state;
  state->handles.fetch_add(1, std::memory_order_acq_rel);
  return handle;
}

static tfc_instance *createOfProgram(State *state) {
  tfc_instance *handle = createHandle(state);
  if (!handle)
    return nullptr;
  state->tasks.number(*handle);
  state->programHandles.fetch_add(1, std::memory_order_acq_rel);
  return handle;
}

tfc_instance *tfc::runtime::createServed(State *state, int32_t leader, uint32_t number) {
  tfc_instance *handle = createHandle(state);
  if (handle) {
    handle->tasks.leader = leader;
    handle->tasks.handle = number;
  }
  return handle;
}

/// Sets the initial values of the variables.
static tfc_status runInit(tfc_instance &handle, const tfc_entry_info &init) {
  // Without a device of a partition only the others run. They would wait for its checks.
  State &state = *handle.state;
  bool isMissing = checkDevices(handle, init) != TFC_OK;
  handle.message.clear();
  for (int32_t i = 0; isMissing && i < state.model->variable_count; ++i)
    clearVariable(state, i);
  if (isMissing && init.partitioning->commits) {
    // Relaxed: no other thread has the handle.
    for (std::atomic<bool> &lacks : state.lacksValues)
      lacks.store(true, std::memory_order_relaxed);
    return TFC_OK;
  }
  for (int32_t device = 0; device < handle.arenas.size(); ++device) {
    if (!isHere(state, device))
      continue;
    int64_t bytes = arenaBytes(init, device, nullptr);
    if (!isArenaSize(bytes) || !reserveArena(handle, device, bytes))
      return handle.fail(TFC_OUT_OF_MEMORY,
                         "not enough memory for the %lld bytes of the initial values",
                         static_cast<long long>(bytes));
  }
  tfc_status status = runEntry(handle, init, nullptr, nullptr, nullptr);
  // The initial values may need more memory than any later call.
  for (Block &arena : handle.arenas)
    arena.reset();
  for (GpuStream &stream : handle.streams)
    stream.arena.reset();
  return status;
}

static tfc_status initialise(tfc_instance &handle, const tfc_options &options) {
  const tfc_model &model = *handle.state->model;
  if (!reserveScratch(handle))
    return handle.fail(TFC_OUT_OF_MEMORY, "not enough memory for an instance of %s", model.name);
  if (tfc_status status = openStreams(handle, &options))
    return status;
  if (model.init)
    if (tfc_status status = runInit(handle, *model.init))
      return status;
  return reserveRoom(handle);
}

extern "C" tfc_status tfc_instance_create(const tfc_model *model, const tfc_options *given,
                                          tfc_instance **out) {
  if (!out)
    return failCreate(TFC_INVALID_ARGUMENT, "the pointer for the instance is null");
  *out = nullptr;
  tfc_options options;
  if (tfc_status status = readOptions(given, options))
    return status;
  if (tfc_status status = checkModel(model))
    return status;
  if (tfc_status status = checkDevices(*model, options))
    return status;
  Allocator allocator = defaultAllocator();
  if (options.allocate)
    allocator = {options.allocate, options.release, options.allocator_context};

  State *state = nullptr;
  if (tfc_status status = createState(model, allocator, options, state))
    return status;
  tfc_instance *handle = createOfProgram(state);
  if (!handle) {
    destroyState(state);
    return failCreateForMemory(*model);
  }
  if (tfc_status status = initialise(*handle, options)) {
    failCreate(status, "%s", handle->message.c_str());
    tfc_instance_destroy(handle);
    return status;
  }
  state->tasks.open();
  *out = handle;
  return TFC_OK;
}

extern "C" tfc_status tfc_instance_fork(tfc_instance *instance, tfc_instance **out) {
  if (out)
    *out = nullptr;
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  if (!out)
    return instance->fail(TFC_INVALID_ARGUMENT, "the pointer for the instance is null");
  tfc_instance *handle = createOfProgram(instance->state);
  if (!handle)
    return instance->fail(TFC_OUT_OF_MEMORY, "not enough memory for another handle");
  if (tfc_status status = reserveRoom(*handle)) {
    instance->fail(status, "%s", handle->message.c_str());
    tfc_instance_destroy(handle);
    return status;
  }
  *out = handle;
  return TFC_OK;
}

void tfc::runtime::destroyHandle(tfc_instance *handle) {
  State *state = handle->state;
  Allocator allocator = state->allocator;
  // If another process may still read its data, it remains.
  if (state->tasks.remove(*handle)) {
    releaseChunks(*handle);
    handle->~tfc_instance();
    allocator.give(handle, sizeof(tfc_instance));
  }
  // Calls that wait at a queue may no longer have a handle that can end their wait.
  bool isLast = state->queues.change(
      [&] { return state->handles.fetch_sub(1, std::memory_order_acq_rel) == 1; });
  if (isLast)
    destroyState(state);
}

extern "C" void tfc_instance_destroy(tfc_instance *instance) {
  if (!instance)
    return;
  State *state = instance->state;
  if (state->programHandles.fetch_sub(1, std::memory_order_acq_rel) == 1)
    state->tasks.close(*instance);
  destroyHandle(instance);
}

extern "C" const char *tfc_instance_message(const tfc_instance *instance) {
  return instance ? instance->message.c_str() : createMessage.c_str();
}
