//===- Tasks.cpp - Calls that run in several processes --------------------===//
//
// Translates between the rendezvous of calls and messages of the transport. A message names its
// call by the number of the handle, the entry, and how many calls of the entry by this handle came
// before; all processes count alike. Messages for a call that has not begun here are kept.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tasks.h"

#include "runtime/Clock.h"
#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

namespace {
enum Kind : int32_t {
  kBegin,
  kGo,
  kData,
  kRelease,
  kLeave,
  kArrive,
  kEnd,
  kOver,
  kAbort,
  kPart,
  kVerdict
};

/// In place of an entry: the message is of an operation of all processes, whose number is that of
/// the call; the number is the step, and `bytes` are the operation.
constexpr int32_t kNoEntry = -1;
} // namespace

struct Tasks::Header {
  int32_t kind;
  int32_t entry;
  uint32_t handle;
  uint32_t call;
  int32_t number; // of a slot or a partition
  int32_t status; // of an abort; of an arrival, the numbers of the position, or -1
  int64_t bytes;  // of data, or TFC_RT_SCALAR
  uint64_t value; // a scalar
};

/// A message for a call that has not begun.
struct Tasks::Stashed {
  Stashed *next;
  void *data;
  int32_t from, moreBytes;
  Header header;
  char more[];
};

/// Memory for data, in front of them.
struct alignas(64) Tasks::Piece {
  Piece *next;
  int64_t bytes;
};

/// The address of data without elements.
alignas(64) static char nothing[64];

static constexpr int64_t kDefaultTimeoutMs = 600'000;

/// The process that decides for all: of calls, that of the first partition.
static constexpr int32_t kDecider = 0;

namespace {
class Locked {
public:
  explicit Locked(pthread_mutex_t &mutex) : mutex(mutex) { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  pthread_mutex_t &mutex;
};
} // namespace

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
  state = &ofState;
  receiver = {this, place, arrived, sent, lost, tick};
  transport = given;
  if (tfc_status status = transport->attach(transport->context, &receiver)) {
    transport = nullptr;
    message.add("the transport to the other processes cannot begin");
    return status;
  }
  return TFC_OK;
}

void Tasks::detach() {
  if (transport)
    transport->detach(transport->context);
  while (Stashed *stashed = firstStashed) {
    firstStashed = stashed->next;
    give(stashed->data);
    state->allocator.give(stashed, sizeof(Stashed) + stashed->moreBytes);
  }
  while (Piece *piece = freePieces) {
    freePieces = piece->next;
    state->allocator.give(piece, sizeof(Piece) + piece->bytes);
  }
  transport = nullptr;
}

int32_t Tasks::taskOf(const tfc_partition_info &partition) const {
  int64_t task = state->model->devices[partition.device].task;
  return task < 0 ? 0 : static_cast<int32_t>(task);
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

void Tasks::post(int32_t task, const Header &header, const void *more, int32_t moreBytes,
                 const void *data, int64_t bytes, void *token) {
  char buffer[TFC_MAX_HEADER];
  memcpy(buffer, &header, sizeof(Header));
  if (moreBytes)
    memcpy(buffer + sizeof(Header), more, moreBytes);
  transport->send(transport->context, task, buffer,
                  static_cast<int32_t>(sizeof(Header)) + moreBytes, data, bytes, token);
}

/// Posts a message to each other process that has a partition of the running call.
void Tasks::postToAll(tfc_instance &handle, const Header &header, const void *more,
                      int32_t moreBytes) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  for (int32_t i = 0; i < partitioning.partition_count; ++i) {
    int32_t task = taskOf(partitioning.partitions[i]);
    bool isNew = task != transport->task;
    for (int32_t j = 0; j < i; ++j)
      isNew &= taskOf(partitioning.partitions[j]) != task;
    if (isNew)
      post(task, header, more, moreBytes);
  }
}

Tasks::Header Tasks::headerOf(tfc_instance &handle, int32_t kind) const {
  Header header = {};
  header.kind = kind;
  header.entry = static_cast<int32_t>(handle.tasks.entry - state->model->entries);
  header.handle = handle.tasks.handle;
  header.call = handle.tasks.number;
  return header;
}

//===- Memory of messages -------------------------------------------------===//

/// Returns memory that has been given back, if some is large enough and not much too large.
void *Tasks::take(int64_t bytes) {
  for (Piece **link = &freePieces; *link; link = &(*link)->next) {
    Piece *piece = *link;
    if (piece->bytes < bytes || piece->bytes / 8 > bytes + 512)
      continue;
    *link = piece->next;
    return piece + 1;
  }
  // Smaller ones have become useless, since messages grow.
  for (Piece **link = &freePieces; *link;) {
    Piece *piece = *link;
    if (piece->bytes >= bytes) {
      link = &piece->next;
      continue;
    }
    *link = piece->next;
    state->allocator.give(piece, sizeof(Piece) + piece->bytes);
  }
  void *memory = state->allocator.take(sizeof(Piece) + bytes);
  return memory ? new (memory) Piece{nullptr, bytes} + 1 : nullptr;
}

void Tasks::give(void *data) {
  if (!data)
    return;
  Piece *piece = static_cast<Piece *>(data) - 1;
  piece->next = freePieces;
  freePieces = piece;
}

//===- Handles ------------------------------------------------------------===//

void Tasks::number(tfc_instance &handle) {
  Locked lock(mutex);
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
      !call.waits.create(state->allocator, partitions) ||
      !call.arrivals.create(state->allocator, partitions) ||
      !call.held.create(state->allocator, slots))
    return false;
  for (uint32_t &count : call.calls)
    count = 0;
  Locked lock(mutex);
  call.next = handles;
  handles = &handle;
  return true;
}

void Tasks::remove(tfc_instance &handle) {
  if (!transport)
    return;
  Locked lock(mutex);
  for (tfc_instance **link = &handles; *link; link = &(*link)->tasks.next)
    if (*link == &handle) {
      *link = handle.tasks.next;
      return;
    }
}

tfc_instance *Tasks::find(uint32_t number) const {
  for (tfc_instance *handle = handles; handle; handle = handle->tasks.next)
    if (handle->tasks.handle == number)
      return handle;
  return nullptr;
}

//===- Calls --------------------------------------------------------------===//

/// Waits until the deciding process has said something, or the call is aborted. Under the mutex.
bool Tasks::await(tfc_instance &handle, bool TaskCall::*isReached) {
  TaskWait wait(handle, firstPartition(handle.tasks), TaskWait::For::All);
  while (!(handle.tasks.*isReached) && handle.rendezvous.status() == TFC_OK)
    pthread_cond_wait(&hasChanged, &mutex);
  return handle.rendezvous.status() == TFC_OK;
}

bool Tasks::begin(tfc_instance &handle, const int64_t *symbols) {
  Locked lock(mutex);
  announce(handle, symbols);
  return await(handle, &TaskCall::mayRun);
}

/// Notes that a process has begun or ended; the deciding one tells all when all have.
void Tasks::note(tfc_instance &handle, int32_t task, bool Arrivals::*flag) {
  TaskCall &call = handle.tasks;
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  for (int32_t i = 0; i < partitioning.partition_count; ++i)
    call.arrivals[i].*flag |= taskOf(partitioning.partitions[i]) == task;
  if (self() != kDecider || !haveAll(call, flag))
    return;
  bool begins = flag == &Arrivals::hasBegun;
  (begins ? call.mayRun : call.isOver) = true;
  postToAll(handle, headerOf(handle, begins ? kGo : kOver));
  pthread_cond_broadcast(&hasChanged);
}

/// Compares the sizes of a process with those here.
bool Tasks::compareSizes(tfc_instance &handle, int32_t from, const char *more, int32_t moreBytes) {
  TaskCall &call = handle.tasks;
  for (int32_t i = 0; i < moreBytes / 8 && i < call.entry->symbol_count; ++i) {
    int64_t theirs;
    memcpy(&theirs, more + i * sizeof(int64_t), sizeof(theirs));
    if (theirs == call.symbols[i])
      continue;
    char text[512];
    snprintf(text, sizeof(text), "%s: %s is %lld in %s, but %lld in %s", call.entry->name,
             call.entry->symbols[i].name, static_cast<long long>(call.symbols[i]), nameOf(self()),
             static_cast<long long>(theirs), nameOf(from));
    failAll(handle, TFC_INVALID_ARGUMENT, text);
    return false;
  }
  return true;
}

/// Begins a call here and tells the others.
void Tasks::announce(tfc_instance &handle, const int64_t *symbols) {
  TaskCall &call = handle.tasks;
  call.entry = handle.entry;
  auto entry = static_cast<int32_t>(call.entry - state->model->entries);
  call.number = ++call.calls[entry];
  call.symbols = symbols;
  call.commits = 0;
  call.mayRun = call.isOver = false;
  for (int32_t i = 0; i < call.entry->partitioning->partition_count; ++i) {
    call.arrivals[i] = {};
  }
  if (isLost)
    fail(handle, TFC_TASK_LOST, "the other processes cannot be reached any more");
  int32_t shown = TFC_MAX_HEADER / 2 / sizeof(int64_t);
  int32_t count = call.entry->symbol_count < shown ? call.entry->symbol_count : shown;
  if (self() != kDecider)
    post(kDecider, headerOf(handle, kBegin), symbols, count * sizeof(int64_t));
  replay(handle, entry, call.number);
  if (handle.rendezvous.status() == TFC_OK)
    note(handle, self(), &Arrivals::hasBegun);
}

/// Applies what has been kept for a call or an exchange that begins.
void Tasks::replay(tfc_instance &handle, int32_t entry, uint32_t number) {
  for (Stashed **link = &firstStashed; *link;) {
    Stashed *stashed = *link;
    const Header &header = stashed->header;
    bool isOurs = header.handle == handle.tasks.handle && header.entry == entry &&
                  header.call == number &&
                  (entry != kNoEntry || header.number == handle.tasks.exchange.step);
    if (!isOurs) {
      link = &stashed->next;
      continue;
    }
    *link = stashed->next;
    if (entry == kNoEntry)
      take(handle, stashed->from, header, stashed->more, stashed->moreBytes);
    else
      apply(handle, stashed->from, header, stashed->more, stashed->moreBytes, stashed->data);
    state->allocator.give(stashed, sizeof(Stashed) + stashed->moreBytes);
  }
  lastStashed = &firstStashed;
  while (*lastStashed)
    lastStashed = &(*lastStashed)->next;
}

//===- Exchanges ----------------------------------------------------------===//

/// Takes the part of a process in a step, or the verdict of the first one.
void Tasks::take(tfc_instance &handle, int32_t from, const Header &header, const char *more,
                 int32_t moreBytes) {
  TaskCall::Exchange &exchange = handle.tasks.exchange;
  const char *text = moreBytes > 0 && more[moreBytes - 1] == 0 ? more : "";
  if (from < 0 || from >= count() || header.number != exchange.step)
    return;
  if (header.kind == kVerdict) {
    if (from != kDecider)
      return;
    exchange.status = static_cast<tfc_status>(header.status);
    snprintf(exchange.message, sizeof(exchange.message), "%s", text);
    exchange.isDecided = true;
    pthread_cond_broadcast(&hasChanged);
    return;
  }
  int32_t status = header.status;
  if (header.bytes != exchange.operation) {
    status = TFC_FAILED_PRECONDITION;
    text = "some processes save and others load";
  }
  if (exchange.texts)
    snprintf(exchange.texts + from * exchange.textBytes, exchange.textBytes, "%s", text);
  if (status != TFC_OK && (exchange.failedTask < 0 || from < exchange.failedTask)) {
    exchange.failedTask = from;
    exchange.status = static_cast<tfc_status>(status);
    snprintf(exchange.message, sizeof(exchange.message), "%s", text);
  }
  --exchange.missing;
  pthread_cond_broadcast(&hasChanged);
}

void Tasks::beginOperation(tfc_instance &handle, Operation operation) {
  Locked lock(mutex);
  TaskCall::Exchange &exchange = handle.tasks.exchange;
  ++exchange.number;
  exchange.operation = operation;
  exchange.step = 0;
}

/// Waits until a step is decided. In the first process, that is when all have taken part.
void Tasks::settle(tfc_instance &handle) {
  TaskCall::Exchange &exchange = handle.tasks.exchange;
  bool decides = self() == kDecider;
  int64_t begin = nanoseconds(), limit = decides ? timeout : 2 * timeout;
  auto isOver = [&] { return decides ? exchange.missing == 0 : exchange.isDecided; };
  while (!isOver() && !isLost && nanoseconds() - begin < limit) {
    timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    next.tv_nsec += 50'000'000;
    next.tv_sec += next.tv_nsec / 1'000'000'000;
    next.tv_nsec %= 1'000'000'000;
    pthread_cond_timedwait(&hasChanged, &mutex, &next);
  }
  if (isOver())
    return;
  exchange.status = TFC_TASK_LOST;
  if (decides)
    snprintf(exchange.message, sizeof(exchange.message),
             "%d of %d processes have not taken part in time", exchange.missing, count());
  else
    snprintf(exchange.message, sizeof(exchange.message), "%s has not answered in time",
             nameOf(kDecider));
}

tfc_status Tasks::exchange(tfc_instance &handle, int32_t step, tfc_status status, const char *text,
                           char *texts, size_t textBytes) {
  TaskCall::Exchange &exchange = handle.tasks.exchange;
  Locked lock(mutex);
  exchange.step = step;
  exchange.isOpen = true;
  exchange.isDecided = false;
  exchange.missing = count();
  exchange.texts = texts;
  exchange.textBytes = textBytes;
  exchange.failedTask = -1;
  exchange.status = TFC_OK;
  exchange.message[0] = 0;
  Header header = {};
  header.kind = kPart;
  header.entry = kNoEntry;
  header.handle = handle.tasks.handle;
  header.call = exchange.number;
  header.number = step;
  header.status = status;
  header.bytes = exchange.operation;
  char bounded[kMostText];
  snprintf(bounded, sizeof(bounded), "%s", text);
  auto bytes = static_cast<int32_t>(strlen(bounded)) + 1;
  if (self() == kDecider)
    take(handle, kDecider, header, bounded, bytes);
  else
    post(kDecider, header, bounded, bytes);
  replay(handle, kNoEntry, exchange.number);
  settle(handle);
  exchange.isOpen = false;
  exchange.texts = nullptr;
  if (self() == kDecider) {
    header.kind = kVerdict;
    header.status = exchange.status;
    bytes = static_cast<int32_t>(strlen(exchange.message)) + 1;
    for (int32_t task = 0; task < count(); ++task)
      if (task != kDecider)
        post(task, header, exchange.message, bytes);
  }
  handle.message.clear();
  handle.message.add("%s", exchange.message);
  return exchange.status;
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
  while (!isHere(call.entry->partitioning->partitions[own]))
    ++own;
  return own;
}

void Tasks::end(tfc_instance &handle, bool hasFailed) {
  TaskCall &call = handle.tasks;
  Locked lock(mutex);
  // Where there are commits, they have decided.
  if (handle.rendezvous.status() == TFC_OK && !hasFailed && !call.entry->partitioning->commits) {
    if (self() != kDecider)
      post(kDecider, headerOf(handle, kEnd), nullptr, 0);
    note(handle, self(), &Arrivals::hasEnded);
    await(handle, &TaskCall::isOver);
  } else if (hasFailed) {
    call.arrivals[firstPartition(call)].hasEnded = true;
    await(handle, &TaskCall::isOver); // for the abort
  }
  while (call.unsent > 0)
    pthread_cond_wait(&hasChanged, &mutex);
  for (TaskCall::Held &held : call.held) {
    for (int32_t i = 0; i < held.count; ++i)
      give(held.data[i]);
    held.count = 0;
  }
  call.entry = nullptr;
}

void Tasks::skip(tfc_instance &handle, const tfc_entry_info &entry, int32_t status) {
  Locked lock(mutex);
  TaskCall &call = handle.tasks;
  call.entry = &entry;
  call.number = ++call.calls[&entry - state->model->entries];
  Header header = headerOf(handle, kAbort);
  header.status = status;
  const char *text = handle.message.c_str();
  postToAll(handle, header, text, static_cast<int32_t>(strlen(text)) + 1);
  drop(call, header.entry, call.number);
  call.entry = nullptr;
}

/// Drops what has been kept for calls of an entry up to this one.
void Tasks::drop(const TaskCall &call, int32_t entry, uint32_t number) {
  for (Stashed **link = &firstStashed; *link;) {
    Stashed *stashed = *link;
    const Header &header = stashed->header;
    if (header.handle != call.handle || header.entry != entry ||
        static_cast<int32_t>(header.call - number) > 0) {
      link = &stashed->next;
      continue;
    }
    *link = stashed->next;
    give(stashed->data);
    state->allocator.give(stashed, sizeof(Stashed) + stashed->moreBytes);
  }
  lastStashed = &firstStashed;
  while (*lastStashed)
    lastStashed = &(*lastStashed)->next;
}

//===- Partitions of this process -----------------------------------------===//

void Tasks::send(tfc_instance &handle, int32_t slot, const void *value, int64_t bytes) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  const tfc_partition_info &receiver = partitioning.partitions[partitioning.slots[slot].receiver];
  if (isHere(receiver))
    return;
  Locked lock(mutex);
  Header header = headerOf(handle, kData);
  header.number = slot;
  header.bytes = bytes;
  header.value = reinterpret_cast<uint64_t>(value);
  handle.tasks.unsent += bytes > 0;
  post(taskOf(receiver), header, nullptr, 0, value, bytes > 0 ? bytes : 0, &handle);
}

void Tasks::release(tfc_instance &handle, int32_t slot) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  const tfc_partition_info &sender = partitioning.partitions[partitioning.slots[slot].sender];
  if (isHere(sender))
    return;
  Locked lock(mutex);
  TaskCall::Held &held = handle.tasks.held[slot];
  if (held.count > 0) {
    give(held.data[0]);
    held.data[0] = held.data[1];
    --held.count;
  }
  Header header = headerOf(handle, kRelease);
  header.number = slot;
  post(taskOf(sender), header, nullptr, 0);
}

void Tasks::leave(tfc_instance &handle, int32_t partition) {
  Locked lock(mutex);
  Header header = headerOf(handle, kLeave);
  header.number = partition;
  postToAll(handle, header);
}

void Tasks::abort(tfc_instance &handle, int32_t status) {
  Locked lock(mutex);
  if (!handle.tasks.entry)
    return;
  Header header = headerOf(handle, kAbort);
  header.status = status;
  const char *text = handle.message.c_str();
  postToAll(handle, header, text, static_cast<int32_t>(strlen(text)) + 1);
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
    Locked lock(mutex);
    round = handle.tasks.arrivals[partition].count;
    const int64_t *numbers = failedCheck ? failedCheck->numbers : nullptr;
    int32_t size = failedCheck ? failedCheck->size : -1;
    Header header = headerOf(handle, kArrive);
    header.number = partition;
    header.status = size < TaskCall::kMostNumbers ? size : TaskCall::kMostNumbers;
    postToAll(handle, header, numbers, header.status > 0 ? header.status * 8 : 0);
    arrive(handle, partition, numbers, size);
  }
  TaskWait wait(handle, partition, TaskWait::For::All);
  if (!handle.rendezvous.awaitRound(round + 1))
    return TFC_RT_ABORTED;
  Locked lock(mutex);
  int32_t size, owner = -1;
  hasFailed = first(handle, round, size, owner) != nullptr;
  isFirst = owner == partition;
  return TFC_OK;
}

//===- Messages of other processes ----------------------------------------===//

void *Tasks::place(void *context, int64_t bytes) {
  auto &tasks = *static_cast<Tasks *>(context);
  Locked lock(tasks.mutex);
  return tasks.take(bytes);
}

void Tasks::sent(void *context, void *token) {
  auto &tasks = *static_cast<Tasks *>(context);
  Locked lock(tasks.mutex);
  --static_cast<tfc_instance *>(token)->tasks.unsent;
  pthread_cond_broadcast(&tasks.hasChanged);
}

/// Returns true unless the call has begun here.
bool Tasks::isForLater(const Header &header) const {
  tfc_instance *handle = find(header.handle);
  if (!handle)
    return header.handle > handleCount;
  if (header.entry == kNoEntry) {
    const TaskCall::Exchange &exchange = handle->tasks.exchange;
    auto later = static_cast<int32_t>(header.call - exchange.number);
    return later > 0 || (later == 0 && header.number > exchange.step);
  }
  return static_cast<int32_t>(header.call - handle->tasks.calls[header.entry]) > 0;
}

bool Tasks::stash(int32_t from, const Header &header, const char *more, int32_t moreBytes,
                  void *data) {
  void *memory = state->allocator.take(sizeof(Stashed) + moreBytes);
  if (!memory)
    return false;
  auto *stashed = new (memory) Stashed{nullptr, data, from, moreBytes, header};
  if (moreBytes)
    memcpy(stashed->more, more, moreBytes);
  *lastStashed = stashed;
  lastStashed = &stashed->next;
  return true;
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
    Locked lock(mutex);
    if (!hasAborted)
      return;
    hasAborted = false;
  }
  state->queues.change([] { return true; });
}

void Tasks::receive(int32_t from, const void *bytesOfHeader, int32_t headerBytes, void *data) {
  Locked lock(mutex);
  Header header;
  int32_t moreBytes = headerBytes - static_cast<int32_t>(sizeof(Header));
  if (moreBytes < 0)
    return give(data);
  memcpy(&header, bytesOfHeader, sizeof(Header));
  if (header.entry < kNoEntry || header.entry >= state->model->entry_count)
    return give(data);
  const char *more = static_cast<const char *>(bytesOfHeader) + sizeof(Header);
  tfc_instance *handle = find(header.handle);
  if (header.entry == kNoEntry && handle && handle->tasks.exchange.isOpen &&
      handle->tasks.exchange.number == header.call &&
      handle->tasks.exchange.step == header.number) {
    give(data);
    return take(*handle, from, header, more, moreBytes);
  }
  if (handle && header.entry != kNoEntry &&
      handle->tasks.entry == &state->model->entries[header.entry] &&
      handle->tasks.number == header.call)
    return apply(*handle, from, header, more, moreBytes, data);
  bool isLater = isForLater(header);
  if (isLater && stash(from, header, more, moreBytes, data))
    return;
  give(data);
  if (isLater)
    loseAll(TFC_OUT_OF_MEMORY, "not enough memory for a message of another process");
}

void Tasks::fail(tfc_instance &handle, int32_t status, const char *text) {
  if (handle.rendezvous.abort(status)) {
    handle.message.clear();
    handle.message.add("%s", text);
    hasAborted = true;
    pthread_cond_broadcast(&hasChanged);
  }
}

/// Fails the call in all processes.
void Tasks::failAll(tfc_instance &handle, int32_t status, const char *text) {
  fail(handle, status, text);
  Header header = headerOf(handle, kAbort);
  header.status = status;
  postToAll(handle, header, text, static_cast<int32_t>(strlen(text)) + 1);
}

/// Applies data unless they cannot be of this call.
void Tasks::applyData(tfc_instance &handle, int32_t from, const Header &header, void *data) {
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  bool isKnown = header.number >= 0 && header.number < partitioning.slot_count;
  if (!isKnown || taskOf(partitioning.partitions[partitioning.slots[header.number].sender]) != from)
    return give(data);
  if (header.bytes > 0 && !data)
    return failAll(handle, TFC_OUT_OF_MEMORY, "not enough memory for a message of another process");
  TaskCall::Held &held = handle.tasks.held[header.number];
  if (held.count == 2)
    return give(data);
  held.data[held.count++] = data;
  const void *value = header.bytes == TFC_RT_SCALAR ? reinterpret_cast<const void *>(header.value)
                      : header.bytes > 0            ? data
                                                    : nothing;
  handle.rendezvous.send(header.number, value);
}

void Tasks::apply(tfc_instance &handle, int32_t from, const Header &header, const char *more,
                  int32_t moreBytes, void *data) {
  TaskCall &call = handle.tasks;
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  if (header.kind == kData)
    return applyData(handle, from, header, data);
  give(data);
  bool isPartition = header.number >= 0 && header.number < partitioning.partition_count &&
                     taskOf(partitioning.partitions[header.number]) == from;
  switch (header.kind) {
  case kBegin:
    if (compareSizes(handle, from, more, moreBytes))
      note(handle, from, &Arrivals::hasBegun);
    return;
  case kGo:
  case kOver:
    if (from != kDecider)
      return;
    (header.kind == kGo ? call.mayRun : call.isOver) = true;
    pthread_cond_broadcast(&hasChanged);
    return;
  case kEnd:
    return note(handle, from, &Arrivals::hasEnded);
  case kRelease:
    if (header.number >= 0 && header.number < partitioning.slot_count)
      handle.rendezvous.release(header.number);
    return;
  case kLeave:
    if (isPartition)
      handle.rendezvous.leave(header.number);
    return;
  case kArrive: {
    int64_t numbers[TaskCall::kMostNumbers];
    int32_t size = header.status;
    if (!isPartition || size > TaskCall::kMostNumbers || size * 8 > moreBytes)
      return;
    if (size > 0)
      memcpy(numbers, more, size * sizeof(int64_t));
    return arrive(handle, header.number, numbers, size);
  }
  case kData:
  case kPart:
  case kVerdict:
    return;
  case kAbort:
    return fail(handle,
                header.status > 0 || header.status == kRestart ? header.status : TFC_INTERNAL,
                moreBytes > 0 && more[moreBytes - 1] == 0 ? more : "another process has failed");
  }
}

//===- Waits --------------------------------------------------------------===//

/// Fails the running calls, and all later ones.
void Tasks::loseAll(int32_t status, const char *text) {
  isLost = true;
  pthread_cond_broadcast(&hasChanged);
  for (tfc_instance *handle = handles; handle; handle = handle->tasks.next)
    if (handle->tasks.entry && handle->rendezvous.status() == TFC_OK)
      failAll(*handle, status, text);
}

void Tasks::lost(void *context, int32_t task, const char *reason) {
  auto &tasks = *static_cast<Tasks *>(context);
  {
    Locked lock(tasks.mutex);
    char text[512];
    snprintf(text, sizeof(text), "%s cannot be reached any more%s%s", tasks.nameOf(task),
             reason ? ": " : "", reason ? reason : "");
    tasks.loseAll(TFC_TASK_LOST, text);
  }
  tasks.wakeQueues();
}

/// The process for which a partition waits; -1 if it waits for one of this process. `limit` is set
/// to the time after which the call fails: the deciding process decides first.
int32_t Tasks::awaitedBy(const TaskCall &call, int32_t partition, int64_t &limit) const {
  limit = timeout;
  int32_t task = call.waits[partition].task.load(std::memory_order_relaxed);
  if (task >= 0)
    return task;
  bool awaitsAll = !call.mayRun || call.arrivals[partition].hasEnded;
  if (awaitsAll && self() != kDecider) {
    limit = 2 * timeout;
    return kDecider;
  }
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  for (int32_t i = 0; i < partitioning.partition_count; ++i) {
    const Arrivals &other = call.arrivals[i];
    bool isMissing = !call.mayRun                        ? !other.hasBegun
                     : call.arrivals[partition].hasEnded ? !other.hasEnded
                                                         : other.count <= call.commits;
    if (isMissing && !isHere(partitioning.partitions[i]))
      return taskOf(partitioning.partitions[i]);
  }
  return -1;
}

void Tasks::tick(void *context) {
  auto &tasks = *static_cast<Tasks *>(context);
  tasks.failLate();
  tasks.wakeQueues();
}

/// Fails the calls that have waited too long.
void Tasks::failLate() {
  Locked lock(mutex);
  int64_t now = nanoseconds();
  for (tfc_instance *handle = handles; handle; handle = handle->tasks.next) {
    TaskCall &call = handle->tasks;
    const tfc_entry_info *entry = call.entry;
    for (int32_t i = 0; entry && i < entry->partitioning->partition_count; ++i) {
      // Acquire: pairs with the release of the wait.
      int64_t since = call.waits[i].since.load(std::memory_order_acquire), limit;
      int32_t task = since ? awaitedBy(call, i, limit) : -1;
      if (task < 0 || now - since < limit || handle->rendezvous.status() != TFC_OK)
        continue;
      char text[512];
      snprintf(text, sizeof(text), "%s: nothing has come from %s for %lld ms", entry->name,
               nameOf(task), static_cast<long long>((now - since) / 1'000'000));
      failAll(*handle, TFC_TASK_LOST, text);
    }
  }
}

TaskWait::TaskWait(tfc_instance &handle, int32_t partition, For what, int32_t slot) {
  const tfc_entry_info *entry = handle.tasks.entry;
  if (!entry)
    return;
  const Tasks &tasks = handle.state->tasks;
  const tfc_partitioning &partitioning = *entry->partitioning;
  int32_t task = -1;
  if (what != For::All) {
    const tfc_slot_info &ends = partitioning.slots[slot];
    const tfc_partition_info &other =
        partitioning.partitions[what == For::Sender ? ends.sender : ends.receiver];
    if (tasks.isHere(other))
      return;
    task = tasks.taskOf(other);
  }
  wait = &handle.tasks.waits[partition];
  wait->task.store(task, std::memory_order_relaxed);
  // Release: pairs with the acquire of `tick`.
  wait->since.store(nanoseconds(), std::memory_order_release);
}

TaskWait::~TaskWait() {
  if (wait)
    wait->since.store(0, std::memory_order_relaxed);
}
