//===- TaskTurns.cpp - Calls of one process alone -------------------------===//
//
// Asks the other processes to take part in a call or an operation, and lets all hold their states
// in the order of their tasks.
//
//===----------------------------------------------------------------------===//

#include "runtime/Clock.h"
#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

//===- Who takes part -----------------------------------------------------===//

/// Returns true for the tasks of an entry, or for all if it is null.
bool Tasks::takesPart(const TaskCall &call, const tfc_entry_info *entry, int32_t task) const {
  for (int32_t i = 0; entry && i < entry->partitioning->partition_count; ++i)
    if (taskOf(call, entry->partitioning->partitions[i]) == task)
      return true;
  return !entry;
}

/// The first such task after another one; -1 if there is none.
int32_t Tasks::nextPart(const TaskCall &call, const tfc_entry_info *entry, int32_t task) const {
  do
    ++task;
  while (task < count() && !takesPart(call, entry, task));
  return task < count() ? task : -1;
}

/// The last such task before this one.
int32_t Tasks::taskBefore(const TaskCall &call, const tfc_entry_info *entry) const {
  int32_t before = -1;
  for (int32_t task = nextPart(call, entry, -1); task >= 0 && task < self();
       task = nextPart(call, entry, task))
    before = task;
  return before;
}

int32_t Tasks::lastPart(const TaskCall &call) const {
  int32_t last = count() - 1;
  while (!takesPart(call, call.entry, last))
    --last;
  return last;
}

//===- Calls --------------------------------------------------------------===//

uint32_t Tasks::callsOf(const tfc_instance &handle, const tfc_entry_info &entry) {
  return handle.tasks.calls[&entry - handle.state->model->entries];
}

int64_t Tasks::accessOf(const TaskCall &call, const tfc_entry_info &entry, int32_t task) const {
  int64_t access = 0;
  for (int32_t i = 0; i < entry.partitioning->partition_count; ++i) {
    const tfc_partition_info &partition = entry.partitioning->partitions[i];
    if (taskOf(call, partition) == task && partition.access % 4 > access)
      access = partition.access % 4;
  }
  return access;
}

bool Tasks::mayPause(const tfc_instance &handle) const {
  const TaskCall &call = handle.tasks;
  for (int32_t task = self() + 1; isAlone && call.entry && task < count(); ++task)
    if (accessOf(call, *call.entry, task) > 0)
      return false;
  return true;
}

bool Tasks::othersUseQueues(const tfc_instance &handle) const {
  const TaskCall &call = handle.tasks;
  const tfc_partitioning *partitioning = isAlone && call.entry ? call.entry->partitioning : nullptr;
  for (int32_t i = 0; partitioning && i < partitioning->partition_count; ++i)
    if (partitioning->partitions[i].access >= 4 && !isHere(call, partitioning->partitions[i]))
      return true;
  return false;
}

int32_t Tasks::sharedBy(const tfc_call_frame &frame, int64_t &limit) const {
  int32_t task = isAlone ? static_cast<int32_t>(state->model->devices[frame.device].task) : -1;
  limit = task >= 0 ? timeout : 0;
  return task;
}

tfc_status Tasks::checkAlone(tfc_instance &handle, const tfc_entry_info &entry) {
  if (isAlone && handle.tasks.leader == self()) {
    MutexLock lock(mutex);
    if (hasSaidBye)
      return handle.fail(TFC_FAILED_PRECONDITION, "%s: a process makes no calls after 'serve'",
                         entry.name);
  }
  if (!isAlone || entry.symbol_count <= kMostSizes)
    return TFC_OK;
  return handle.fail(TFC_INVALID_ARGUMENT,
                     "%s: has %d sizes, but a process can call only entries with at most %d alone",
                     entry.name, entry.symbol_count, kMostSizes);
}

void Tasks::invite(tfc_instance &handle, const tfc_entry_info &entry, const int64_t *symbols) {
  MutexLock lock(mutex);
  TaskCall &call = handle.tasks;
  int32_t number = numberOf(entry);
  postToParts(call, entry, headerOf(call, TaskMessage::Begin, number, call.calls[number] + 1),
              symbols, entry.symbol_count * static_cast<int32_t>(sizeof(int64_t)));
}

void Tasks::awaitTurnOfCall(tfc_instance &handle, const tfc_entry_info &entry) {
  MutexLock lock(mutex);
  TaskCall &call = handle.tasks;
  call.isLate = !awaitTask(call, &entry, numberOf(entry), call.calls[numberOf(entry)] + 1);
}

/// Waits until the task before this one passes the turn, or the call fails, which an abort that has
/// been kept says. Returns false if neither happens in time. Under the mutex.
bool Tasks::awaitTask(const TaskCall &call, const tfc_entry_info *entry, int32_t entryNumber,
                      uint32_t number) {
  if (nextPart(call, entry, -1) == self())
    return true;
  auto isDecisive = [&](const TaskHeader &header) {
    return call.owns(header) && header.entry == entryNumber && header.call == number &&
           (header.kind == TaskMessage::Turn || header.kind == TaskMessage::Abort);
  };
  // Those that are later in the order wait longer, so that the message names the right one.
  int64_t begin = nanoseconds(), limit = timeout + self() * int64_t(60'000'000);
  while (!stash.contains(isDecisive)) {
    if (isLost() || server.isClosing() || nanoseconds() - begin >= limit)
      return false;
    waitBriefly();
  }
  return true;
}

/// Lets the next task hold its state; after the last one, the call begins.
void Tasks::giveTurn(tfc_instance &handle) {
  TaskCall &call = handle.tasks;
  if (handle.rendezvous.status() != TFC_OK)
    return;
  if (call.isLate) {
    char text[512];
    snprintf(text, sizeof(text), "%s: %s has not held its state in time", call.entry->name,
             nameOf(taskBefore(call, call.entry)));
    return failAll(handle, TFC_TASK_LOST, text);
  }
  int32_t next = nextPart(call, call.entry, self());
  if (next >= 0)
    return post(next, headerOf(handle, TaskMessage::Turn), nullptr, 0);
  call.mayRun = true;
  postToAll(handle, headerOf(handle, TaskMessage::Go));
}

//===- Operations ---------------------------------------------------------===//

tfc_status Tasks::awaitTurnOfOperation(tfc_instance &handle) {
  if (!isAlone)
    return TFC_OK;
  MutexLock lock(mutex);
  const TaskCall &call = handle.tasks;
  uint32_t number = call.exchange.number;
  bool isInTime = awaitTask(call, nullptr, kNoEntry, number);
  auto isPast = [&](const TaskHeader &header) {
    return header.kind == TaskMessage::Turn && header.entry == kNoEntry && call.owns(header) &&
           static_cast<int32_t>(header.call - number) <= 0;
  };
  stash.takeEach(isPast, [](const TaskHeader &, const MessageStash::Message &) {});
  if (isInTime)
    return TFC_OK;
  return handle.fail(TFC_TASK_LOST, "%s has not held its state in time",
                     nameOf(taskBefore(call, nullptr)));
}

void Tasks::passTurn(tfc_instance &handle) {
  MutexLock lock(mutex);
  const TaskCall &call = handle.tasks;
  int32_t next = nextPart(call, nullptr, self());
  if (isAlone && next >= 0)
    post(next, headerOf(call, TaskMessage::Turn, kNoEntry, call.exchange.number), nullptr, 0);
}

//===- The end ------------------------------------------------------------===//

void Tasks::open() {
  MutexLock lock(mutex);
  if (isAlone)
    server.open();
}

/// Tells the others once that this process makes no more calls; with a status, that it takes part
/// in none.
void Tasks::sayBye(int32_t status) {
  if (hasSaidBye)
    return;
  hasSaidBye = true;
  TaskHeader header = server.headerOfSign(TaskMessage::Bye);
  header.status = status;
  postToOthers(header);
}

/// Waits until the other processes have come to their end. Returns false if one has not, but has
/// been silent for too long.
bool Tasks::awaitOthers() {
  MutexLock lock(mutex);
  sayBye(isAlone ? TFC_TASK_LOST : TFC_OK);
  int64_t milliseconds;
  for (; server.awaitsCalls() && !isCutOff; hasBye.wait(mutex, nullptr))
    if (server.findSilent(milliseconds) >= 0)
      return false;
  return !isCutOff;
}

tfc_status Tasks::serve(tfc_instance &handle) {
  MutexLock lock(mutex);
  if (!server.isOpen())
    return TFC_OK;
  sayBye(TFC_OK);
  int64_t milliseconds;
  for (; server.awaitsCalls() && !isLost(); hasBye.wait(mutex, nullptr))
    if (int32_t task = server.findSilent(milliseconds); task >= 0)
      return handle.fail(TFC_TASK_LOST, "serve: nothing has come from %s for %lld ms", nameOf(task),
                         static_cast<long long>(milliseconds));
  return isLost() ? handle.fail(static_cast<tfc_status>(lostStatus), "%s", lostText) : TFC_OK;
}

void Tasks::close(tfc_instance &handle) {
  serve(handle);
  server.close();
}

extern "C" tfc_status tfc_instance_serve(tfc_instance *instance) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  if (!instance->state->tasks.areUsed())
    return TFC_OK;
  if (!instance->state->tasks.areAlone())
    return instance->fail(TFC_FAILED_PRECONDITION,
                          "processes that call entries together do not serve");
  return instance->state->tasks.serve(*instance);
}
