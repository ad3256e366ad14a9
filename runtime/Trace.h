//===- Trace.h - Times of the steps of calls ------------------------------===//
//
// Models that `tfc profile` compiles record when their steps begin and end.
// Other models call none of this, so it is not linked into them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Model.h"

namespace tfc::runtime {

struct TraceEvent {
  int64_t begin; // nanoseconds of CLOCK_MONOTONIC
  int64_t end;
  const char *name; // in the library, see tfc_rt_trace_end
  int32_t kind;     // tfc_trace_kind
  int32_t slot;
  int64_t flops, bytes, held; // of a kernel, see tfc_rt_trace_end
};

/// The events of a device, in the order of their ends. Those beyond the capacity are only counted.
/// Each device has a cache line of its own, and its thread is the only writer.
struct alignas(64) TraceBuffer {
  TraceEvent *events = nullptr;
  int64_t capacity = 0;
  int64_t count = 0; // of all events, also those that did not fit
};

/// Records the events of all calls from now on in `buffers`, one for each device of the model; null
/// ends this. Must not be called during a call, and only one handle may run calls meanwhile. The
/// program finds it in the library by the symbol `tfc_rt_trace_into`.
using TraceInto = void (*)(TraceBuffer *buffers);

} // namespace tfc::runtime
