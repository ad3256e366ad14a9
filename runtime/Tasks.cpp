//===- Tasks.cpp - Calls that run in several processes --------------------===//
//
// Translates between the rendezvous of calls and messages of the transport. A message names its
// call by the number of the handle, the entry, and how many calls of the entry by this handle came
// before; all processes count alike. Messages for a call that has not begun here are kept.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tasks.h"

#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

static constexpr int64_t kDefaultTimeoutMs = 600'000;

//===- The transport ------------------------------------------------------===//

tfc_status Tasks::attach(State &ofState, const tfc_options &options, Message &message) {
  const tfc_model &model = *ofState.model;
  const tfc_transport *given = options.transport;
  if (!given)
    return TFC_OK;
  if (given->size != sizeof(tfc_transport)) {
    message.add("tfc_transport.size is %u, but expected sizeof(tfc_transport)", given->size);
    return TFC_ABI_MISMATCH;
  }
  if (given->version != TFC_TRANSPORT_VERSION) {
    message.add("tfc_transport has version %u, but this runtime needs %d", given->version,
                TFC_TRANSPORT_VERSION);
    return TFC_ABI_MISMATCH;
  }
  if (model.task_count == 0) {
    message.add("%s has no cluster, so it needs no transport", model.name);
    return TFC_INVALID_ARGUMENT;
  }
  if (given->task_count != model.task_count || given->task < 0 ||
      given->task >= given->task_count) {
    message.add("%s is for %lld processes, but this is number %d of %d", model.name,
                static_cast<long long>(model.task_count), given->task, given->task_count);
    return TFC_INVALID_ARGUMENT;
  }
  if (options.task_timeout_ms < 0) {
    message.add("tfc_options.task_timeout_ms is %lld, but expected 0 or more",
                static_cast<long long>(options.task_timeout_ms));
    return TFC_INVALID_ARGUMENT;
  }
  constexpr int64_t kMostMs = INT64_MAX / 4 / 1'000'000;
  int64_t milliseconds = options.task_timeout_ms ? options.task_timeout_ms : kDefaultTimeoutMs;
  timeout = (milliseconds < kMostMs ? milliseconds : kMostMs) * 1'000'000;
  if (options.call_mode != TFC_CALL_TOGETHER && options.call_mode != TFC_CALL_ALONE) {
    message.add("tfc_options.call_mode is %d, but expected a tfc_call_mode", options.call_mode);
    return TFC_INVALID_ARGUMENT;
  }
  isAlone = options.call_mode == TFC_CALL_ALONE;
  state = &ofState;
  transport = given;
  if (!server.initialise(timeout)) {
    transport = nullptr;
    message.add("not enough memory for the processes of %s", model.name);
    return TFC_OUT_OF_MEMORY;
  }
  receiver = {this, place, arrived, sent, lost, tick, enter};
  polling = {this, given->poll ? poll : nullptr};
  if (tfc_status status = transport->attach(transport->context, &receiver)) {
    transport = nullptr;
    polling = {};
    message.add("the transport to the other processes cannot begin");
    return status;
  }
  return TFC_OK;
}

/// Gives back the memory of messages that have been kept for calls that will not run.
template <typename F> void Tasks::dropKept(F isDropped) {
  stash.takeEach(isDropped, [&](const TaskHeader &, const MessageStash::Message &message) {
    pool.give(message.data);
  });
}

void Tasks::detach() {
  if (transport)
    transport->detach(transport->context, awaitOthers() ? (timeout + 999'999) / 1'000'000 : 0);
  server.release();
  dropKept([](const TaskHeader &) { return true; });
  stash.release();
  pool.release();
  transport = nullptr;
}

void Tasks::useGpus() {
  if (!transport || !transport->device_memory)
    return;
  Message unused;
  for (Gpu &gpu : state->gpus)
    // Release: pairs with the loads, after which others use it.
    if (gpu.isUsed() && gpu.check(unused) == TFC_OK)
      anyGpu.store(&gpu, std::memory_order_release);
}

void Tasks::enter(void *context) {
  if (const Gpu *gpu = static_cast<Tasks *>(context)->anyGpu.load(std::memory_order_acquire))
    gpu->enter();
}

int32_t Tasks::taskOf(const TaskCall &call, const tfc_partition_info &partition) const {
  return taskOf(call, state->model->devices[partition.device]);
}

bool Tasks::concerns(const tfc_entry_info &entry) const {
  const tfc_partitioning *partitioning = entry.partitioning;
  for (int32_t i = 0; transport && partitioning && i < partitioning->partition_count; ++i)
    if (state->model->devices[partitioning->partitions[i].device].task >= 0)
      return true;
  return false;
}

const char *Tasks::nameOf(int32_t task) const {
  return task >= 0 && task < state->model->task_count ? state->model->tasks[task]
                                                      : "the other processes";
}

void Tasks::post(int32_t task, const TaskHeader &header, const void *more, int32_t moreBytes,
                 const void *data, int64_t bytes, void *token) {
  char buffer[TFC_MAX_HEADER];
  TaskHeader stamped = header;
  stamped.fingerprint = fingerprint();
  memcpy(buffer, &stamped, sizeof(TaskHeader));
  if (moreBytes)
    memcpy(buffer + sizeof(TaskHeader), more, moreBytes);
  Gpu::Scope scope(anyGpu.load(std::memory_order_acquire));
  transport->send(transport->context, task, buffer,
                  static_cast<int32_t>(sizeof(TaskHeader)) + moreBytes, data, bytes, token);
}

/// Posts a message to all other processes.
void Tasks::postToOthers(const TaskHeader &header, const void *more, int32_t moreBytes) {
  for (int32_t task = 0; task < count(); ++task)
    if (task != self())
      post(task, header, more, moreBytes);
}

/// Posts a message to each other process that takes part in a call of an entry.
void Tasks::postToParts(const TaskCall &call, const tfc_entry_info &entry, const TaskHeader &header,
                        const void *more, int32_t moreBytes) {
  for (int32_t task = nextPart(call, &entry, -1); task >= 0; task = nextPart(call, &entry, task))
    if (task != self())
      post(task, header, more, moreBytes);
}

/// Posts a message to each other process that has a partition of the running call.
void Tasks::postToAll(tfc_instance &handle, const TaskHeader &header, const void *more,
                      int32_t moreBytes) {
  postToParts(handle.tasks, *handle.tasks.entry, header, more, moreBytes);
}

void Tasks::postAbort(tfc_instance &handle, int32_t status, const char *text) {
  TaskHeader header = headerOf(handle, TaskMessage::Abort);
  header.status = status;
  postToAll(handle, header, text, static_cast<int32_t>(strlen(text)) + 1);
}

TaskHeader Tasks::headerOf(const TaskCall &call, TaskMessage kind, int32_t entry, uint32_t number) {
  TaskHeader header = {};
  header.kind = kind;
  header.entry = entry;
  header.handle = call.handle;
  header.call = number;
  header.leader = call.leader;
  return header;
}

TaskHeader Tasks::headerOf(const tfc_instance &handle, TaskMessage kind) const {
  const TaskCall &call = handle.tasks;
  return headerOf(call, kind, numberOf(*call.entry), call.number);
}

uint32_t Tasks::fingerprint() const { return static_cast<uint32_t>(state->model->fingerprint); }

int32_t Tasks::numberOf(const tfc_entry_info &entry) const {
  return static_cast<int32_t>(&entry - state->model->entries);
}

//===- Handles ------------------------------------------------------------===//

void Tasks::number(tfc_instance &handle) {
  MutexLock lock(mutex);
  handle.tasks.leader = isAlone ? self() : kTogether;
  handle.tasks.handle = ++handleCount;
}

bool Tasks::add(tfc_instance &handle) {
  if (!transport)
    return true;
  const tfc_model &model = *state->model;
  int32_t partitions = 0, slots = 0;
  for (int32_t i = 0; i < model.entry_count; ++i)
    if (const tfc_partitioning *partitioning = model.entries[i].partitioning) {
      partitions =
          partitioning->partition_count > partitions ? partitioning->partition_count : partitions;
      slots = partitioning->slot_count > slots ? partitioning->slot_count : slots;
    }
  TaskCall &call = handle.tasks;
  if (!call.calls.create(state->allocator, model.entry_count) ||
      !call.hasTakenPart.create(state->allocator, count()) ||
      !call.waits.create(state->allocator, partitions) ||
      !call.arrivals.create(state->allocator, partitions) ||
      !call.held.create(state->allocator, slots) || !call.leaving.create(state->allocator, slots))
    return false;
  for (TaskCall::Leaving &leaving : call.leaving)
    leaving.handle = &handle;
  for (uint32_t &count : call.calls)
    count = 0;
  MutexLock lock(mutex);
  if (!isAlone && call.handle > lastAdded)
    lastAdded = call.handle;
  call.next = handles;
  handles = &handle;
  return true;
}

bool Tasks::remove(tfc_instance &handle) {
  if (!transport)
    return true;
  MutexLock lock(mutex);
  if (handle.tasks.leader == self())
    postToOthers(headerOf(handle.tasks, TaskMessage::Close, kNoEntry, 0));
  tfc_instance **link = &handles;
  while (*link && *link != &handle)
    link = &(*link)->tasks.next;
  if (*link)
    *link = handle.tasks.next;
  return handle.tasks.unsent == 0;
}

void Tasks::cancel(tfc_instance &handle) {
  if (!transport || handle.tasks.leader != self())
    return;
  MutexLock lock(mutex);
  postToOthers(headerOf(handle.tasks, TaskMessage::Cancel, kNoEntry, 0));
}

tfc_instance *Tasks::find(const TaskHeader &header) const {
  for (tfc_instance *handle = handles; handle; handle = handle->tasks.next)
    if (handle->tasks.owns(header))
      return handle;
  return nullptr;
}

//===- Calls --------------------------------------------------------------===//

/// Waits until the deciding process has said something, or the call is aborted. Under the mutex.
bool Tasks::await(tfc_instance &handle, bool TaskCall::*isReached) {
  TaskWait wait(handle, firstPartition(handle.tasks), TaskWait::For::All);
  while (!(handle.tasks.*isReached) && handle.rendezvous.status() == TFC_OK)
    hasChanged.wait(mutex, spinWork());
  return handle.rendezvous.status() == TFC_OK;
}

bool Tasks::begin(tfc_instance &handle, const int64_t *symbols) {
  MutexLock lock(mutex);
  announce(handle, symbols);
  if (isAlone)
    giveTurn(handle);
  return await(handle, &TaskCall::mayRun);
}

/// Notes that a process has begun or ended; the deciding one tells all when all have.
void Tasks::note(tfc_instance &handle, int32_t task, bool Arrivals::*flag) {
  TaskCall &call = handle.tasks;
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  for (int32_t i = 0; i < partitioning.partition_count; ++i)
    call.arrivals[i].*flag |= taskOf(call, partitioning.partitions[i]) == task;
  if (self() != call.decider() || !haveAll(call, flag))
    return;
  bool begins = flag == &Arrivals::hasBegun;
  (begins ? call.mayRun : call.isOver) = true;
  // Nobody waits for the end of calls of one process alone but that process.
  if (!isAlone)
    postToAll(handle, headerOf(handle, begins ? TaskMessage::Go : TaskMessage::Over));
  hasChanged.notify();
}

/// Compares the sizes of a process with those here.
bool Tasks::compareSizes(tfc_instance &handle, const MessageStash::Message &message) {
  TaskCall &call = handle.tasks;
  for (int32_t i = 0; i < message.moreBytes / 8 && i < call.entry->symbol_count; ++i) {
    int64_t theirs;
    memcpy(&theirs, message.more + i * sizeof(int64_t), sizeof(theirs));
    if (theirs == call.symbols[i])
      continue;
    char text[512];
    snprintf(text, sizeof(text), "%s: %s is %lld in %s, but %lld in %s", call.entry->name,
             call.entry->symbols[i].name, static_cast<long long>(call.symbols[i]), nameOf(self()),
             static_cast<long long>(theirs), nameOf(message.from));
    failAll(handle, TFC_INVALID_ARGUMENT, text);
    return false;
  }
  return true;
}

/// Begins a call here and tells the others.
void Tasks::announce(tfc_instance &handle, const int64_t *symbols) {
  TaskCall &call = handle.tasks;
  call.entry = handle.entry;
  call.number = ++call.calls[numberOf(*call.entry)];
  call.symbols = symbols;
  call.commits = 0;
  call.mayRun = call.isOver = false;
  if (const SpinWork *work = spinWork())
    handle.rendezvous.share(*work);
  for (int32_t i = 0; i < call.entry->partitioning->partition_count; ++i)
    call.arrivals[i] = {};
  // Those that can be reached must not wait.
  if (isLost())
    failAll(handle, lostStatus, lostText);
  if (!isAlone && self() != call.decider()) {
    int32_t count = call.entry->symbol_count < kMostSizes ? call.entry->symbol_count : kMostSizes;
    post(call.decider(), headerOf(handle, TaskMessage::Begin), symbols, count * sizeof(int64_t));
  }
  replay(handle);
  if (!isAlone && handle.rendezvous.status() == TFC_OK)
    note(handle, self(), &Arrivals::hasBegun);
}

/// Applies what has been kept for a call that begins.
void Tasks::replay(tfc_instance &handle) {
  auto isOurs = [&](const TaskHeader &header) { return isOfCall(header, handle); };
  stash.takeEach(isOurs, [&](const TaskHeader &header, const MessageStash::Message &message) {
    apply(handle, header, message);
  });
}

bool Tasks::haveAll(const TaskCall &call, bool Arrivals::*flag) const {
  for (int32_t i = 0; i < call.entry->partitioning->partition_count; ++i)
    if (!(call.arrivals[i].*flag))
      return false;
  return true;
}

/// The first partition of a call in this process.
int32_t Tasks::firstPartition(const TaskCall &call) const {
  int32_t own = 0;
  while (!isHere(call, call.entry->partitioning->partitions[own]))
    ++own;
  return own;
}

void Tasks::end(tfc_instance &handle, bool hasFailed) {
  TaskCall &call = handle.tasks;
  MutexLock lock(mutex);
  // Where there are commits, they have decided. A process that only takes part need not know.
  if (handle.rendezvous.status() == TFC_OK && !hasFailed && !call.entry->partitioning->commits) {
    bool decides = self() == call.decider();
    if (!decides)
      post(call.decider(), headerOf(handle, TaskMessage::End), nullptr, 0);
    note(handle, self(), &Arrivals::hasEnded);
    if (!isAlone || decides)
      await(handle, &TaskCall::isOver);
  } else if (hasFailed) {
    call.arrivals[firstPartition(call)].hasEnded = true;
    await(handle, &TaskCall::isOver); // for the abort
  }
  awaitUnsent(handle);
  for (TaskCall::Held &held : call.held) {
    for (int32_t i = 0; i < held.count; ++i)
      pool.give(held.data[i]);
    held.count = 0;
  }
  call.entry = nullptr;
}

void Tasks::skip(tfc_instance &handle, const tfc_entry_info &entry, int32_t status) {
  MutexLock lock(mutex);
  TaskCall &call = handle.tasks;
  call.entry = &entry;
  call.number = ++call.calls[numberOf(entry)];
  postAbort(handle, status, handle.message.c_str());
  // Nothing that has been kept for this call, or for an earlier one, is needed any more.
  auto isPast = [&](const TaskHeader &header) {
    return call.owns(header) && header.entry == numberOf(entry) &&
           static_cast<int32_t>(header.call - call.number) <= 0;
  };
  dropKept(isPast);
  call.entry = nullptr;
}

//===- Partitions of this process -----------------------------------------===//

void Tasks::send(tfc_instance &handle, int32_t slot, const void *value, int64_t bytes) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  const tfc_partition_info &receiver = partitioning.partitions[partitioning.slots[slot].receiver];
  if (isHere(handle.tasks, receiver))
    return;
  MutexLock lock(mutex);
  TaskHeader header = headerOf(handle, TaskMessage::Data);
  header.number = slot;
  header.bytes = bytes;
  header.value = reinterpret_cast<uint64_t>(value);
  TaskCall::Leaving &leaving = handle.tasks.leaving[slot];
  if (bytes > 0 && bytes > transport->copied_bytes) {
    ++leaving.count;
    ++handle.tasks.unsent;
  }
  leaving.task = taskOf(handle.tasks, receiver);
  post(leaving.task, header, nullptr, 0, value, bytes > 0 ? bytes : 0, &leaving);
}

bool Tasks::sendsFromDevice(const tfc_instance &handle, int32_t slot, int64_t bytes) const {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  return anyGpu.load(std::memory_order_acquire) && bytes > transport->copied_bytes &&
         !isHere(handle.tasks, partitioning.partitions[partitioning.slots[slot].receiver]);
}

bool Tasks::isOnDevice(const void *data) {
  if (!anyGpu.load(std::memory_order_acquire))
    return false;
  MutexLock lock(mutex);
  return pool.isOnDevice(data);
}

void Tasks::release(tfc_instance &handle, int32_t slot) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  const tfc_partition_info &sender = partitioning.partitions[partitioning.slots[slot].sender];
  if (isHere(handle.tasks, sender))
    return;
  MutexLock lock(mutex);
  TaskCall::Held &held = handle.tasks.held[slot];
  if (held.count > 0) {
    pool.give(held.data[0]);
    held.data[0] = held.data[1];
    --held.count;
  }
  TaskHeader header = headerOf(handle, TaskMessage::Release);
  header.number = slot;
  post(taskOf(handle.tasks, sender), header, nullptr, 0);
}

void Tasks::awaitSent(tfc_instance &handle) {
  MutexLock lock(mutex);
  awaitUnsent(handle);
}

bool Tasks::awaitSent(tfc_instance &handle, int32_t slot) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  if (isHere(handle.tasks, partitioning.partitions[partitioning.slots[slot].receiver]))
    return false;
  awaitSent(handle);
  return true;
}

void Tasks::leave(tfc_instance &handle, int32_t partition) {
  MutexLock lock(mutex);
  TaskHeader header = headerOf(handle, TaskMessage::Leave);
  header.number = partition;
  postToAll(handle, header);
}

void Tasks::abort(tfc_instance &handle, int32_t status) {
  MutexLock lock(mutex);
  if (handle.tasks.entry)
    postAbort(handle, status, handle.message.c_str());
}

/// Notes that a partition has come to its next commit, and completes those at which all are.
void Tasks::arrive(tfc_instance &handle, int32_t partition, const int64_t *numbers, int32_t size) {
  TaskCall &call = handle.tasks;
  TaskCall::Arrivals &own = call.arrivals[partition];
  uint32_t round = own.count++;
  own.size[round & 1] = size < TaskCall::kMostNumbers ? size : TaskCall::kMostNumbers;
  for (int32_t i = 0; i < own.size[round & 1]; ++i)
    own.numbers[round & 1][i] = numbers[i];
  int32_t partitions = call.entry->partitioning->partition_count;
  auto isComplete = [&] {
    for (int32_t i = 0; i < partitions; ++i)
      if (call.arrivals[i].count <= call.commits)
        return false;
    return true;
  };
  while (isComplete()) {
    ++call.commits;
    handle.rendezvous.completeRound();
  }
}

/// The first position of a failed check in a round, and the partition that has it; null for none.
const int64_t *Tasks::first(tfc_instance &handle, uint32_t round, int32_t &size,
                            int32_t &partition) {
  TaskCall &call = handle.tasks;
  const int64_t *numbers = nullptr;
  for (int32_t i = 0; i < call.entry->partitioning->partition_count; ++i) {
    const TaskCall::Arrivals &arrivals = call.arrivals[i];
    CheckPosition position = {arrivals.numbers[round & 1], arrivals.size[round & 1]};
    if (position.size < 0 || (numbers && !position.isBefore({numbers, size})))
      continue;
    numbers = position.numbers;
    size = position.size;
    partition = i;
  }
  return numbers;
}

int32_t Tasks::commit(tfc_instance &handle, int32_t partition, const CheckPosition *failedCheck,
                      bool &isFirst, bool &hasFailed) {
  uint32_t round;
  {
    MutexLock lock(mutex);
    round = handle.tasks.arrivals[partition].count;
    const int64_t *numbers = failedCheck ? failedCheck->numbers : nullptr;
    int32_t size = failedCheck ? failedCheck->size : -1;
    TaskHeader header = headerOf(handle, TaskMessage::Arrive);
    header.number = partition;
    header.status = size < TaskCall::kMostNumbers ? size : TaskCall::kMostNumbers;
    postToAll(handle, header, numbers, header.status > 0 ? header.status * 8 : 0);
    arrive(handle, partition, numbers, size);
  }
  TaskWait wait(handle, partition, TaskWait::For::All);
  if (!handle.rendezvous.awaitRound(round + 1))
    return TFC_RT_ABORTED;
  MutexLock lock(mutex);
  int32_t size, owner = -1;
  hasFailed = first(handle, round, size, owner) != nullptr;
  isFirst = owner == partition;
  return TFC_OK;
}
