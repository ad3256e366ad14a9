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
  std::atomic<bool> hasFailed = false;
};
} // namespace

static void runPartition(void *context, int32_t partition) {
  auto &call = *static_cast<PartitionedCall *>(context);
  int32_t status = call.partitioning->partitions[partition](call.frame);
  if (status == TFC_OK)
    return;
  // Relaxed: read after all partitions have returned.
  call.hasFailed.store(true, std::memory_order_relaxed);
  if (status != TFC_RT_ABORTED)
    call.frame->handle->rendezvous.abort(status);
}

extern "C" int32_t tfc_rt_run_partitions(tfc_call_frame *frame,
                                         const tfc_partitioning *partitioning) {
  tfc_instance &handle = *frame->handle;
  const Allocator &allocator = handle.state->allocator;
  int32_t partitions = partitioning->partition_count;
  if (!handle.rendezvous.reserve(allocator, partitioning->slot_count))
    return handle.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for messages between devices",
                       handle.entry->name);
  if (!handle.devices.reserve(allocator, partitions))
    return handle.fail(TFC_OUT_OF_MEMORY, "%s: cannot start a thread for each of %d devices",
                       handle.entry->name, partitions);
  PartitionedCall call = {frame, partitioning};
  handle.rendezvous.begin(*partitioning);
  handle.devices.run(partitions, runPartition, &call);
  handle.rendezvous.end();
  int32_t status = handle.rendezvous.status();
  if (status == TFC_OK && call.hasFailed.load(std::memory_order_relaxed))
    return handle.fail(TFC_INTERNAL, "%s: a device has failed without an error",
                       handle.entry->name);
  return status;
}

extern "C" int32_t tfc_rt_send(tfc_call_frame *frame, int32_t slot, const void *value) {
  return frame->handle->rendezvous.send(slot, value);
}

extern "C" int32_t tfc_rt_next_buffer(tfc_call_frame *frame, int32_t slot) {
  return frame->handle->rendezvous.nextBuffer(slot);
}

extern "C" int32_t tfc_rt_send_poison(tfc_call_frame *frame, int32_t slot) {
  return frame->handle->rendezvous.sendPoison(slot);
}

extern "C" int32_t tfc_rt_await_release(tfc_call_frame *frame, int32_t slot) {
  return frame->handle->rendezvous.awaitRelease(slot);
}

extern "C" int32_t tfc_rt_receive(tfc_call_frame *frame, int32_t slot, const void **value) {
  return frame->handle->rendezvous.receive(slot, *value);
}

extern "C" void tfc_rt_release(tfc_call_frame *frame, int32_t slot) {
  frame->handle->rendezvous.release(slot);
}

extern "C" void tfc_rt_leave(tfc_call_frame *frame, int32_t partition) {
  frame->handle->rendezvous.leave(partition);
}

extern "C" int32_t tfc_rt_commit(tfc_call_frame *frame, int32_t failedCheck) {
  int32_t lowest;
  int32_t status = frame->handle->rendezvous.commit(failedCheck, lowest);
  return status == TFC_OK ? lowest : status;
}
