//===- Tasks.h - Calls that run in several processes ----------------------===//
//
// The processes of a cluster call an entry together, or one calls it and the others take part. Each
// runs the partitions on its own devices. To the rendezvous of a call, a partition in another
// process is one whose messages, releases, failures and commits arrive by the transport: the
// functions here send those of the process's own partitions and apply those of others.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/AwaitedCount.h"
#include "runtime/Change.h"
#include "runtime/TaskMessages.h"
#include "runtime/TaskServer.h"

#include <atomic>

namespace tfc::runtime {

class Message;
struct CheckPosition;
struct State;

/// The operation of all processes that a handle is in, or was last in.
struct TaskExchange {
  uint32_t number = 0; // of the operation
  int32_t operation = 0;
  int32_t step = 0;    // the last that has begun
  bool isOpen = false; // the step
  bool isDecided = false;
  int32_t missing = 0; // processes
  char *texts = nullptr;
  size_t textBytes = 0;
  int32_t failedTask = -1; // the first
  tfc_status status = TFC_OK;
  char message[1024];

  /// Returns true for messages of the step, while it is open.
  bool takes(const TaskHeader &header) const {
    return isOpen && header.call == number && header.number == step;
  }
  /// Returns true for messages of a step that has not begun.
  bool isLater(const TaskHeader &header) const;
};

/// The state of a handle's call with other processes. Under the mutex of its state's tasks,
/// except for `waits`.
struct TaskCall {
  /// More numbers do not decide between positions of checks.
  static constexpr int32_t kMostNumbers = 16;

  /// A wait for another process. Written by the thread that waits.
  struct Wait {
    std::atomic<int64_t> since = 0; // nanoseconds, or 0
    std::atomic<int32_t> task = 0;  // of which something is awaited; -1: of those that must commit
  };
  /// The commits that a partition has arrived at, and the position of its failed check in the last
  /// two, or -1 for none.
  struct Arrivals {
    bool hasBegun = false, hasEnded = false; // its process
    uint32_t count = 0;
    int32_t size[2] = {-1, -1};
    int64_t numbers[2][kMostNumbers] = {};
  };
  /// Messages of a slot whose data must not change yet.
  struct Leaving {
    tfc_instance *handle = nullptr;
    int32_t count = 0;
    int32_t task = 0; // that receives them
  };
  /// Memory of messages that were received and not yet released, in order.
  struct Held {
    void *data[2] = {};
    int32_t count = 0;
  };

  int32_t leader = kTogether;            // the process that calls alone, for which this takes part
  uint32_t handle = 0;                   // number of the handle, equal in all processes
  const tfc_entry_info *entry = nullptr; // of the running call that has other processes, or null
  uint32_t number = 0;                   // of the call, among those of the entry by this handle
  const int64_t *symbols = nullptr;
  bool mayRun = false;  // all processes have begun
  bool isOver = false;  // all processes have ended
  bool isLate = false;  // its turn has not come in time
  uint32_t commits = 0; // completed
  int64_t unsent = 0;   // messages whose data must not change yet; in all of `leaving`
  TaskExchange exchange;
  Objects<uint32_t> calls;      // by entry: how many have begun
  Objects<bool> hasTakenPart;   // by process: in the step of the operation
  Objects<Wait> waits;          // by partition
  Objects<Arrivals> arrivals;   // by partition
  Objects<Held> held;           // by slot
  Objects<Leaving> leaving;     // by slot
  tfc_instance *next = nullptr; // handle of the state

  /// The process that decides, and that has `/job:local`.
  int32_t decider() const { return leader == kTogether ? kFirstTask : leader; }
  bool owns(const TaskHeader &header) const { return header.isOf(leader, handle); }
  const Leaving *firstLeaving() const; // or null
};

/// The way from a state to the other processes of its cluster.
class Tasks {
public:
  explicit Tasks(const Allocator &allocator) : server(*this), pool(allocator), stash(allocator) {}
  Tasks(const Tasks &) = delete;
  Tasks &operator=(const Tasks &) = delete;

  /// Checks the options and begins to receive. Without a transport there are no other processes.
  tfc_status attach(State &state, const tfc_options &options, Message &message);
  void detach();

  /// The GPUs of the state have been opened: messages may come to their memory.
  void useGpus();

  /// Returns true if there are other processes.
  bool areUsed() const { return transport; }
  /// Returns true if a device is in this process.
  bool isHere(const tfc_device_info &device) const {
    return !transport || device.task < 0 || device.task == transport->task;
  }
  /// Returns true if processes call entries alone.
  bool areAlone() const { return isAlone; }
  /// The process that has a device in calls of a handle.
  static int32_t taskOf(const TaskCall &call, const tfc_device_info &device) {
    return device.task < 0 ? call.decider() : static_cast<int32_t>(device.task);
  }
  int32_t taskOf(const TaskCall &call, const tfc_partition_info &partition) const;
  bool isHere(const TaskCall &call, const tfc_partition_info &partition) const {
    return !transport || taskOf(call, partition) == transport->task;
  }
  /// Returns true if the handle's calls can have a partition here on this device.
  bool isUsed(const TaskCall &call, const tfc_device_info &device) const {
    return taskOf(call, device) == self();
  }
  /// Returns true if a partition of the entry is on the device of a task.
  bool concerns(const tfc_entry_info &entry) const;
  /// The name of a device's task, for messages.
  const char *nameOf(int32_t task) const;

  //===- Handles ----------------------------------------------------------===//

  /// Numbers a handle of the program that is being created, in the order that all processes have.
  void number(tfc_instance &handle);
  /// Adds it; returns false if there is no memory.
  bool add(tfc_instance &handle);
  /// Returns false if data of the handle may still be read, because a process has not taken them in
  /// time: then it must remain.
  bool remove(tfc_instance &handle);
  /// Ends waits at queues of a handle in other processes.
  void cancel(tfc_instance &handle);

  //===- Processes that call alone ----------------------------------------===//

  /// The state is complete: takes part in calls of other processes from now on.
  void open();
  /// Serves until every process, including this one, has stopped calling. Returns a status, with
  /// the message set, if others cannot be reached any more.
  tfc_status serve(tfc_instance &handle);
  /// The same, and ends the threads that take part.
  void close(tfc_instance &handle);

  /// Asks the other processes of an entry to take part in a call of this handle alone. They hold
  /// their states one after the other, in the order of the tasks, so that calls cannot wait for
  /// each other: `awaitTurn` returns when it is this one's turn, or the call has failed, which
  /// `begin` finds out.
  void invite(tfc_instance &handle, const tfc_entry_info &entry, const int64_t *symbols);
  void awaitTurnOfCall(tfc_instance &handle, const tfc_entry_info &entry);
  /// How many calls of an entry have begun here.
  static uint32_t callsOf(const tfc_instance &handle, const tfc_entry_info &entry);
  /// How the partitions of a task use variables: 0, 1 or 2 as in tfc_partition_info.
  int64_t accessOf(const TaskCall &call, const tfc_entry_info &entry, int32_t task) const;
  /// Returns true if a call that waits at a queue here may let others use the state: it would hold
  /// it again after that of a later task.
  bool mayPause(const tfc_instance &handle) const;
  /// Returns true if another process may have put elements into queues, or taken some out.
  bool othersUseQueues(const tfc_instance &handle) const;
  /// The task on whose queues other processes can act while a partition waits there, and the time
  /// after which the wait fails; or -1 and 0.
  int32_t sharedBy(const tfc_call_frame &frame, int64_t &limit) const;
  /// Returns a status, with the message set, unless an entry can be called alone.
  tfc_status checkAlone(tfc_instance &handle, const tfc_entry_info &entry);

  //===- A call, on the thread of its handle ------------------------------===//

  /// Begins a call, after its rendezvous: what has arrived for it is applied. Waits until all
  /// processes have begun it with the same sizes; the first one decides that. Returns false if they
  /// have not: then nothing must happen.
  bool begin(tfc_instance &handle, const int64_t *symbols);
  /// Returns a status, with the message set, if data of an earlier call may still be read.
  tfc_status checkSent(tfc_instance &handle, const tfc_entry_info &entry);
  /// Ends it when all partitions of this process have returned. Waits until it is known whether it
  /// fails in another process, and for the status and the message that this one sends.
  void end(tfc_instance &handle, bool hasFailed);
  /// Lets a call that fails before it begins here fail in the other processes.
  void skip(tfc_instance &handle, const tfc_entry_info &entry, int32_t status);

  //===- Operations of all processes, between calls -----------------------===//

  int32_t self() const { return transport ? transport->task : 0; }
  int32_t count() const { return transport ? transport->task_count : 1; }

  /// An operation that processes do together, in steps that begin with 1.
  enum Operation : int32_t { Save = 1, Load = 2 };

  /// Begins an operation of all processes. A process that calls alone asks the others to take part.
  void beginOperation(tfc_instance &handle, Operation operation, const char *path);
  /// As for calls: between these, processes of which one calls alone begin to hold their states.
  /// Sets the message if its turn does not come in time.
  tfc_status awaitTurnOfOperation(tfc_instance &handle);
  void passTurn(tfc_instance &handle);

  /// Ends a step of it with a status and a text, which is the message if the status is not TFC_OK.
  /// The first process waits for those of all and decides: the step has failed if one has, or does
  /// not come in time. Returns the same status in all processes, with the message set. In the first
  /// one `texts`, if not null, receives the texts of all, of `textBytes` each. After a step that
  /// has failed the operation is over.
  tfc_status exchange(tfc_instance &handle, int32_t step, tfc_status status, const char *text,
                      char *texts = nullptr, size_t textBytes = 0);

  //===- Partitions of this process, each on its thread -------------------===//

  /// Sends a message whose slot has been counted, if its receiver is in another process.
  void send(tfc_instance &handle, int32_t slot, const void *value, int64_t bytes);
  /// Returns true if such a message can leave from memory of a GPU.
  bool sendsFromDevice(const tfc_instance &handle, int32_t slot, int64_t bytes) const;
  /// Returns true for data of a message that came to memory of a GPU.
  bool isOnDevice(const void *data);
  /// Gives back the memory of the oldest message of a slot and tells its sender.
  void release(tfc_instance &handle, int32_t slot);
  /// Waits until data that have been sent to other processes may change.
  void awaitSent(tfc_instance &handle);
  /// The same if the slot's receiver is in another process; returns false if it is not.
  bool awaitSent(tfc_instance &handle, int32_t slot);
  void leave(tfc_instance &handle, int32_t partition);
  /// As Rendezvous::commit, for a call with other processes; sets `isFirst` if the failed check of
  /// this partition is the first one, and `hasFailed` if there is one.
  int32_t commit(tfc_instance &handle, int32_t partition, const CheckPosition *failedCheck,
                 bool &isFirst, bool &hasFailed);
  /// Tells the others that this process has aborted the call; the message of the handle is set.
  void abort(tfc_instance &handle, int32_t status);

private:
  friend class TaskServer;
  using Arrivals = TaskCall::Arrivals;

  // Functions of the receiver.
  static void *place(void *tasks, const void *header, int32_t headerBytes, int64_t bytes);
  static void arrived(void *tasks, int32_t from, const void *header, int32_t headerBytes,
                      void *data, int64_t bytes);
  static void sent(void *tasks, void *token);
  static void lost(void *tasks, int32_t task, const char *reason);
  static void tick(void *tasks);
  static void enter(void *tasks);

  // Sending.
  void post(int32_t task, const TaskHeader &header, const void *more, int32_t moreBytes,
            const void *data = nullptr, int64_t bytes = 0, void *token = nullptr);
  void postToAll(tfc_instance &handle, const TaskHeader &header, const void *more = nullptr,
                 int32_t moreBytes = 0);
  void postAbort(tfc_instance &handle, int32_t status, const char *text);
  static TaskHeader headerOf(const TaskCall &call, TaskMessage kind, int32_t entry,
                             uint32_t number);
  TaskHeader headerOf(const tfc_instance &handle, TaskMessage kind) const;
  void postToParts(const TaskCall &call, const tfc_entry_info &entry, const TaskHeader &header,
                   const void *more, int32_t moreBytes);
  void postToOthers(const TaskHeader &header, const void *more = nullptr, int32_t moreBytes = 0);

  // Calls.
  /// The sizes of a call that its message has.
  static constexpr int32_t kMostSizes = TFC_MAX_HEADER / 2 / sizeof(int64_t);
  tfc_instance *find(const TaskHeader &header) const;
  int32_t numberOf(const tfc_entry_info &entry) const;
  void announce(tfc_instance &handle, const int64_t *symbols);

  // Calls of one process alone (TaskTurns.cpp).
  bool takesPart(const TaskCall &call, const tfc_entry_info *entry, int32_t task) const;
  int32_t nextPart(const TaskCall &call, const tfc_entry_info *entry, int32_t task) const;
  int32_t lastPart(const TaskCall &call) const;
  int32_t taskBefore(const TaskCall &call, const tfc_entry_info *entry) const;
  bool awaitTask(const TaskCall &call, const tfc_entry_info *entry, int32_t entryNumber,
                 uint32_t number);
  void giveTurn(tfc_instance &handle);
  void sayBye(int32_t status);
  bool awaitOthers();

  // The state of a call.
  bool haveAll(const TaskCall &call, bool Arrivals::*flag) const;
  void note(tfc_instance &handle, int32_t task, bool Arrivals::*flag);
  bool await(tfc_instance &handle, bool TaskCall::*isReached);
  bool compareSizes(tfc_instance &handle, const MessageStash::Message &message);
  int32_t firstPartition(const TaskCall &call) const;
  void arrive(tfc_instance &handle, int32_t partition, const int64_t *numbers, int32_t size);
  const int64_t *first(tfc_instance &handle, uint32_t round, int32_t &size, int32_t &partition);

  // Messages (TaskMessages.cpp).
  Gpu *receiverOf(const TaskHeader &header, int64_t bytes);
  void receive(int32_t from, const void *header, int32_t headerBytes, void *data);
  void loseWhoLeaves(int32_t from, const TaskHeader &header);
  void refuse(int32_t from, TaskHeader header, const char *text);
  uint32_t fingerprint() const;
  bool isOfCall(const TaskHeader &header, const tfc_instance &handle) const;
  bool isForLater(const TaskHeader &header) const;
  void replay(tfc_instance &handle);
  template <typename F> void dropKept(F isDropped);
  void apply(tfc_instance &handle, const TaskHeader &header, const MessageStash::Message &message);
  void applyData(tfc_instance &handle, int32_t from, const TaskHeader &header, void *data);
  void fail(tfc_instance &handle, int32_t status, const char *text);
  void failAll(tfc_instance &handle, int32_t status, const char *text);
  void wakeQueues();

  // Operations (TaskOperations.cpp).
  void takePart(tfc_instance &handle, const TaskHeader &header,
                const MessageStash::Message &message);
  void settle(tfc_instance &handle);
  void nameMissing(const tfc_instance &handle, TaskExchange &exchange) const;

  // Waits (TaskWaits.cpp).
  static void poll(void *tasks, bool isLast);
  const SpinWork *spinWork() const { return polling.run ? &polling : nullptr; }
  void waitBriefly();
  void awaitUnsent(tfc_instance &handle);
  void failLate();
  const char *entryOf(int32_t task, const TaskCall &call) const;
  bool isLost() const { return lostStatus != TFC_OK; }
  void loseAll(int32_t status, const char *text);
  int32_t awaitedBy(const TaskCall &call, int32_t partition, int64_t &limit) const;

  const tfc_transport *transport = nullptr;
  State *state = nullptr;
  int64_t timeout = 0; // nanoseconds
  bool isAlone = false, hasSaidBye = false;
  TaskServer server;
  tfc_receiver receiver = {};
  SpinWork polling; // the transport
  /// One of this process, if the transport moves data of GPUs; else null.
  std::atomic<const Gpu *> anyGpu = nullptr;
  int32_t lostStatus = TFC_OK; // of all calls from now on
  char lostText[256] = "";     // its message
  bool isCutOff = false;       // the transport has broken down
  bool hasAborted = false;     // a call whose waits at queues do not know it yet
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Change hasChanged; // data were sent, or a call was aborted
  Change hasBye;     // of another process, or these cannot be reached
  tfc_instance *handles = nullptr;
  uint32_t handleCount = 0; // of the program, that there have been
  uint32_t lastAdded = 0;   // the highest of their numbers that has been added
  MessagePool pool;
  MessageStash stash;
};

/// Notes in its lifetime that a partition waits for another process.
class TaskWait {
public:
  enum class For { Sender, Receiver, All };

  /// For an end of a slot, or for the commit of all partitions.
  TaskWait(tfc_instance &handle, int32_t partition, For what, int32_t slot = 0);
  ~TaskWait();
  TaskWait(const TaskWait &) = delete;
  TaskWait &operator=(const TaskWait &) = delete;

private:
  TaskCall::Wait *wait = nullptr;
};

} // namespace tfc::runtime
