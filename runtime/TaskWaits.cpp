//===- TaskWaits.cpp - Waits for other processes --------------------------===//
//
// Ends waits that have taken too long, and those for processes that cannot be reached.
//
//===----------------------------------------------------------------------===//

#include "runtime/Clock.h"
#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

void Tasks::poll(void *context, bool isLast) {
  auto &tasks = *static_cast<Tasks *>(context);
  Gpu::Scope scope(tasks.anyGpu.load(std::memory_order_acquire));
  tasks.transport->poll(tasks.transport->context, isLast);
}

static constexpr int64_t kBrief = 50'000'000;

/// Waits until something changes, but not for long. Under the mutex.
void Tasks::waitBriefly() { hasChanged.wait(mutex, spinWork(), kBrief); }

const TaskCall::Leaving *TaskCall::firstLeaving() const {
  for (const Leaving &one : leaving)
    if (one.count > 0)
      return &one;
  return nullptr;
}

/// Waits until the data of messages may change, or a process has not taken them in time: then the
/// call fails, and the handle makes no other one until it has. Under the mutex.
void Tasks::awaitUnsent(tfc_instance &handle) {
  TaskCall &call = handle.tasks;
  for (int64_t begin = nanoseconds(); call.unsent > 0; waitBriefly()) {
    int64_t elapsed = nanoseconds() - begin;
    if (isLost() && elapsed > kBrief)
      return;
    if (elapsed < timeout)
      continue;
    char text[512];
    snprintf(text, sizeof(text), "%s: %s has not taken data for %lld ms", call.entry->name,
             nameOf(call.firstLeaving()->task), static_cast<long long>(elapsed / 1'000'000));
    return failAll(handle, TFC_TASK_LOST, text);
  }
}

tfc_status Tasks::checkSent(tfc_instance &handle, const tfc_entry_info &entry) {
  if (!transport)
    return TFC_OK;
  MutexLock lock(mutex);
  if (handle.tasks.unsent == 0)
    return TFC_OK;
  return handle.fail(TFC_TASK_LOST, "%s: %s has not taken data of an earlier call", entry.name,
                     nameOf(handle.tasks.firstLeaving()->task));
}

/// Fails the running calls, and all later ones.
void Tasks::loseAll(int32_t status, const char *text) {
  if (lostStatus == TFC_OK) {
    lostStatus = status;
    snprintf(lostText, sizeof(lostText), "%s", text);
  }
  hasChanged.notify();
  hasBye.notify();
  for (tfc_instance *handle = handles; handle; handle = handle->tasks.next)
    if (handle->tasks.entry && handle->rendezvous.status() == TFC_OK)
      failAll(*handle, status, text);
}

void Tasks::lost(void *context, int32_t task, const char *reason) {
  auto &tasks = *static_cast<Tasks *>(context);
  {
    MutexLock lock(tasks.mutex);
    char text[512];
    snprintf(text, sizeof(text), "%s cannot be reached any more%s%s", tasks.nameOf(task),
             reason ? ": " : "", reason ? reason : "");
    tasks.isCutOff = true;
    tasks.loseAll(TFC_TASK_LOST, text);
  }
  tasks.wakeQueues();
}

/// Returns true if a partition of an entry may wait at a queue.
static bool usesQueues(const tfc_entry_info &entry) {
  for (int32_t i = 0; i < entry.partitioning->partition_count; ++i)
    if (entry.partitioning->partitions[i].access >= 4)
      return true;
  return false;
}

/// The process for which a partition waits; -1 if it waits for one of this process. `limit` is set
/// to the time after which the call fails: the deciding process decides first, and one that waits
/// at a queue before.
int32_t Tasks::awaitedBy(const TaskCall &call, int32_t partition, int64_t &limit) const {
  limit = isAlone && usesQueues(*call.entry) ? timeout + timeout / 8 + 4 * kBrief : timeout;
  int32_t task = call.waits[partition].task.load(std::memory_order_relaxed);
  if (task >= 0)
    return task;
  bool awaitsAll = !call.mayRun || call.arrivals[partition].hasEnded;
  bool awaitsTurns = isAlone && !call.mayRun;
  if (awaitsTurns || (awaitsAll && self() != call.decider())) {
    limit *= 2;
    return awaitsTurns ? lastPart(call) : call.decider();
  }
  const tfc_partitioning &partitioning = *call.entry->partitioning;
  for (int32_t i = 0; i < partitioning.partition_count; ++i) {
    const Arrivals &other = call.arrivals[i];
    bool isMissing = !call.mayRun                        ? !other.hasBegun
                     : call.arrivals[partition].hasEnded ? !other.hasEnded
                                                         : other.count <= call.commits;
    if (isMissing && !isHere(call, partitioning.partitions[i]))
      return taskOf(call, partitioning.partitions[i]);
  }
  return -1;
}

void Tasks::tick(void *context) {
  auto &tasks = *static_cast<Tasks *>(context);
  tasks.failLate();
  tasks.wakeQueues();
  if (tasks.isAlone)
    tasks.state->queues.wake();
  MutexLock lock(tasks.mutex);
  tasks.server.tick();
}

/// The entry that a process calls while this one has begun another call; null if that is not known.
const char *Tasks::entryOf(int32_t task, const TaskCall &call) const {
  const char *name = nullptr;
  stash.forEach([&](const TaskHeader &header, int32_t from) {
    bool isOther = !isAlone && from == task && header.kind == TaskMessage::Begin &&
                   call.owns(header) && header.entry != kNoEntry;
    if (isOther && !name)
      name = state->model->entries[header.entry].name;
  });
  return name;
}

/// Fails the calls that have waited too long.
void Tasks::failLate() {
  MutexLock lock(mutex);
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
      if (const char *other = entryOf(task, call))
        snprintf(text, sizeof(text), "%s: %s calls '%s' instead", entry->name, nameOf(task), other);
      else
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
    if (tasks.isHere(handle.tasks, other))
      return;
    task = tasks.taskOf(handle.tasks, other);
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
