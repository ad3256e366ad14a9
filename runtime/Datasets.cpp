//===- Datasets.cpp - Reading datasets ahead ------------------------------===//
//
// Shares the files of datasets among calls, and reads the rows ahead that calls ask for. Only
// models with datasets link this file.
//
//===----------------------------------------------------------------------===//

#include "runtime/Datasets.h"
#include "runtime/FloatMode.h"
#include "runtime/MutexLock.h"
#include "runtime/Threads.h"

using namespace tfc::runtime;

Dataset::Dataset(const Allocator &allocator, const tfc_dataset_info &info, int32_t threads)
    : allocator(allocator), info(info), rowBytes(bytesOfRow(info)), wantedThreads(threads) {
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&changed, nullptr);
}

Dataset::~Dataset() {
  pthread_mutex_lock(&mutex);
  isStopping = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (int32_t i = 0; i < threadCount; ++i)
    pthread_join(threads[i], nullptr);
  for (Slot &slot : slots)
    if (slot.state != Slot::Free)
      release(slot);
  release(opened);
  pthread_cond_destroy(&changed);
  pthread_mutex_destroy(&mutex);
}

//===- Files --------------------------------------------------------------===//

/// Null if the files cannot be opened.
Dataset::Opened *Dataset::create(const char *const *paths, int64_t pathCount, tfc_status &status,
                                 Message &message) {
  void *memory = allocator.take(sizeof(Opened));
  if (!memory) {
    status = message.fail(TFC_OUT_OF_MEMORY, "not enough memory");
    return nullptr;
  }
  auto *created = new (memory) Opened{{allocator, info}};
  status = created->rows.open(paths, pathCount, message);
  if (status == TFC_OK)
    return created;
  release(created);
  return nullptr;
}

void Dataset::release(Opened *shared) {
  if (!shared || --shared->users > 0)
    return;
  shared->~Opened();
  allocator.give(shared, sizeof(Opened));
}

Dataset::Opened *Dataset::share(tfc_status &status, Message &message) {
  if (!opened)
    opened = create(info.paths, info.path_count, status, message);
  if (opened)
    ++opened->users;
  return opened;
}

tfc_status Dataset::open(const char *const *paths, int64_t pathCount, Message &message) {
  tfc_status status = TFC_OK;
  Opened *created = create(paths, pathCount, status, message);
  if (!created)
    return status;
  MutexLock lock(mutex);
  // Nobody will want rows of the old files.
  for (Slot &slot : slots)
    if (slot.state == Slot::Waiting || slot.state == Slot::Ready)
      release(slot);
  release(opened);
  opened = created;
  return TFC_OK;
}

tfc_status Dataset::count(int64_t &rows, Message &message) {
  MutexLock lock(mutex);
  tfc_status status = TFC_OK;
  Opened *shared = share(status, message);
  if (!shared)
    return status;
  rows = shared->rows.count();
  release(shared);
  return TFC_OK;
}

//===- Slots --------------------------------------------------------------===//

void Dataset::release(Slot &slot) {
  slot.state = Slot::Free;
  release(slot.opened);
  slot.opened = nullptr;
}

/// The values of a component are after those of the components before it, 64-byte aligned.
char *Dataset::valuesOf(const Slot &slot, int32_t component) const {
  char *at = slot.values.data();
  for (int32_t i = 0; i < component; ++i)
    at += (slot.count * info.components[i].bytes + 63) / 64 * 64;
  return at;
}

bool Dataset::reserve(Slot &slot, int64_t count) const {
  uint64_t bytes;
  return !__builtin_mul_overflow(static_cast<uint64_t>(count), rowBytes, &bytes) &&
         !__builtin_add_overflow(bytes, 64 * static_cast<uint64_t>(info.component_count), &bytes) &&
         slot.numbers.reserve(allocator, count * sizeof(int64_t)) &&
         slot.values.reserve(allocator, bytes);
}

bool Dataset::holds(const Slot &slot, const Opened *shared, const int64_t *rows,
                    int64_t count) const {
  return slot.state != Slot::Free && slot.state != Slot::Taken && slot.opened == shared &&
         slot.count == count && memcmp(slot.numbers.data(), rows, count * sizeof(int64_t)) == 0;
}

Dataset::Slot *Dataset::find(const Opened *shared, const int64_t *rows, int64_t count) {
  for (Slot &slot : slots)
    if (holds(slot, shared, rows, count))
      return &slot;
  return nullptr;
}

/// Lets the threads read rows, in place of those that nobody has wanted for the longest time.
void Dataset::want(Opened *shared, const int64_t *rows, int64_t count) {
  if (count == 0 || find(shared, rows, count))
    return;
  Slot *slot = nullptr;
  for (Slot &other : slots) {
    bool isIdle = other.state == Slot::Free || other.state == Slot::Ready;
    bool isBetter = !slot || (slot->state != Slot::Free &&
                              (other.state == Slot::Free || other.age < slot->age));
    if (isIdle && isBetter)
      slot = &other;
  }
  if (!slot)
    return;
  if (slot->state != Slot::Free)
    release(*slot);
  if (!startThreads() || !reserve(*slot, count))
    return;
  memcpy(slot->numbers.data(), rows, count * sizeof(int64_t));
  slot->count = count;
  slot->opened = shared;
  ++shared->users;
  slot->age = ++clock;
  slot->begun = 0;
  slot->status = TFC_OK;
  slot->state = Slot::Waiting;
  pthread_cond_broadcast(&changed);
}

void *Dataset::threadMain(void *dataset) {
  static_cast<Dataset *>(dataset)->readAhead();
  return nullptr;
}

/// Starts the threads if none has been started; returns false if the system refuses the first.
bool Dataset::startThreads() {
  if (threadCount == 0)
    while (threadCount < wantedThreads && startThread(threads[threadCount], threadMain, this))
      ++threadCount;
  return threadCount > 0;
}

Dataset::Slot *Dataset::oldestUnread() {
  Slot *oldest = nullptr;
  for (Slot &slot : slots) {
    bool isUnread =
        slot.state == Slot::Waiting || (slot.state == Slot::Reading && slot.begun < slot.count);
    if (isUnread && (!oldest || slot.age < oldest->age))
      oldest = &slot;
  }
  return oldest;
}

/// A read of a thread that fails is repeated by the call that wants the rows, which reports it.
void Dataset::readAhead() {
  Block pointers, scratch;
  MutexLock lock(mutex);
  while (!isStopping) {
    Slot *slot = oldestUnread();
    if (!slot) {
      pthread_cond_wait(&changed, &mutex);
      continue;
    }
    slot->state = Slot::Reading;
    int64_t first = slot->begun, left = slot->count - first;
    int64_t part = (slot->count + threadCount - 1) / threadCount;
    part = part < left ? part : left;
    slot->begun += part;
    ++slot->readers;
    pthread_mutex_unlock(&mutex);
    tfc_status status = readPart(*slot, first, part, pointers, scratch);
    pthread_mutex_lock(&mutex);
    if (status != TFC_OK) {
      slot->status = status;
      slot->begun = slot->count; // the other parts are of no use
    }
    if (--slot->readers > 0 || slot->begun < slot->count)
      continue;
    slot->state = Slot::Ready;
    pthread_cond_broadcast(&changed);
  }
}

tfc_status Dataset::readPart(const Slot &slot, int64_t first, int64_t count, Block &pointers,
                             Block &scratch) const {
  if (!pointers.reserve(allocator, info.component_count * sizeof(char *)))
    return TFC_OUT_OF_MEMORY;
  auto **values = reinterpret_cast<char **>(pointers.data());
  for (int32_t i = 0; i < info.component_count; ++i)
    values[i] = valuesOf(slot, i) + first * info.components[i].bytes;
  Message message;
  KeepDenormals mode;
  return slot.opened->rows.read(reinterpret_cast<const int64_t *>(slot.numbers.data()) + first,
                                count, values, scratch, message);
}

//===- Reading ------------------------------------------------------------===//

/// Takes the slot that holds the rows, if they have been read; frees it if that has not begun.
Dataset::Slot *Dataset::take(const Opened *shared, const int64_t *rows, int64_t count) {
  Slot *slot = find(shared, rows, count);
  if (!slot || slot->state == Slot::Reading)
    return nullptr;
  if (slot->state == Slot::Ready && slot->status == TFC_OK) {
    slot->state = Slot::Taken;
    return slot;
  }
  release(*slot);
  return nullptr;
}

/// Reads rows for a call, with the memory of a slot that has none.
tfc_status Dataset::readNow(const Opened &shared, char *const *values, const int64_t *rows,
                            int64_t count, Message &message) {
  Slot *slot = nullptr;
  for (Slot &other : slots)
    if (other.state == Slot::Free && (!slot || other.scratch.size() > slot->scratch.size()))
      slot = &other;
  if (slot)
    slot->state = Slot::Taken;
  pthread_mutex_unlock(&mutex);
  Block scratch;
  KeepDenormals mode;
  tfc_status status =
      shared.rows.read(rows, count, values, slot ? slot->scratch : scratch, message);
  pthread_mutex_lock(&mutex);
  if (slot)
    slot->state = Slot::Free;
  return status;
}

void Dataset::copy(Slot &slot, char *const *values) {
  pthread_mutex_unlock(&mutex);
  for (int32_t i = 0; i < info.component_count; ++i)
    if (uint64_t bytes = slot.count * info.components[i].bytes)
      memcpy(values[i], valuesOf(slot, i), bytes);
  pthread_mutex_lock(&mutex);
  release(slot);
}

tfc_status Dataset::read(char *const *values, const int64_t *rows, int64_t count,
                         const int64_t *next, int64_t nextCount, Message &message) {
  MutexLock lock(mutex);
  tfc_status status = TFC_OK;
  Opened *shared = share(status, message);
  if (!shared)
    return status;
  Slot *slot = take(shared, rows, count);
  want(shared, next, nextCount);
  auto isBeingRead = [&] {
    const Slot *other = find(shared, rows, count);
    return other && other->state == Slot::Reading;
  };
  while (!slot && isBeingRead()) {
    pthread_cond_wait(&changed, &mutex);
    slot = take(shared, rows, count);
  }
  if (slot)
    copy(*slot, values);
  else
    status = readNow(*shared, values, rows, count, message);
  release(shared);
  return status;
}

//===- The datasets of a model --------------------------------------------===//

bool Datasets::create(const tfc_model &model, int32_t threads) {
  if (!memory.reserve(allocator, model.dataset_count * sizeof(Dataset *)))
    return false;
  table = reinterpret_cast<Dataset **>(memory.data());
  for (; size < model.dataset_count; ++size) {
    void *place = allocator.take(sizeof(Dataset));
    if (!place)
      return false;
    table[size] = new (place) Dataset(allocator, model.datasets[size], threads);
  }
  return true;
}

Datasets::~Datasets() {
  for (int64_t i = 0; i < size; ++i) {
    table[i]->~Dataset();
    allocator.give(table[i], sizeof(Dataset));
  }
}

Dataset *Datasets::find(const char *name) const {
  for (int64_t i = 0; name && i < size; ++i)
    if (strcmp(table[i]->getInfo().name, name) == 0)
      return table[i];
  return nullptr;
}

bool tfc::runtime::createDatasets(State &state, const tfc_options &options) {
  void *memory = state.allocator.take(sizeof(Datasets));
  if (!memory)
    return false;
  state.datasets = new (memory) Datasets(state.allocator);
  int32_t threads = options.reader_threads ? options.reader_threads : 1;
  return state.datasets->create(*state.model, threads);
}

void tfc::runtime::destroyDatasets(State &state) {
  if (!state.datasets)
    return;
  state.datasets->~Datasets();
  state.allocator.give(state.datasets, sizeof(Datasets));
}

//===- Functions that programs and generated code call --------------------===//

static tfc_status failRead(tfc_call_frame *frame, int32_t dataset, tfc_status status,
                           const char *subject, const Message &message) {
  tfc_instance &handle = *frame->handle;
  const Tasks &tasks = handle.state->tasks;
  return handle.fail(status, "%s: %s: dataset '%s'%s%s: %s", handle.entry->name, subject,
                     handle.state->model->datasets[dataset].name, tasks.areUsed() ? " in " : "",
                     tasks.areUsed() ? tasks.nameOf(tasks.self()) : "", message.c_str());
}

extern "C" int32_t tfc_rt_read_rows(tfc_call_frame *frame, int32_t dataset, void *const *values,
                                    const int64_t *rows, int64_t count, const int64_t *next,
                                    int64_t next_count, const char *subject) {
  Message message;
  tfc_status status = (*frame->handle->state->datasets)[dataset].read(
      reinterpret_cast<char *const *>(values), rows, count, next, next_count, message);
  return status ? failRead(frame, dataset, status, subject, message) : TFC_OK;
}

extern "C" int32_t tfc_rt_dataset_size(tfc_call_frame *frame, int32_t dataset, int64_t *size,
                                       const char *subject) {
  Message message;
  tfc_status status = (*frame->handle->state->datasets)[dataset].count(*size, message);
  return status ? failRead(frame, dataset, status, subject, message) : TFC_OK;
}

extern "C" tfc_status tfc_instance_open_dataset(tfc_instance *instance, const char *dataset,
                                                const char *const *paths, int64_t path_count) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  const tfc_model &model = *instance->state->model;
  Dataset *found = instance->state->datasets ? instance->state->datasets->find(dataset) : nullptr;
  if (!found)
    return instance->fail(TFC_NOT_FOUND, "%s has no dataset '%s'", model.name,
                          dataset ? dataset : "(null)");
  bool isNull = !paths || path_count < 0;
  for (int64_t i = 0; i < path_count && !isNull; ++i)
    isNull = !paths[i];
  if (isNull)
    return instance->fail(TFC_INVALID_ARGUMENT, "dataset '%s': a path is null", dataset);
  Message message;
  tfc_status status = found->open(paths, path_count, message);
  return status ? instance->fail(status, "dataset '%s': %s", dataset, message.c_str()) : TFC_OK;
}
