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

  /// Must be called first. Returns false if there is no memory.
  bool initialise(int64_t timeout);
  /// Starts sessions from now on, and for what has been kept. Under the mutex of the tasks.
  void open();
  bool isOpen() const { return hasOpened; }
  bool isClosing() const { return isStopping; }
  /// Takes a message of another process unless it is of a running call. Under the mutex.
  bool take(const TaskHeader &header, const MessageStash::Message &message);
  /// The header of a message that tells of this process, not of a call.
  TaskHeader headerOfSign(TaskMessage kind) const;
  /// Notes that a message of another process has come. Under the mutex.
  void hear(int32_t from, const TaskHeader &header);
  /// Lets the others know from time to time that this process lives, and notes which of them have
  /// been silent. Under the mutex.
  void tick();
  /// Returns true if other processes may still make calls, alone or together. Under the mutex.
  bool awaitsCalls() const;
  /// Such a process of which nothing has come for too long, or -1, and the time. Under the mutex.
  int32_t findSilent(int64_t &milliseconds) const;
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

  /// Another process.
  struct Peer {
    bool isHeard = false; // since the last tick
    bool hasSaidBye = false;
    int64_t silence = 0; // nanoseconds
    int64_t limit = 0;   // of that: its signs may be rarer than those of this process
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

  bool mayCall(int32_t task) const;
  bool isSilent(int32_t task) const {
    return mayCall(task) && peers[task].silence >= peers[task].limit;
  }

  Tasks &tasks;
  Objects<Peer> peers;  // by process
  int64_t interval = 0; // of signs of life, in nanoseconds
  int64_t lastTick = 0, nextSign = 0;
  Session *sessions = nullptr; // those that have ended, too: messages may still come for them
  bool hasOpened = false, isStopping = false;
};

} // namespace tfc::runtime
