//===- Trace.cpp - Times of the steps of calls ----------------------------===//
//
// Records the steps of calls in memory that the tracing program has allocated. In a file of its
// own, so that only models that trace link it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Trace.h"
#include "runtime/Clock.h"

using namespace tfc::runtime;

/// One for each device; null while nobody traces. The threads of devices see what was written
/// before the call.
static TraceBuffer *buffers;

extern "C" int64_t tfc_rt_trace_begin() { return nanoseconds(); }

extern "C" void tfc_rt_trace_end(tfc_call_frame *frame, int64_t begin, int32_t kind, int32_t slot,
                                 const char *name, int64_t flops, int64_t bytes, int64_t held) {
  if (!buffers)
    return;
  TraceBuffer &buffer = buffers[frame->device];
  int64_t number = buffer.count++;
  if (number < buffer.capacity)
    buffer.events[number] = {begin, nanoseconds(), name, kind, slot, flops, bytes, held};
}

// Nothing refers to it, so the linker must be told to keep it.
extern "C" __attribute__((used, retain)) void tfc_rt_trace_into(TraceBuffer *newBuffers) {
  buffers = newBuffers;
}
