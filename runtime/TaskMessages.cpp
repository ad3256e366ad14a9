//===- TaskMessages.cpp - Messages between processes ----------------------===//
//
// Takes what the transport delivers: applies the messages of running calls, and keeps those of
// calls to come.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

using namespace tfc::runtime;

//===- Memory -------------------------------------------------------------===//

/// In front of the data.
struct alignas(64) MessagePool::Piece {
  Piece *next;
  int64_t bytes;
};

/// Memory of a GPU, which cannot hold this itself.
struct MessagePool::DevicePiece {
  DevicePiece *next;
  Gpu *gpu;
  int64_t bytes;
  void *data;
  bool isFree;
};

/// Returns true if a piece is large enough, and not much too large.
static bool suits(int64_t pieceBytes, int64_t bytes) {
  return pieceBytes >= bytes && pieceBytes / 8 <= bytes + 512;
}

void *MessagePool::take(int64_t bytes) {
  for (Piece **link = &free; *link; link = &(*link)->next) {
    Piece *piece = *link;
    if (!suits(piece->bytes, bytes))
      continue;
    *link = piece->next;
    return piece + 1;
  }
  releaseBelow(bytes); // smaller ones have become useless, since messages grow
  void *memory = allocator.take(sizeof(Piece) + bytes);
  return memory ? new (memory) Piece{nullptr, bytes} + 1 : nullptr;
}

void *MessagePool::takeOn(Gpu &gpu, int64_t bytes) {
  for (DevicePiece *piece = onDevices; piece; piece = piece->next)
    if (piece->isFree && piece->gpu == &gpu && suits(piece->bytes, bytes)) {
      piece->isFree = false;
      return piece->data;
    }
  releaseBelow(gpu, bytes);
  void *memory = allocator.take(sizeof(DevicePiece));
  void *data = memory ? gpu.allocate(bytes) : nullptr;
  if (data)
    onDevices = new (memory) DevicePiece{onDevices, &gpu, bytes, data, /*isFree=*/false};
  else if (memory)
    allocator.give(memory, sizeof(DevicePiece));
  return data;
}

MessagePool::DevicePiece *MessagePool::find(const void *data) const {
  DevicePiece *piece = onDevices;
  while (piece && piece->data != data)
    piece = piece->next;
  return piece;
}

void MessagePool::give(void *data) {
  if (!data)
    return;
  if (DevicePiece *piece = find(data)) {
    piece->isFree = true;
    return;
  }
  Piece *piece = static_cast<Piece *>(data) - 1;
  piece->next = free;
  free = piece;
}

void MessagePool::releaseBelow(int64_t bytes) {
  for (Piece **link = &free; *link;) {
    Piece *piece = *link;
    if (piece->bytes >= bytes) {
      link = &piece->next;
      continue;
    }
    *link = piece->next;
    allocator.give(piece, sizeof(Piece) + piece->bytes);
  }
}

void MessagePool::releaseBelow(const Gpu &gpu, int64_t bytes) {
  for (DevicePiece **link = &onDevices; *link;) {
    DevicePiece *piece = *link;
    if (!piece->isFree || piece->gpu != &gpu || piece->bytes >= bytes) {
      link = &piece->next;
      continue;
    }
    *link = piece->next;
    piece->gpu->release(piece->data);
    allocator.give(piece, sizeof(DevicePiece));
  }
}

void MessagePool::release() {
  releaseBelow(INT64_MAX);
  while (onDevices)
    releaseBelow(*onDevices->gpu, INT64_MAX);
}

/// A piece of free memory with such a capacity, or new memory; null if there is none.
MessageStash::Kept *MessageStash::takeMemory(int32_t capacity) {
  Kept **link = &free;
  while (*link && (*link)->capacity < capacity)
    link = &(*link)->next;
  if (Kept *kept = *link) {
    *link = kept->next;
    return kept;
  }
  int32_t rounded = capacity <= kShort
                        ? kShort
                        : (capacity + TFC_MAX_HEADER - 1) / TFC_MAX_HEADER * TFC_MAX_HEADER;
  void *memory = allocator.take(sizeof(Kept) + rounded);
  return memory ? new (memory) Kept{nullptr, {}, {}, rounded} : nullptr;
}

void MessageStash::release() {
  while (Kept *kept = free) {
    free = kept->next;
    allocator.give(kept, sizeof(Kept) + kept->capacity);
  }
}

bool MessageStash::add(const TaskHeader &header, const Message &message) {
  Kept *kept = takeMemory(message.moreBytes);
  if (!kept)
    return false;
  kept->next = nullptr;
  kept->header = header;
  kept->message = message;
  kept->message.more = kept->more;
  if (message.moreBytes)
    memcpy(kept->more, message.more, message.moreBytes);
  *last = kept;
  last = &kept->next;
  return true;
}

/// The address of data without elements.
alignas(64) static char nothing[64];

//===- Messages of other processes ----------------------------------------===//

/// The GPU of this process that receives a message, if its transport can write to that; or null.
Gpu *Tasks::receiverOf(const TaskHeader &header, int64_t bytes) {
  if (!anyGpu.load(std::memory_order_acquire) || bytes <= transport->copied_bytes ||
      header.fingerprint != fingerprint() || header.kind != TaskMessage::Data || header.entry < 0 ||
      header.entry >= state->model->entry_count)
    return nullptr;
  const tfc_partitioning *partitioning = state->model->entries[header.entry].partitioning;
  if (!partitioning || header.number < 0 || header.number >= partitioning->slot_count)
    return nullptr;
  int32_t receiver = partitioning->slots[header.number].receiver;
  Gpu &gpu = state->gpus[partitioning->partitions[receiver].device];
  Message unused;
  return gpu.isUsed() && gpu.check(unused) == TFC_OK ? &gpu : nullptr;
}

void *Tasks::place(void *context, const void *bytesOfHeader, int32_t headerBytes, int64_t bytes) {
  auto &tasks = *static_cast<Tasks *>(context);
  TaskHeader header = {};
  if (headerBytes >= static_cast<int32_t>(sizeof(TaskHeader)))
    memcpy(&header, bytesOfHeader, sizeof(TaskHeader));
  MutexLock lock(tasks.mutex);
  Gpu *gpu = tasks.receiverOf(header, bytes);
  void *onDevice = gpu ? tasks.pool.takeOn(*gpu, bytes) : nullptr;
  return onDevice ? onDevice : tasks.pool.take(bytes);
}

void Tasks::sent(void *context, void *token) {
  auto &tasks = *static_cast<Tasks *>(context);
  MutexLock lock(tasks.mutex);
  auto &leaving = *static_cast<TaskCall::Leaving *>(token);
  --leaving.count;
  --leaving.handle->tasks.unsent;
  tasks.hasChanged.notify();
}

/// Returns true for messages of the running call of a handle.
bool Tasks::isOfCall(const TaskHeader &header, const tfc_instance &handle) const {
  const TaskCall &call = handle.tasks;
  return call.entry && call.owns(header) && header.entry == numberOf(*call.entry) &&
         header.call == call.number;
}

/// Returns true unless the call, or the step, has begun here.
bool Tasks::isForLater(const TaskHeader &header) const {
  tfc_instance *handle = find(header);
  if (!handle)
    return isAlone ? header.leader != self() : header.handle > lastAdded;
  const TaskExchange &exchange = handle->tasks.exchange;
  if (header.kind == TaskMessage::Turn && header.entry == kNoEntry)
    return static_cast<int32_t>(header.call - exchange.number) >= 0;
  if (header.entry == kNoEntry)
    return exchange.isLater(header);
  return static_cast<int32_t>(header.call - handle->tasks.calls[header.entry]) > 0;
}

void Tasks::arrived(void *context, int32_t from, const void *header, int32_t headerBytes,
                    void *data, int64_t) {
  auto &tasks = *static_cast<Tasks *>(context);
  tasks.receive(from, header, headerBytes, data);
  tasks.wakeQueues();
}

/// Waits at queues look for aborted calls when something changes. Locks of queues come before that
/// of tasks.
void Tasks::wakeQueues() {
  {
    MutexLock lock(mutex);
    if (!hasAborted)
      return;
    hasAborted = false;
  }
  state->queues.change([] { return true; });
}

void Tasks::receive(int32_t from, const void *bytesOfHeader, int32_t headerBytes, void *data) {
  MutexLock lock(mutex);
  TaskHeader header;
  int32_t moreBytes = headerBytes - static_cast<int32_t>(sizeof(TaskHeader));
  if (moreBytes < 0)
    return pool.give(data);
  memcpy(&header, bytesOfHeader, sizeof(TaskHeader));
  server.hear(from, header);
  if (header.fingerprint != fingerprint()) {
    pool.give(data);
    char text[256];
    snprintf(text, sizeof(text), "%s has a library of another program", nameOf(from));
    return refuse(from, header, text);
  }
  if (header.entry < kNoEntry || header.entry >= state->model->entry_count)
    return pool.give(data);
  MessageStash::Message message = {
      from, moreBytes, static_cast<const char *>(bytesOfHeader) + sizeof(TaskHeader), data};
  if ((header.leader == kTogether) == isAlone) {
    pool.give(data);
    return refuse(from, header, "tfc_options.call_mode differs between processes");
  }
  if (header.kind == TaskMessage::Alive || header.kind == TaskMessage::Bye) {
    pool.give(data);
    return loseWhoLeaves(from, header);
  }
  if (isAlone && server.take(header, message))
    return;
  tfc_instance *handle = find(header);
  if (handle && header.entry == kNoEntry && handle->tasks.exchange.takes(header))
    return takePart(*handle, header, message);
  if (handle && isOfCall(header, *handle))
    return apply(*handle, header, message);
  bool isLater = isForLater(header);
  if (isLater && stash.add(header, message)) {
    if (isAlone)
      hasChanged.notify(); // it may be a turn
    return;
  }
  pool.give(data);
  if (isLater)
    loseAll(TFC_OUT_OF_MEMORY, "not enough memory for a message of another process");
}

/// Fails all calls if a process takes part in none.
void Tasks::loseWhoLeaves(int32_t from, const TaskHeader &header) {
  if (header.kind != TaskMessage::Bye || header.status == TFC_OK)
    return;
  char text[256];
  snprintf(text, sizeof(text), "%s takes no part in calls", nameOf(from));
  loseAll(header.status, text);
}

/// Fails all calls, and lets a process with which none is possible find out as well.
void Tasks::refuse(int32_t from, TaskHeader header, const char *text) {
  if (header.kind == TaskMessage::Begin) {
    header.kind = TaskMessage::Abort;
    header.leader = isAlone ? self() : kTogether;
    post(from, header, nullptr, 0);
  }
  loseAll(TFC_FAILED_PRECONDITION, text);
}

void Tasks::fail(tfc_instance &handle, int32_t status, const char *text) {
  if (handle.rendezvous.abort(status)) {
    handle.message.clear();
    handle.message.add("%s", text);
    hasAborted = true;
    hasChanged.notify();
  }
}

/// Fails the call in all processes.
void Tasks::failAll(tfc_instance &handle, int32_t status, const char *text) {
  fail(handle, status, text);
  postAbort(handle, status, text);
}

/// Applies data unless they cannot be of this call.
void Tasks::applyData(tfc_instance &handle, int32_t from, const TaskHeader &header, void *data) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  bool isKnown = header.number >= 0 && header.number < partitioning.slot_count;
  if (!isKnown || taskOf(handle.tasks,
                         partitioning.partitions[partitioning.slots[header.number].sender]) != from)
    return pool.give(data);
  if (header.bytes > 0 && !data)
    return failAll(handle, TFC_OUT_OF_MEMORY, "not enough memory for a message of another process");
  TaskCall::Held &held = handle.tasks.held[header.number];
  if (held.count == 2)
    return pool.give(data);
  held.data[held.count++] = data;
  const void *value = header.bytes == TFC_RT_SCALAR ? reinterpret_cast<const void *>(header.value)
                      : header.bytes > 0            ? data
                                                    : nothing;
  handle.rendezvous.send(header.number, value);
}

void Tasks::apply(tfc_instance &handle, const TaskHeader &header,
                  const MessageStash::Message &message) {
  int32_t from = message.from;
  TaskCall &call = handle.tasks;
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  if (header.kind == TaskMessage::Data)
    return applyData(handle, from, header, message.data);
  pool.give(message.data);
  bool isPartition = header.number >= 0 && header.number < partitioning.partition_count &&
                     taskOf(call, partitioning.partitions[header.number]) == from;
  switch (header.kind) {
  case TaskMessage::Begin:
    if (compareSizes(handle, message))
      note(handle, from, &Arrivals::hasBegun);
    return;
  case TaskMessage::Go:
  case TaskMessage::Over:
    if (!isAlone && from != call.decider())
      return;
    (header.kind == TaskMessage::Go ? call.mayRun : call.isOver) = true;
    hasChanged.notify();
    return;
  case TaskMessage::End:
    return note(handle, from, &Arrivals::hasEnded);
  case TaskMessage::Release:
    if (header.number >= 0 && header.number < partitioning.slot_count)
      handle.rendezvous.release(header.number);
    return;
  case TaskMessage::Leave:
    if (isPartition)
      handle.rendezvous.leave(header.number);
    return;
  case TaskMessage::Arrive: {
    int64_t numbers[TaskCall::kMostNumbers];
    int32_t size = header.status;
    if (!isPartition || size > TaskCall::kMostNumbers || size * 8 > message.moreBytes)
      return;
    if (size > 0)
      memcpy(numbers, message.more, size * sizeof(int64_t));
    return arrive(handle, header.number, numbers, size);
  }
  case TaskMessage::Data:
  case TaskMessage::Part:
  case TaskMessage::Verdict:
  case TaskMessage::Turn:
  case TaskMessage::Cancel:
  case TaskMessage::Close:
  case TaskMessage::Bye:
  case TaskMessage::Alive:
    return;
  case TaskMessage::Abort:
    return fail(handle,
                header.status > 0 || header.status == kRestart ? header.status : TFC_INTERNAL,
                message.moreBytes > 0 ? message.text() : "another process has failed");
  }
}
