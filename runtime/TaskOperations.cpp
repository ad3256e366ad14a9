//===- TaskOperations.cpp - Operations of all processes -------------------===//
//
// Implements the steps in which processes agree on the success of an operation, such as a
// checkpoint of all of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Clock.h"
#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

bool TaskExchange::isLater(const TaskHeader &header) const {
  auto later = static_cast<int32_t>(header.call - number);
  return later > 0 || (later == 0 && header.number > step);
}

/// Takes the part of a process in a step, or the verdict of the first one.
void Tasks::takePart(tfc_instance &handle, const TaskHeader &header,
                     const MessageStash::Message &message) {
  pool.give(message.data);
  TaskExchange &exchange = handle.tasks.exchange;
  const char *text = message.text();
  int32_t from = message.from;
  if (from < 0 || from >= count())
    return;
  if (header.kind == TaskMessage::Verdict) {
    if (from != handle.tasks.decider())
      return;
    exchange.status = static_cast<tfc_status>(header.status);
    snprintf(exchange.message, sizeof(exchange.message), "%s", text);
    exchange.isDecided = true;
    hasChanged.notify();
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
  handle.tasks.hasTakenPart[from] = true;
  --exchange.missing;
  hasChanged.notify();
}

void Tasks::beginOperation(tfc_instance &handle, Operation operation, const char *path) {
  MutexLock lock(mutex);
  TaskExchange &exchange = handle.tasks.exchange;
  ++exchange.number;
  exchange.operation = operation;
  exchange.step = 0;
  if (!isAlone || handle.tasks.leader != self())
    return;
  TaskHeader header = headerOf(handle.tasks, TaskMessage::Begin, kNoEntry, exchange.number);
  header.number = operation;
  postToOthers(header, path, static_cast<int32_t>(strlen(path)) + 1);
}

/// Writes who has not taken part in a step.
void Tasks::nameMissing(const tfc_instance &handle, TaskExchange &exchange) const {
  const Objects<bool> &hasTakenPart = handle.tasks.hasTakenPart;
  int32_t first = 0;
  while (first + 1 < count() && hasTakenPart[first])
    ++first;
  char others[32] = "";
  if (exchange.missing > 1)
    snprintf(others, sizeof(others), ", and %d more,", exchange.missing - 1);
  snprintf(exchange.message, sizeof(exchange.message), "%s%s %s not taken part in time",
           nameOf(first), others, exchange.missing > 1 ? "have" : "has");
}

/// Waits until a step is decided. In the first process, that is when all have taken part.
void Tasks::settle(tfc_instance &handle) {
  TaskExchange &exchange = handle.tasks.exchange;
  bool decides = self() == handle.tasks.decider();
  int64_t begin = nanoseconds(), limit = decides ? timeout : 2 * timeout;
  auto isOver = [&] { return decides ? exchange.missing == 0 : exchange.isDecided; };
  while (!isOver() && !isLost() && nanoseconds() - begin < limit)
    waitBriefly();
  if (isOver())
    return;
  exchange.status = TFC_TASK_LOST;
  if (decides)
    nameMissing(handle, exchange);
  else
    snprintf(exchange.message, sizeof(exchange.message), "%s has not answered in time",
             nameOf(handle.tasks.decider()));
}

tfc_status Tasks::exchange(tfc_instance &handle, int32_t step, tfc_status status, const char *text,
                           char *texts, size_t textBytes) {
  TaskExchange &exchange = handle.tasks.exchange;
  MutexLock lock(mutex);
  exchange = {.number = exchange.number,
              .operation = exchange.operation,
              .step = step,
              .isOpen = true,
              .missing = count(),
              .texts = texts,
              .textBytes = textBytes,
              .message = ""};
  for (bool &hasTaken : handle.tasks.hasTakenPart)
    hasTaken = false;
  int32_t decider = handle.tasks.decider();
  TaskHeader header = headerOf(handle.tasks, TaskMessage::Part, kNoEntry, exchange.number);
  header.number = step;
  header.status = status;
  header.bytes = exchange.operation;
  char bounded[kMostText];
  snprintf(bounded, sizeof(bounded), "%s", text);
  auto bytes = static_cast<int32_t>(strlen(bounded)) + 1;
  if (self() == decider)
    takePart(handle, header, {decider, bytes, bounded, nullptr});
  else
    post(decider, header, bounded, bytes);
  auto isOurs = [&](const TaskHeader &kept) {
    return handle.tasks.owns(kept) && kept.entry == kNoEntry && exchange.takes(kept);
  };
  stash.takeEach(isOurs, [&](const TaskHeader &kept, const MessageStash::Message &message) {
    takePart(handle, kept, message);
  });
  settle(handle);
  exchange.isOpen = false;
  exchange.texts = nullptr;
  if (self() == decider) {
    header.kind = TaskMessage::Verdict;
    header.status = exchange.status;
    postToOthers(header, exchange.message, static_cast<int32_t>(strlen(exchange.message)) + 1);
  }
  handle.message.clear();
  handle.message.add("%s", exchange.message);
  return exchange.status;
}
