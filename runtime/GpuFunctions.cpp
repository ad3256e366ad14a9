//===- GpuFunctions.cpp - GPUs, for generated code ------------------------===//
//
// The partitions of entries use GPUs through these functions (runtime/Model.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/Gpu.h"

#include "runtime/Instance.h"

using namespace tfc::runtime;

namespace {
/// The stream of the partition that a frame belongs to.
GpuStream &streamOf(tfc_call_frame *frame) { return frame->handle->streams[frame->device]; }
} // namespace

/// Ends the call with the status, unless that is TFC_OK. `own` has its message.
static int32_t finish(tfc_call_frame *frame, tfc_status status, const Message &own) {
  if (status == TFC_OK)
    return TFC_OK;
  return frame->handle->fail(status, "%s: %s", frame->handle->entry->name, own.c_str());
}

/// Ends the call if a copy has failed.
static int32_t report(tfc_call_frame *frame, cuda::Result result) {
  if (result == cuda::kSuccess)
    return TFC_OK;
  Message message;
  return finish(frame, streamOf(frame).report(result, "a copy of a value", message), message);
}

int32_t tfc::runtime::submitWork(tfc_call_frame *frame) {
  Message message;
  return finish(frame, streamOf(frame).submit(message), message);
}

int32_t tfc::runtime::finishStream(tfc_call_frame *frame) {
  Message message;
  return finish(frame, streamOf(frame).synchronize(message), message);
}

extern "C" int32_t tfc_rt_device_launch(tfc_call_frame *frame, int32_t grid, int64_t threads,
                                        const int64_t *arguments, int32_t count) {
  Message message;
  return finish(frame, streamOf(frame).launch(grid, threads, arguments, count, message), message);
}

extern "C" int32_t tfc_rt_device_read(tfc_call_frame *frame, void *to, const void *from,
                                      int64_t bytes) {
  Message message;
  return finish(frame, streamOf(frame).read(to, from, bytes, message), message);
}

extern "C" int32_t tfc_rt_device_upload(tfc_call_frame *frame, void *to, const void *from,
                                        int64_t bytes) {
  if (bytes <= 0)
    return TFC_OK;
  GpuStream &stream = streamOf(frame);
  // The message is released next.
  if (frame->handle->tasks.entry && frame->handle->state->tasks.isOnDevice(from)) {
    int32_t status = relocate(frame, to, from, bytes);
    return status ? status : finishStream(frame);
  }
  // Another GPU may have the feed, whose memory only the driver reads.
  if (frame->handle->hasDeviceFeeds && stream.getGpu().isOnDevice(from))
    return relocate(frame, to, from, bytes);
  Message message;
  return finish(frame, stream.upload(to, from, bytes, message), message);
}

static int32_t copyOnDevice(tfc_call_frame *frame, GpuWork::Kind kind, void *to, const void *from,
                            int64_t bytes) {
  if (bytes <= 0 || to == from)
    return TFC_OK;
  return report(frame,
                streamOf(frame).getWork().move(kind, to, reinterpret_cast<int64_t>(from), bytes));
}

int32_t tfc::runtime::relocate(tfc_call_frame *frame, void *to, const void *from, int64_t bytes) {
  return copyOnDevice(frame, GpuWork::kRelocate, to, from, bytes);
}

extern "C" int32_t tfc_rt_device_copy(tfc_call_frame *frame, void *to, const void *from,
                                      int64_t bytes) {
  return copyOnDevice(frame, GpuWork::kCopyOnDevice, to, from, bytes);
}

extern "C" int32_t tfc_rt_device_fill(tfc_call_frame *frame, void *to, int32_t byte,
                                      int64_t bytes) {
  if (bytes <= 0)
    return TFC_OK;
  return report(frame, streamOf(frame).getWork().move(GpuWork::kFill, to, byte, bytes));
}

extern "C" int32_t tfc_rt_device_send(tfc_call_frame *frame, int32_t slot, const void *from,
                                      int64_t bytes) {
  tfc_instance &handle = *frame->handle;
  int32_t buffer = handle.rendezvous.nextBuffer(slot);
  if (buffer < 0)
    return buffer;
  void *onHost = nullptr;
  if (void *to = findOnDevice(handle, slot, onHost)) {
    int32_t status = relocate(frame, to, from, bytes);
    return status ? status : sendMessage(*frame, slot, onHost, bytes);
  }
  auto staging = [&](bool isOnDevice) {
    return streamOf(frame).staging(handle.state->allocator, 2 * slot + buffer, bytes, isOnDevice);
  };
  if (handle.tasks.entry && handle.state->tasks.sendsFromDevice(handle, slot, bytes))
    if (void *copy = staging(/*isOnDevice=*/true)) {
      int32_t status = relocate(frame, copy, from, bytes);
      if (status == TFC_OK)
        status = finishStream(frame);
      return status ? status : sendMessage(*frame, slot, copy, bytes);
    }
  void *copy = staging(/*isOnDevice=*/false);
  if (!copy)
    return handle.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for a message of %lld bytes",
                       handle.entry->name, static_cast<long long>(bytes));
  if (int32_t status = tfc_rt_device_read(frame, copy, from, bytes))
    return status;
  return sendMessage(*frame, slot, copy, bytes);
}

extern "C" const void *tfc_rt_device_constant(tfc_call_frame *frame, int32_t number) {
  return streamOf(frame).getGpu().constant(number);
}
