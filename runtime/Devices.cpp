//===- Devices.cpp - Calls of entries on several devices ------------------===//
//
// Runs the partitions of an entry on the threads of a handle, and implements the functions with
// which their code exchanges values.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

using namespace tfc::runtime;

namespace {
struct PartitionedCall {
  tfc_call_frame *frame;
  const tfc_partitioning *partitioning;
  bool isInit;
  bool hasOthers; // other processes run the partitions on their devices
  bool tellsWaits = false;
  bool isPartial = false; // of the initial values, without a device that is not there
  std::atomic<bool> hasFailed = false;
};
} // namespace

static bool isThere(const tfc_instance &handle, int64_t device) {
  const State &state = *handle.state;
  if (!isHere(state, device))
    return false;
  const Gpu &gpu = state.gpus[device];
  Message message;
  return !gpu.isUsed() || gpu.check(message) == TFC_OK;
}

static void leave(tfc_instance &handle, int32_t partition) {
  handle.rendezvous.leave(partition);
  if (handle.tasks.entry)
    handle.state->tasks.leave(handle, partition);
}

/// Commits, with all partitions of the call. Says whether a check has failed, and whether the first
/// one is that of this partition.
static int32_t commit(tfc_instance &handle, int32_t partition, const CheckPosition *failedCheck,
                      bool &isFirst, bool &hasFailed) {
  if (handle.tasks.entry)
    return handle.state->tasks.commit(handle, partition, failedCheck, isFirst, hasFailed);
  const CheckPosition *first = nullptr;
  int32_t status = handle.rendezvous.commit(failedCheck, first);
  hasFailed = first;
  isFirst = first && first == failedCheck;
  return status;
}

/// Ends a partition that waits for one that has left: it has passed its checks so far, and
/// others wait for it.
static int32_t endPoisoned(tfc_instance &handle, const tfc_partitioning &partitioning,
                           int32_t partition) {
  leave(handle, partition);
  bool isFirst, hasFailed;
  if (partitioning.commits)
    commit(handle, partition, nullptr, isFirst, hasFailed);
  return TFC_RT_ABORTED;
}

static int32_t runFunction(const PartitionedCall &call, int32_t partition) {
  const tfc_partition_info &info = call.partitioning->partitions[partition];
  tfc_instance &handle = *call.frame->handle;
  if (call.isPartial && !isThere(handle, info.device))
    return endPoisoned(handle, *call.partitioning, partition);
  tfc_call_frame frame = *call.frame;
  GpuStream &stream = handle.streams[info.device];
  bool isGpu = handle.state->gpus[info.device].isUsed();
  frame.arena = isGpu ? stream.arena.data() : handle.arenas[info.device].data();
  frame.chunks = handle.chunks + info.device * handle.state->model->chunk_count;
  frame.partition = partition;
  frame.device = static_cast<int32_t>(info.device);
  if (isGpu)
    stream.getGpu().enter();
  int32_t status = info.run(&frame);
  // Everything has run when a partition ends, also if it fails.
  if (isGpu)
    if (int32_t last = finishStream(&frame); status == TFC_OK)
      status = last;
  return status == TFC_RT_POISON ? endPoisoned(handle, *call.partitioning, partition) : status;
}

/// Each process computes the initial values of its own devices, and of the one that makes calls.
static bool runsHere(const PartitionedCall &call, int32_t partition) {
  const tfc_partition_info &info = call.partitioning->partitions[partition];
  const State &state = *call.frame->handle->state;
  if (call.isInit)
    return isHere(state, info.device);
  return !call.hasOthers || state.tasks.isHere(call.frame->handle->tasks, info);
}

/// Runs partition number `number` of those that are here.
static void runPartition(void *context, int32_t number) {
  auto &call = *static_cast<PartitionedCall *>(context);
  tfc_instance &handle = *call.frame->handle;
  int32_t partition = 0;
  while (!runsHere(call, partition) || number-- > 0)
    ++partition;
  int32_t status = runFunction(call, partition);
  // Relaxed: read by calls of this handle, or of its forks.
  if (call.isPartial && status == TFC_RT_ABORTED)
    handle.state->lacksValues[call.partitioning->partitions[partition].device].store(
        true, std::memory_order_relaxed);
  else if (status != TFC_OK) {
    // Relaxed: read after all partitions have returned.
    call.hasFailed.store(true, std::memory_order_relaxed);
    if (status != TFC_RT_ABORTED && handle.rendezvous.abort(status) && handle.tasks.entry)
      handle.state->tasks.abort(handle, status);
  }
  if (call.tellsWaits)
    handle.state->queues.leave(handle);
}

int32_t tfc::runtime::runPartitions(tfc_call_frame &frame, const tfc_partitioning &partitioning) {
  tfc_instance &handle = *frame.handle;
  const Allocator &allocator = handle.state->allocator;
  int32_t partitions = partitioning.partition_count;
  bool isInit = handle.entry == handle.state->model->init;
  bool hasOthers = !isInit && handle.state->tasks.concerns(*handle.entry);
  PartitionedCall call = {&frame, &partitioning, isInit, hasOthers};
  int32_t own = 0;
  for (int32_t i = 0; i < partitions; ++i)
    own += runsHere(call, i);
  tfc_status reserved = TFC_OK;
  if (!handle.rendezvous.reserve(allocator, partitioning.slot_count))
    reserved = handle.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for messages between devices",
                           handle.entry->name);
  else if (!handle.devices.reserve(allocator, own))
    reserved = handle.fail(TFC_OUT_OF_MEMORY, "%s: cannot start a thread for each of %d devices",
                           handle.entry->name, own);
  if (reserved && hasOthers)
    handle.state->tasks.skip(handle, *handle.entry, reserved);
  if (reserved)
    return reserved;
  for (int32_t i = 0; isInit && i < partitions; ++i)
    call.isPartial |= !isThere(handle, partitioning.partitions[i].device);
  handle.rendezvous.begin(partitioning);
  for (int32_t i = 0; isInit && i < partitions; ++i)
    if (!runsHere(call, i))
      handle.rendezvous.leave(i);
  bool isAlone = hasOthers && handle.state->tasks.areAlone();
  call.tellsWaits = handle.state->model->queue_count > 0 || isAlone;
  int32_t readers = 0;
  for (int32_t i = 0; isAlone && i < partitions; ++i)
    readers += runsHere(call, i) && partitioning.partitions[i].access % 4 > 0;
  if (call.tellsWaits) {
    handle.state->queues.begin(handle, own, readers);
    handle.rendezvous.tell(handle.state->queues, handle);
  }
  // From here on messages of other processes arrive.
  bool mayRun = !hasOthers || handle.state->tasks.begin(handle, frame.symbols);
  if (mayRun)
    handle.devices.run(own, runPartition, &call);
  if (hasOthers)
    // Relaxed: all partitions have returned.
    handle.state->tasks.end(handle, call.hasFailed.load(std::memory_order_relaxed));
  handle.rendezvous.end();
  if (call.tellsWaits)
    handle.state->queues.end(handle);
  int32_t status = handle.rendezvous.status();
  if (status == TFC_OK && call.hasFailed.load(std::memory_order_relaxed))
    return handle.fail(TFC_INTERNAL, "%s: a device has failed without an error",
                       handle.entry->name);
  return status;
}

int32_t tfc::runtime::sendMessage(tfc_call_frame &frame, int32_t slot, const void *value,
                                  int64_t bytes) {
  tfc_instance &handle = *frame.handle;
  TaskWait wait(handle, frame.partition, TaskWait::For::Receiver, slot);
  int32_t status = handle.rendezvous.send(slot, value);
  if (status == TFC_OK && handle.tasks.entry)
    handle.state->tasks.send(handle, slot, value, bytes);
  return status;
}

extern "C" int32_t tfc_rt_run_partitions(tfc_call_frame *frame) {
  return runPartitions(*frame, *frame->handle->entry->partitioning);
}

extern "C" int32_t tfc_rt_send(tfc_call_frame *frame, int32_t slot, const void *value,
                               int64_t bytes) {
  return sendMessage(*frame, slot, value, bytes);
}

extern "C" int32_t tfc_rt_next_buffer(tfc_call_frame *frame, int32_t slot) {
  TaskWait wait(*frame->handle, frame->partition, TaskWait::For::Receiver, slot);
  return frame->handle->rendezvous.nextBuffer(slot);
}

extern "C" int32_t tfc_rt_await_release(tfc_call_frame *frame, int32_t slot) {
  tfc_instance &handle = *frame->handle;
  // Another process has a copy.
  if (handle.tasks.entry && handle.state->tasks.awaitSent(handle, slot))
    return handle.rendezvous.status() == TFC_OK ? TFC_OK : TFC_RT_ABORTED;
  return handle.rendezvous.awaitRelease(slot);
}

extern "C" int32_t tfc_rt_receive(tfc_call_frame *frame, int32_t slot, const void **value) {
  if (frame->handle->state->gpus[frame->device].isUsed())
    if (int32_t status = submitWork(frame))
      return status;
  tfc_instance &handle = *frame->handle;
  TaskWait wait(handle, frame->partition, TaskWait::For::Sender, slot);
  return handle.rendezvous.receive(slot, *value);
}

extern "C" void tfc_rt_release(tfc_call_frame *frame, int32_t slot) {
  tfc_instance &handle = *frame->handle;
  handle.rendezvous.release(slot);
  if (handle.tasks.entry)
    handle.state->tasks.release(handle, slot);
}

extern "C" void tfc_rt_release_state(tfc_call_frame *frame) {
  tfc_instance &handle = *frame->handle;
  State &state = *handle.state;
  if (!handle.tasks.entry || !state.tasks.areAlone())
    return;
  // A receiver in this process reads variables in place.
  const tfc_partitioning &partitioning = *handle.tasks.entry->partitioning;
  for (int32_t i = 0; i < partitioning.slot_count; ++i)
    if (partitioning.slots[i].sender == frame->partition &&
        state.tasks.isHere(handle.tasks, partitioning.partitions[partitioning.slots[i].receiver]))
      return;
  state.tasks.awaitSent(handle);
  state.queues.releaseState(handle);
}

extern "C" int32_t tfc_rt_commit(tfc_call_frame *frame) {
  // Launches that fail must do so before variables change.
  if (frame->handle->state->gpus[frame->device].isUsed())
    if (int32_t status = finishStream(frame))
      return status;
  bool isFirst, hasFailed;
  int32_t status = commit(*frame->handle, frame->partition, nullptr, isFirst, hasFailed);
  return status == TFC_OK && hasFailed ? TFC_RT_ABORTED : status;
}

extern "C" int32_t tfc_rt_fail_check(tfc_call_frame *frame, const int64_t *position,
                                     int32_t position_size, int32_t status, const char *format,
                                     const int64_t *values, int32_t count) {
  leave(*frame->handle, frame->partition);
  CheckPosition own = {position, position_size};
  bool isFirst, hasFailed;
  if (commit(*frame->handle, frame->partition, &own, isFirst, hasFailed) != TFC_OK || !isFirst)
    return TFC_RT_ABORTED;
  return tfc_rt_fail(frame, status, format, values, count);
}
