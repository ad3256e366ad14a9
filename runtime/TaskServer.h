//===- TaskServer.h - Calls that other processes make alone ---------------===//
//
// A handle of another process that calls alone has a session here: a handle of its own and a
// thread, which does what this process has to do in the calls, one after the other.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Change.h"
#include "runtime/TaskMessages.h"

namespace tfc::runtime {

class Tasks;

class TaskServer {
public:
  explicit TaskServer(Tasks &tasks) : tasks(tasks) {}
  TaskServer(const TaskServer &) = delete;
  TaskServer &operator=(const TaskServer &) = delete;

  /// Starts sessions from now on, and for what has been kept. Under the mutex of the tasks.
  void open();
  bool isOpen() const { return hasOpened; }
  bool isClosing() const { return isStopping; }
  /// Takes a message of another process unless it is of a running call. Under the mutex.
  bool take(const TaskHeader &header, const MessageStash::Message &message);
  /// Counts the processes that make no more calls. Under the mutex.
  int32_t byes() const { return byeCount; }
  /// Ends all sessions, of which none is in a call.
  void close();
  /// Frees what is left.
  void release();

private:
  struct Session {
    TaskServer *server;
    int32_t leader;
    uint32_t number; // of the leader's handle
    Session *next = nullptr;
    pthread_t thread = {};
    bool hasThread = false, hasEnded = false, isGone = false, isClosed = false, isCancelled = false;
    tfc_instance *handle = nullptr;
    char *path = nullptr; // of the operation, on the stack of the thread
    Change hasWork = {};  // or is closed
  };

  static void *run(void *session);
  Session *find(const TaskHeader &header) const;
  Session *findOrAdd(const TaskHeader &header);
  void start(const TaskHeader &header);
  void joinEnded();
  void drop(const TaskHeader &header);
  void refuse(const TaskHeader &header, int32_t status, const char *text);
  bool keep(const TaskHeader &header, const MessageStash::Message &message);
  bool createHandle(Session &session);
  bool await(Session &session, TaskHeader &header);
  void takePart(Session &session, const TaskHeader &header);

  Tasks &tasks;
  Session *sessions = nullptr; // those that have ended, too: messages may still come for them
  bool hasOpened = false, isStopping = false;
  int32_t byeCount = 0;
};

} // namespace tfc::runtime
