//===- Rendezvous.cpp - Messages between the devices of a call ------------===//
//
// Implements slots, aborts and commits by counts that threads wait for. Each count carries the
// number of its call, so that a call begins without touching the slots, and an abort that comes too
// late cannot reach the next call.
//
//===----------------------------------------------------------------------===//

#include "runtime/Rendezvous.h"

#include "runtime/Queue.h"
#include "runtime/RandomDelay.h"

#include <algorithm>

using namespace tfc::runtime;

using Outcome = AwaitedCount::Outcome;

//===- Calls --------------------------------------------------------------===//

bool Rendezvous::reserve(const Allocator &allocator, int32_t count) {
  if (count <= slotCount)
    return true;
  if (!memory.reserve(allocator, count * sizeof(Slot)))
    return false;
  slotCount = count;
  for (int32_t i = 0; i < count; ++i)
    new (slots() + i) Slot;
  resetSlots();
  return true;
}

void Rendezvous::resetSlots() {
  for (int32_t i = 0; i < slotCount; ++i) {
    slots()[i].sent.reset(call());
    slots()[i].released.reset(call());
    slots()[i].received = 0;
    slots()[i].receivedIn = call();
  }
  rounds.reset(call());
}

void Rendezvous::renumber(uint32_t call) {
  state.store(uint64_t(call) << 32, std::memory_order_relaxed);
  resetSlots();
}

void Rendezvous::begin(const tfc_partitioning &partitioning) {
  current = &partitioning;
  spinWork = nullptr;
  // Acquire and release: an abort that acts on the call before happens before this call. Only this
  // thread changes the upper half.
  state.exchange(uint64_t(call() + 1) << 32, std::memory_order_acq_rel);
  // Counts of calls long ago must not look like those of a call to come.
  constexpr uint32_t kCallsBetweenResets = 1u << 30;
  if (call() % kCallsBetweenResets == 0)
    resetSlots();
  // Relaxed: the start of the partitions' threads orders these.
  arrivals.store(0, std::memory_order_relaxed);
  first[0].store(nullptr, std::memory_order_relaxed);
  first[1].store(nullptr, std::memory_order_relaxed);
}

bool Rendezvous::abort(int32_t status) {
  // Relaxed: only the value is used.
  uint64_t seen = state.load(std::memory_order_relaxed);
  do {
    if (static_cast<uint32_t>(seen))
      return false;
    // Release: pairs with the acquire of `status`. Acquire, together with `begin`: sees the slots
    // of the call that it aborts.
  } while (!state.compare_exchange_weak(seen, seen | static_cast<uint32_t>(status),
                                        std::memory_order_acq_rel, std::memory_order_relaxed));
  auto call = static_cast<uint32_t>(seen >> 32);
  for (int32_t i = 0; i < slotCount; ++i) {
    slots()[i].sent.abort(call);
    slots()[i].released.abort(call);
  }
  rounds.abort(call);
  return true;
}

void Rendezvous::leave(int32_t partition) {
  delayAtRandom();
  for (int32_t i = 0; i < current->slot_count; ++i) {
    if (current->slots[i].sender == partition)
      slots()[i].sent.end(call());
    if (current->slots[i].receiver == partition)
      slots()[i].released.end(call());
  }
}

void Rendezvous::tell(Queues &newQueues, tfc_instance &newHandle) {
  queues = &newQueues;
  handle = &newHandle;
}

void Rendezvous::end() {
  current = nullptr;
  queues = nullptr;
}

//===- Messages -----------------------------------------------------------===//

AwaitedCount::Outcome Rendezvous::await(AwaitedCount &count, uint32_t target) {
  if (!queues || count.isOver(call(), target))
    return count.await(call(), target, spinWork);
  MessageWait wait = {&count, call(), target};
  queues->beginWait(*handle, wait);
  Outcome outcome = count.await(call(), target, spinWork);
  queues->endWait(*handle, wait);
  return outcome;
}

/// The receiver of a slot that has left frees no more buffers: its check has failed in an earlier
/// iteration of the loop that sends, which ends here.
static int32_t resultOfBuffer(Outcome outcome) {
  switch (outcome) {
  case Outcome::Reached:
    return TFC_OK;
  case Outcome::Ended:
    return TFC_RT_POISON;
  case Outcome::Aborted:
    return TFC_RT_ABORTED;
  }
}

static int32_t resultOf(Outcome outcome) {
  return outcome == Outcome::Aborted ? TFC_RT_ABORTED : TFC_OK;
}

/// The first message of a call never waits, and does not touch the receiver's cache line.
AwaitedCount::Outcome Rendezvous::awaitBuffer(Slot &slot, uint32_t sent) {
  return slot.sent.isUnused(call()) ? Outcome::Reached : await(slot.released, sent - 1);
}

int32_t Rendezvous::nextBuffer(int32_t number) {
  Slot &slot = slots()[number];
  uint32_t sent = slot.sent.get(call());
  int32_t status = resultOfBuffer(awaitBuffer(slot, sent));
  return status == TFC_OK ? static_cast<int32_t>(sent & 1) : status;
}

int32_t Rendezvous::send(int32_t number, const void *value) {
  delayAtRandom();
  Slot &slot = slots()[number];
  uint32_t sent = slot.sent.get(call());
  if (int32_t status = resultOfBuffer(awaitBuffer(slot, sent)))
    return status;
  slot.buffers[sent & 1] = value;
  return slot.sent.advance(call()) ? TFC_OK : TFC_RT_ABORTED;
}

int32_t Rendezvous::awaitRelease(int32_t number) {
  Slot &slot = slots()[number];
  return resultOf(await(slot.released, slot.sent.get(call())));
}

int32_t Rendezvous::receive(int32_t number, const void *&value) {
  delayAtRandom();
  Slot &slot = slots()[number];
  if (slot.receivedIn != call()) {
    slot.receivedIn = call();
    slot.received = 0;
  }
  Outcome outcome = await(slot.sent, slot.received + 1);
  if (outcome != Outcome::Reached)
    return outcome == Outcome::Aborted ? TFC_RT_ABORTED : TFC_RT_POISON;
  value = slot.buffers[slot.received++ & 1];
  return TFC_OK;
}

void Rendezvous::release(int32_t slot) {
  delayAtRandom();
  slots()[slot].released.advance(call());
}

//===- Commits ------------------------------------------------------------===//

bool CheckPosition::isBefore(const CheckPosition &other) const {
  return std::lexicographical_compare(numbers, numbers + size, other.numbers,
                                      other.numbers + other.size);
}

void Rendezvous::bring(const CheckPosition &failedCheck, uint32_t round) {
  pthread_mutex_lock(&firstMutex);
  // Relaxed: writers hold the mutex, and for others the arrival publishes it.
  const CheckPosition *known = first[round & 1].load(std::memory_order_relaxed);
  if (!known || failedCheck.isBefore(*known))
    first[round & 1].store(&failedCheck, std::memory_order_relaxed);
  pthread_mutex_unlock(&firstMutex);
}

/// Ends the use of a position in a round that is not completed: it is about to be destroyed.
void Rendezvous::withdraw(const CheckPosition &failedCheck, uint32_t round) {
  pthread_mutex_lock(&firstMutex);
  // Relaxed: writers hold the mutex.
  if (first[round & 1].load(std::memory_order_relaxed) == &failedCheck)
    first[round & 1].store(nullptr, std::memory_order_relaxed);
  pthread_mutex_unlock(&firstMutex);
}

/// An abort before the round is completed reaches all partitions, and a later one none: each
/// commits or none does.
AwaitedCount::Outcome Rendezvous::arrive(uint32_t round) {
  // Release: publishes the position. Acquire: the last one sees those of all, and the others see
  // them through its advance.
  if (arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 < current->partition_count)
    return await(rounds, round + 1);
  // Relaxed: nobody arrives before the round is completed.
  arrivals.store(0, std::memory_order_relaxed);
  return rounds.advance(call()) ? Outcome::Reached : Outcome::Aborted;
}

int32_t Rendezvous::commit(const CheckPosition *failedCheck, const CheckPosition *&result) {
  delayAtRandom();
  // The open round cannot be completed before this partition arrives.
  uint32_t round = rounds.get(call());
  if (failedCheck)
    bring(*failedCheck, round);
  if (arrive(round) == Outcome::Aborted) {
    if (failedCheck)
      withdraw(*failedCheck, round);
    return TFC_RT_ABORTED;
  }
  // Relaxed: the round's completion ordered it.
  result = first[round & 1].load(std::memory_order_relaxed);
  return TFC_OK;
}
