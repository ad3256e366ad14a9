//===- CallWaits.h - Which partitions of a call wait ----------------------===//

#pragma once

#include "runtime/AwaitedCount.h"

namespace tfc::runtime {

/// A wait for a message, on the stack of the thread that waits.
struct MessageWait {
  const AwaitedCount *count;
  uint32_t call;
  uint32_t target;
  MessageWait *next = nullptr;
};

/// The waits of a handle's call, which decide when a wait at a queue lets others run: only when
/// each partition waits or has returned. Under the mutex of the state's queues.
struct CallWaits {
  int32_t busy = 0;     // partitions that neither wait nor have returned
  int32_t atQueues = 0; // partitions that wait at queues
  int32_t readers = 0;  // partitions that use variables
  MessageWait *messages = nullptr;
  bool isPaused = false;   // the lock of the state is released
  bool isResuming = false; // a partition acquires it again

  /// Returns true if nothing but a change of queues, or another process, lets a partition of the
  /// call proceed. A wait that is over counts as busy, although its thread may still be asleep.
  bool isQuiescent() const {
    for (const MessageWait *wait = messages; wait; wait = wait->next)
      if (wait->count->isOver(wait->call, wait->target))
        return false;
    return busy == 0 && atQueues > 0 && !isResuming;
  }
};

} // namespace tfc::runtime
