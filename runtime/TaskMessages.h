//===- TaskMessages.h - Messages between processes ------------------------===//

#pragma once

#include "runtime/Memory.h"
#include "runtime/Model.h"
#include "runtime/MutexLock.h"

namespace tfc::runtime {

class Gpu;

enum class TaskMessage : int32_t {
  Begin, // of a call in a process, with its sizes; of an operation, with its path
  Turn,  // to hold the state, in a call of one process alone
  Go,    // all have begun it
  Data,
  Release,
  Leave,
  Arrive,  // at a commit, with the position of a failed check
  End,     // of a call in a process
  Over,    // all have ended it
  Abort,   // with its message
  Part,    // of a process in a step of an operation
  Verdict, // on that step
  Cancel,  // of waits at queues, by a handle that calls alone
  Close,   // of such a handle
  Bye,     // of a process, which makes no more calls
  Alive    // of a process that may call alone, from time to time
};

/// The process that decides in calls of all together: that of the first partition.
inline constexpr int32_t kFirstTask = 0;
/// In place of the process that calls alone: all call together.
inline constexpr int32_t kTogether = -1;

/// In place of an entry: the message is of an operation of all processes, whose number is that of
/// the call; the number is the step, and `bytes` are the operation.
inline constexpr int32_t kNoEntry = -1;

/// A message begins with this, in the order of bytes of the processors, which must be the same.
struct TaskHeader {
  TaskMessage kind;
  int32_t entry;
  uint32_t handle;
  uint32_t call;
  int32_t number;       // of a slot or a partition
  int32_t status;       // of an abort; of an arrival, the numbers of the position, or -1
  int64_t bytes;        // of data, or TFC_RT_SCALAR
  uint64_t value;       // a scalar
  int32_t leader;       // the process whose handle it is, if that calls alone; otherwise kTogether
  uint32_t fingerprint; // of the sender's program; set by Tasks::post

  /// Returns true for messages of calls and operations of a handle.
  bool isOf(int32_t ofLeader, uint32_t ofHandle) const {
    return leader == ofLeader && handle == ofHandle;
  }
};

/// The longest text of a message, with its end.
inline constexpr size_t kMostText = 1024;

/// Memory for data of messages, of the host or of GPUs, which is used again. Not synchronised.
class MessagePool {
public:
  explicit MessagePool(const Allocator &allocator) : allocator(allocator) {}

  /// Returns null if there is no memory.
  void *take(int64_t bytes);
  void *takeOn(Gpu &gpu, int64_t bytes);
  void give(void *data); // may be null
  /// Returns true for what `takeOn` has returned.
  bool isOnDevice(const void *data) const { return find(data); }
  /// Frees what nobody uses.
  void release();

private:
  struct Piece;
  struct DevicePiece;

  void releaseBelow(int64_t bytes);
  void releaseBelow(const Gpu &gpu, int64_t bytes);
  DevicePiece *find(const void *data) const;

  const Allocator &allocator;
  Piece *free = nullptr;
  DevicePiece *onDevices = nullptr; // all, also those in use: there are two for a slot at most
};

/// Messages of calls that have not begun, in the order in which they came, in memory that is used
/// again. Not synchronised.
class MessageStash {
public:
  /// A message without its header.
  struct Message {
    int32_t from, moreBytes;
    const char *more;
    void *data;

    /// The text after the header; empty if there is none.
    const char *text() const { return moreBytes > 0 && more[moreBytes - 1] == 0 ? more : ""; }
  };

  explicit MessageStash(const Allocator &allocator) : allocator(allocator) {}

  /// Keeps a message; returns false if there is no memory.
  bool add(const TaskHeader &header, const Message &message);

  /// Frees what no message uses. None is kept any more.
  void release();

  /// Returns true if there is a message whose header `selects` returns true for.
  template <typename S> bool contains(S selects) const {
    const Kept *kept = first;
    while (kept && !selects(kept->header))
      kept = kept->next;
    return kept;
  }

  /// Calls `use` with each header and the process that has sent it.
  template <typename U> void forEach(U use) const {
    for (const Kept *kept = first; kept; kept = kept->next)
      use(kept->header, kept->message.from);
  }

  /// Removes the first such message and passes it to `take`. Returns false if there is none.
  template <typename S, typename T> bool takeFirst(S selects, T take) {
    bool hasTaken = false;
    takeEach([&](const TaskHeader &header) { return !hasTaken && (hasTaken = selects(header)); },
             take);
    return hasTaken;
  }

  /// Removes the messages whose headers `selects` returns true for, and passes them to `take`.
  template <typename S, typename T> void takeEach(S selects, T take) {
    for (Kept **link = &first; *link;) {
      Kept *kept = *link;
      if (!selects(kept->header)) {
        link = &kept->next;
        continue;
      }
      *link = kept->next;
      if (!*link)
        last = link;
      take(kept->header, kept->message);
      kept->next = free;
      free = kept;
    }
  }

private:
  struct Kept {
    Kept *next;
    TaskHeader header;
    Message message;
    int32_t capacity; // of `more`
    char more[];
  };

  static constexpr int32_t kShort = 128; // the least capacity

  Kept *takeMemory(int32_t capacity);

  const Allocator &allocator;
  Kept *first = nullptr, **last = &first;
  Kept *free = nullptr; // to be used again
};

} // namespace tfc::runtime
