//===- TaskServer.cpp - Calls that other processes make alone -------------===//
//
// Runs a thread for each handle of another process that calls alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/TaskServer.h"

#include "runtime/Clock.h"
#include "runtime/Instance.h"

using namespace tfc::runtime;

/// Of signs of life, in nanoseconds.
static constexpr int64_t kLeastInterval = 100'000'000, kMostInterval = INT64_MAX / 8;

//===- Messages, under the mutex of the tasks -----------------------------===//

TaskServer::Session *TaskServer::find(const TaskHeader &header) const {
  for (Session *session = sessions; session; session = session->next)
    if (header.isOf(session->leader, session->number))
      return session;
  return nullptr;
}

void TaskServer::open() {
  hasOpened = true;
  tasks.stash.forEach([&](const TaskHeader &header, int32_t) {
    if (header.kind == TaskMessage::Begin)
      start(header);
  });
}

/// Returns null if there is no memory.
TaskServer::Session *TaskServer::findOrAdd(const TaskHeader &header) {
  if (Session *session = find(header))
    return session;
  void *memory = tasks.state->allocator.take(sizeof(Session));
  if (!memory)
    return nullptr;
  auto *session = new (memory) Session{this, header.leader, header.handle};
  session->next = sessions;
  sessions = session;
  return session;
}

/// Lets a call, or an operation, fail that this process cannot take part in.
void TaskServer::refuse(const TaskHeader &header, int32_t status, const char *text) {
  TaskHeader answer = header;
  answer.status = status;
  auto bytes = static_cast<int32_t>(strlen(text)) + 1;
  if (header.entry == kNoEntry) {
    // The first step of the operation.
    answer.kind = TaskMessage::Part;
    answer.bytes = header.number;
    answer.number = 1;
    return tasks.post(header.leader, answer, text, bytes);
  }
  answer.kind = TaskMessage::Abort;
  TaskCall call;
  call.leader = header.leader;
  tasks.postToParts(call, tasks.state->model->entries[header.entry], answer, text, bytes);
}

/// Frees the threads of sessions that are gone.
void TaskServer::joinEnded() {
  for (Session *session = sessions; session; session = session->next)
    if (session->isGone && session->hasThread) {
      pthread_join(session->thread, nullptr);
      session->hasThread = false;
    }
}

/// Forgets the calls of a handle that has been destroyed before this process took part in any.
void TaskServer::drop(const TaskHeader &header) {
  auto isOurs = [&](const TaskHeader &kept) { return kept.isOf(header.leader, header.handle); };
  tasks.stash.takeEach(isOurs, [&](const TaskHeader &, const MessageStash::Message &message) {
    tasks.pool.give(message.data);
  });
}

/// Starts a session, for a message that has been kept.
void TaskServer::start(const TaskHeader &header) {
  Session *session = findOrAdd(header);
  if (session && (session->hasThread || session->hasEnded))
    return;
  joinEnded();
  if (session)
    session->hasThread = startThread(session->thread, run, session);
  if (!session || !session->hasThread)
    refuse(header, TFC_OUT_OF_MEMORY, "cannot start a thread for the calls of another process");
}

/// Keeps a message for the thread of its session.
bool TaskServer::keep(const TaskHeader &header, const MessageStash::Message &message) {
  tasks.pool.give(message.data);
  MessageStash::Message kept = message;
  kept.data = nullptr;
  Session *session = find(header);
  if (isStopping)
    refuse(header, TFC_TASK_LOST, "a process takes no part in calls any more");
  else if (session && session->hasEnded)
    refuse(header, TFC_OUT_OF_MEMORY, "not enough memory for the calls of another process");
  else if (!tasks.stash.add(header, kept))
    refuse(header, TFC_OUT_OF_MEMORY, "not enough memory for a message of another process");
  else if (hasOpened)
    start(header);
  if (session)
    session->hasWork.notify();
  return true;
}

bool TaskServer::take(const TaskHeader &header, const MessageStash::Message &message) {
  Session *session = find(header);
  bool isOfLeader =
      message.from == header.leader && message.from >= 0 && message.from < peers.size();
  switch (header.kind) {
  case TaskMessage::Begin:
    return isOfLeader && header.leader != tasks.self() && keep(header, message);
  case TaskMessage::Close:
    if (session && isOfLeader) {
      session->isClosed = true;
      session->hasWork.notify();
    }
    if (!session && isOfLeader)
      drop(header);
    break;
  case TaskMessage::Cancel:
    session = isOfLeader && header.leader != tasks.self() ? findOrAdd(header) : nullptr;
    if (!session)
      break;
    session->isCancelled = true;
    if (session->handle)
      // Relaxed: waits at queues are woken afterwards, under their mutex.
      session->handle->cancelled.store(true, std::memory_order_relaxed);
    tasks.hasAborted = true;
    break;
  default:
    // Others may still send what its last call needs.
    if (!session || !session->hasEnded)
      return false;
  }
  tasks.pool.give(message.data);
  tasks.hasChanged.notify();
  return true;
}

//===- Signs of life, under the mutex of the tasks ------------------------===//

bool TaskServer::initialise(int64_t timeout) {
  interval = timeout / 4 > kLeastInterval ? timeout / 4 : kLeastInterval;
  lastTick = nextSign = nanoseconds();
  if (!peers.create(tasks.state->allocator, tasks.count()))
    return false;
  for (Peer &peer : peers)
    peer.limit = timeout > 10 * kLeastInterval ? timeout : 10 * kLeastInterval;
  return true;
}

TaskHeader TaskServer::headerOfSign(TaskMessage kind) const {
  TaskHeader header = {};
  header.kind = kind;
  header.entry = kNoEntry;
  header.leader = tasks.isAlone ? tasks.self() : kTogether;
  return header;
}

/// Signs of a process with which no call is possible are understood, too.
void TaskServer::hear(int32_t from, const TaskHeader &header) {
  if (from < 0 || from >= peers.size())
    return;
  Peer &peer = peers[from];
  peer.isHeard = true;
  if (header.kind == TaskMessage::Alive && peer.limit / 4 < header.bytes)
    peer.limit = 4 * (header.bytes < kMostInterval ? header.bytes : kMostInterval);
  if (header.kind != TaskMessage::Bye)
    return;
  peer.hasSaidBye = true;
  tasks.hasBye.notify();
}

bool TaskServer::mayCall(int32_t task) const {
  return task != tasks.self() && !peers[task].hasSaidBye;
}

bool TaskServer::awaitsCalls() const {
  int32_t task = 0;
  while (task < peers.size() && !mayCall(task))
    ++task;
  return task < peers.size();
}

int32_t TaskServer::findSilent(int64_t &milliseconds) const {
  for (int32_t task = 0; task < peers.size(); ++task) {
    milliseconds = peers[task].silence / 1'000'000;
    if (isSilent(task))
      return task;
  }
  return -1;
}

void TaskServer::tick() {
  int64_t now = nanoseconds(), passed = now - lastTick;
  lastTick = now;
  for (int32_t task = 0; task < peers.size(); ++task) {
    Peer &peer = peers[task];
    // This process may have been stopped itself.
    peer.silence = peer.isHeard ? 0 : peer.silence + (passed < interval ? passed : interval);
    peer.isHeard = false;
    if (isSilent(task))
      tasks.hasBye.notify();
  }
  if (now < nextSign || tasks.hasSaidBye)
    return;
  nextSign = now + interval;
  TaskHeader header = headerOfSign(TaskMessage::Alive);
  header.bytes = interval;
  for (int32_t task = 0; task < peers.size(); ++task)
    if (task != tasks.self() && !isSilent(task))
      tasks.post(task, header, nullptr, 0);
}

//===- A session, on its thread -------------------------------------------===//

void *TaskServer::run(void *context) {
  auto &session = *static_cast<Session *>(context);
  TaskServer &server = *session.server;
  TaskHeader header;
  char path[kMostText];
  session.path = path;
  if (server.createHandle(session))
    while (server.await(session, header))
      server.takePart(session, header);
  tfc_instance *handle = session.handle;
  {
    MutexLock lock(server.tasks.mutex);
    session.handle = nullptr;
    session.hasEnded = true;
  }
  if (handle)
    destroyHandle(handle);
  MutexLock lock(server.tasks.mutex);
  session.isGone = true; // needs the mutex no more
  return nullptr;
}

bool TaskServer::createHandle(Session &session) {
  tfc_instance *handle = createServed(tasks.state, session.leader, session.number);
  tfc_status status = handle ? reserveRoom(*handle) : TFC_OUT_OF_MEMORY;
  MutexLock lock(tasks.mutex);
  if (status == TFC_OK && session.isCancelled)
    handle->cancelled.store(true, std::memory_order_relaxed);
  session.handle = handle;
  if (status == TFC_OK)
    return true;
  const char *text =
      handle ? handle->message.c_str() : "not enough memory for the calls of another process";
  session.hasEnded = true;
  auto isOurs = [&](const TaskHeader &kept) { return kept.isOf(session.leader, session.number); };
  tasks.stash.takeEach(isOurs, [&](const TaskHeader &kept, const MessageStash::Message &message) {
    tasks.pool.give(message.data);
    if (kept.kind == TaskMessage::Begin)
      refuse(kept, status, text);
  });
  return false;
}

/// Waits until the leader wants this process to take part in something. Returns false when it
/// never will again.
bool TaskServer::await(Session &session, TaskHeader &header) {
  tfc_instance &handle = *session.handle;
  auto isOurs = [&](const TaskHeader &kept) {
    return kept.kind == TaskMessage::Begin && kept.isOf(session.leader, session.number);
  };
  auto take = [&](const TaskHeader &kept, const MessageStash::Message &message) {
    header = kept;
    if (kept.entry == kNoEntry) {
      snprintf(session.path, kMostText, "%s", message.text());
      handle.tasks.exchange.number = kept.call - 1;
      return;
    }
    int32_t bytes = tasks.state->model->entries[kept.entry].symbol_count *
                    static_cast<int32_t>(sizeof(int64_t));
    memset(handle.symbols, 0, bytes);
    memcpy(handle.symbols, message.more, bytes < message.moreBytes ? bytes : message.moreBytes);
    handle.tasks.calls[kept.entry] = kept.call - 1;
  };
  MutexLock lock(tasks.mutex);
  while (!tasks.stash.takeFirst(isOurs, take)) {
    if (session.isClosed || isStopping)
      return false;
    session.hasWork.wait(tasks.mutex, tasks.spinWork());
  }
  return true;
}

/// Errors reach the leader as those of the call.
void TaskServer::takePart(Session &session, const TaskHeader &header) {
  if (header.entry != kNoEntry)
    tfc_instance_call(session.handle, header.entry, session.handle->symbols, nullptr, nullptr);
  else if (header.number == Tasks::Save)
    tfc_instance_save(session.handle, session.path);
  else
    tfc_instance_load(session.handle, session.path);
}

//===- The end ------------------------------------------------------------===//

void TaskServer::close() {
  {
    MutexLock lock(tasks.mutex);
    isStopping = true;
    hasOpened = false;
    tasks.hasChanged.notify();
    for (Session *session = sessions; session; session = session->next)
      session->hasWork.notify();
  }
  for (Session *session = sessions; session; session = session->next)
    if (session->hasThread)
      pthread_join(session->thread, nullptr);
}

void TaskServer::release() {
  while (Session *session = sessions) {
    sessions = session->next;
    tasks.state->allocator.give(session, sizeof(Session));
  }
}
