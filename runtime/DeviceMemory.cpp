//===- DeviceMemory.cpp - The memory of an instance on devices ------------===//
//
// Allocates variables, arenas and chunks, in memory of the host or of a GPU, and opens the GPUs
// that have them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

using namespace tfc::runtime;

//===- Devices ------------------------------------------------------------===//

bool tfc::runtime::isGpuKind(const tfc_device_info &device) {
  return strcmp(device.kind, "gpu") == 0;
}

bool tfc::runtime::isHere(const State &state, int64_t device) {
  return !state.tasks.areUsed() || state.tasks.isHere(state.model->devices[device]);
}

/// Returns a status, with the message set, unless a device is there and its variables have values.
static tfc_status checkDevice(const State &state, int64_t device, Message &message) {
  if (!isHere(state, device)) {
    message.clear();
    message.add("is in another process, %s",
                state.tasks.nameOf(static_cast<int32_t>(state.model->devices[device].task)));
    return TFC_NO_DEVICE;
  }
  const Gpu &gpu = state.gpus[device];
  if (gpu.isUsed())
    if (tfc_status status = gpu.check(message))
      return status;
  // Relaxed: calls lock the state before they read variables.
  if (!state.lacksValues[device].load(std::memory_order_relaxed))
    return TFC_OK;
  message.clear();
  message.add("variables have no initial values, because a device that these need is not there");
  return TFC_NO_DEVICE;
}

tfc_status tfc::runtime::checkDevices(tfc_instance &handle, const tfc_entry_info &entry) {
  const State &state = *handle.state;
  const tfc_partitioning *partitioning = entry.partitioning;
  Message message;
  tfc_status status = checkDevice(state, 0, message);
  // Other processes check their own, but the initial values are computed by each alone.
  bool isInit = &entry == state.model->init;
  for (int32_t i = 0; partitioning && status == TFC_OK && i < partitioning->partition_count; ++i)
    if (isInit || state.tasks.isHere(handle.tasks, partitioning->partitions[i]))
      status = checkDevice(state, partitioning->partitions[i].device, message);
  return status ? handle.fail(status, "%s: %s", entry.name, message.c_str()) : TFC_OK;
}

tfc_status tfc::runtime::checkVariable(const State &state, int32_t variable, Message &message) {
  return checkDevice(state, state.model->variables[variable].device, message);
}

tfc_status tfc::runtime::openStreams(tfc_instance &handle, const tfc_options *options) {
  for (int32_t device = 0; device < handle.streams.size(); ++device) {
    Gpu &gpu = handle.state->gpus[device];
    Message message;
    if (!gpu.isUsed() || gpu.check(message) || !needsArena(handle, device))
      continue;
    int64_t number = handle.state->model->devices[device].index;
    void *ofCaller =
        options && number < options->gpu_stream_count ? options->gpu_streams[number] : nullptr;
    if (tfc_status status =
            handle.streams[device].open(gpu, handle.state->allocator, ofCaller, message))
      return handle.fail(status, "%s", message.c_str());
  }
  return TFC_OK;
}

//===- Feeds and fetches --------------------------------------------------===//

/// The first stream of a handle; null if it has none.
static GpuStream *findStream(tfc_instance &handle) {
  for (GpuStream &stream : handle.streams)
    if (stream.get())
      return &stream;
  return nullptr;
}

/// The room of a value on the host, which keeps the alignment of those after it.
static int64_t roomFor(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Calls `visit` for each feed and fetch, with its number among both and its bytes.
template <typename Visit>
static void visitValues(tfc_instance &handle, const tfc_entry_info &entry, const int64_t *symbols,
                        Visit visit) {
  entry.shapes(symbols, handle.dims);
  const int64_t *dims = handle.dims;
  for (int32_t i = 0; i < entry.feed_count + entry.fetch_count; ++i) {
    const tfc_value_info &value =
        i < entry.feed_count ? entry.feeds[i] : entry.fetches[i - entry.feed_count];
    visit(i, value, elementCount(dims, value.rank) * dtypeInfo(value.dtype)->bytes);
    dims += value.rank;
  }
}

tfc_status tfc::runtime::bringToHost(tfc_instance &handle, const tfc_entry_info &entry,
                                     const int64_t *symbols, const void *const *&feeds,
                                     void *const *&fetches) {
  handle.hasDeviceFeeds = handle.hasDeviceFetches = false;
  GpuStream *stream = findStream(handle);
  if (!stream)
    return TFC_OK;
  Gpu::Scope scope(stream->getGpu());
  int32_t count = entry.feed_count + entry.fetch_count;
  bool isAny = false;
  for (int32_t i = 0; i < count; ++i) {
    const void *data = i < entry.feed_count ? feeds[i] : fetches[i - entry.feed_count];
    bool isThere = stream->getGpu().isOnDevice(data);
    handle.onDevice[i] = isThere ? const_cast<void *>(data) : nullptr;
    isAny |= isThere;
  }
  if (!isAny)
    return TFC_OK;
  // Any stream of the caller may make a feed or read the old value of a fetch.
  Message message;
  tfc_status status = TFC_OK;
  for (GpuStream &each : handle.streams)
    if (each.get() && each.isOfCaller() && status == TFC_OK) {
      Gpu::Scope own(each.getGpu());
      status = each.synchronize(message);
    }
  auto hasRoom = [&](int32_t i, const tfc_value_info &value) {
    return handle.onDevice[i] && (i >= entry.feed_count || !value.on_gpu);
  };
  int64_t room = 0;
  visitValues(handle, entry, symbols, [&](int32_t i, const tfc_value_info &value, int64_t bytes) {
    room += hasRoom(i, value) ? roomFor(bytes) : 0;
  });
  if (!handle.crossing.reserve(handle.state->allocator, static_cast<size_t>(room + kArenaSlack)))
    return handle.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for feeds and fetches of a GPU",
                       entry.name);
  char *next = handle.crossing.data();
  visitValues(handle, entry, symbols, [&](int32_t i, const tfc_value_info &value, int64_t bytes) {
    bool isFeed = i < entry.feed_count;
    void *data = isFeed ? const_cast<void *>(feeds[i]) : fetches[i - entry.feed_count];
    if (hasRoom(i, value)) {
      if (isFeed && status == TFC_OK)
        status = stream->read(next, data, bytes, message);
      data = next;
      next += roomFor(bytes);
    }
    handle.hasDeviceFeeds |= isFeed && handle.onDevice[i];
    handle.hasDeviceFetches |= !isFeed && handle.onDevice[i];
    handle.pointers[i] = data;
  });
  feeds = handle.pointers;
  fetches = handle.pointers + entry.feed_count;
  return status ? handle.fail(status, "%s: %s", entry.name, message.c_str()) : TFC_OK;
}

void *tfc::runtime::findOnDevice(const tfc_instance &handle, int32_t slot, void *&onHost) {
  const tfc_entry_info &entry = *handle.entry;
  for (int32_t i = 0; handle.hasDeviceFetches && i < entry.fetch_count; ++i)
    if (entry.fetches[i].on_gpu == slot + 1) {
      onHost = handle.pointers[entry.feed_count + i];
      return handle.onDevice[entry.feed_count + i];
    }
  return nullptr;
}

tfc_status tfc::runtime::bringToDevice(tfc_instance &handle, const tfc_entry_info &entry,
                                       const int64_t *symbols) {
  if (!handle.hasDeviceFetches)
    return TFC_OK;
  GpuStream &stream = *findStream(handle);
  Gpu::Scope scope(stream.getGpu());
  Message message;
  tfc_status status = TFC_OK;
  visitValues(handle, entry, symbols, [&](int32_t i, const tfc_value_info &value, int64_t bytes) {
    bool isThere = value.on_gpu; // has come by findOnDevice
    if (i >= entry.feed_count && handle.onDevice[i] && !isThere && bytes > 0 && status == TFC_OK)
      status = stream.upload(handle.onDevice[i], handle.pointers[i], bytes, message);
  });
  if (status == TFC_OK)
    status = stream.synchronize(message);
  return status ? handle.fail(status, "%s: %s", entry.name, message.c_str()) : TFC_OK;
}

//===- Variables ----------------------------------------------------------===//

Gpu *tfc::runtime::gpuOf(const State &state, const tfc_variable_info &variable) {
  Gpu &gpu = state.gpus[variable.device];
  return gpu.isUsed() ? &gpu : nullptr;
}

bool tfc::runtime::allocateVariables(const State &state, Place place, Block &storage,
                                     void **variables) {
  const tfc_model &model = *state.model;
  auto isWanted = [&](const tfc_variable_info &variable) {
    return isHere(state, variable.device) &&
           (gpuOf(state, variable) == nullptr) == (place == Place::Host);
  };
  auto paddedBytes = [](const tfc_variable_info &variable) {
    return (variable.bytes + 63) / 64 * 64;
  };
  uint64_t bytes = 0;
  for (int32_t i = 0; i < model.variable_count; ++i)
    if (isWanted(model.variables[i]) &&
        __builtin_add_overflow(bytes, paddedBytes(model.variables[i]), &bytes))
      return false;
  if (!storage.reserve(state.allocator, bytes))
    return false;
  char *next = storage.data();
  for (int32_t i = 0; i < model.variable_count; ++i) {
    if (!isWanted(model.variables[i]))
      continue;
    variables[i] = next;
    next += paddedBytes(model.variables[i]);
  }
  return true;
}

bool tfc::runtime::openGpus(State &state) {
  const tfc_model &model = *state.model;
  Message message;
  for (int32_t device = 0; device < model.device_count; ++device)
    if (isGpuKind(model.devices[device]) && isHere(state, device) &&
        state.gpus[device].open(state.allocator, model, device, message))
      return false;
  for (int32_t i = 0; i < model.variable_count; ++i) {
    Gpu *gpu = gpuOf(state, model.variables[i]);
    if (!gpu || gpu->check(message))
      continue;
    state.variables[i] = gpu->allocate(static_cast<int64_t>(model.variables[i].bytes));
    if (!state.variables[i])
      return false;
  }
  return true;
}

void tfc::runtime::clearVariable(State &state, int32_t number) {
  const tfc_variable_info &variable = state.model->variables[number];
  if (!variable.bytes || !state.variables[number])
    return;
  if (Gpu *gpu = gpuOf(state, variable))
    gpu->clear(state.variables[number], variable.bytes);
  else
    memset(state.variables[number], 0, variable.bytes);
}

void tfc::runtime::releaseOnGpus(State &state) {
  for (int32_t i = 0; state.variables && i < state.model->variable_count; ++i)
    if (Gpu *gpu = gpuOf(state, state.model->variables[i]))
      gpu->release(state.variables[i]);
}

//===- Arenas and chunks --------------------------------------------------===//

bool tfc::runtime::reserveArena(tfc_instance &handle, int32_t device, int64_t bytes) {
  Gpu &gpu = handle.state->gpus[device];
  if (!gpu.isUsed())
    return handle.arenas[device].reserve(handle.state->allocator, bytes + kArenaSlack);
  Message message;
  if (gpu.check(message))
    return true;
  return handle.streams[device].arena.reserve(gpu, bytes + kArenaSlack);
}

int64_t tfc::runtime::chunkCount(const tfc_model &model) {
  return int64_t(model.chunk_count) * deviceCount(model);
}

void tfc::runtime::releaseChunks(tfc_instance &handle) {
  const State &state = *handle.state;
  for (int64_t i = 0; handle.chunks && i < chunkCount(*state.model); ++i) {
    Gpu &gpu = state.gpus[i / state.model->chunk_count];
    if (gpu.isUsed())
      gpu.release(handle.chunks[i].data);
    else
      state.allocator.give(handle.chunks[i].data, handle.chunks[i].bytes);
  }
}

extern "C" int32_t tfc_rt_grow(tfc_call_frame *frame, int32_t chunk, int64_t bytes) {
  tfc_instance &handle = *frame->handle;
  tfc_chunk &old = frame->chunks[chunk];
  if (bytes <= old.bytes)
    return TFC_OK;
  int64_t doubled = old.bytes > INT64_MAX / 2 ? INT64_MAX : 2 * old.bytes;
  int64_t room = bytes < doubled ? doubled : bytes < 256 ? 256 : bytes;
  const Allocator &allocator = handle.state->allocator;
  Gpu &gpu = handle.state->gpus[frame->device];
  auto *data = static_cast<char *>(gpu.isUsed() ? gpu.allocate(room) : allocator.take(room));
  if (!data)
    return handle.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for the %lld bytes of a list",
                       handle.entry->name, static_cast<long long>(room));
  if (gpu.isUsed()) {
    // Earlier work may still use the old memory.
    int32_t status = relocate(frame, data, old.data, old.bytes);
    if (status == TFC_OK)
      status = finishStream(frame);
    gpu.release(status == TFC_OK ? old.data : data);
    if (status == TFC_OK)
      old = {data, room};
    return status;
  }
  if (old.bytes)
    memcpy(data, old.data, old.bytes);
  allocator.give(old.data, old.bytes);
  old = {data, room};
  return TFC_OK;
}
