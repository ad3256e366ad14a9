// Points the runtime of a model to memory for the steps of its calls, and reads them.
#include "tools/tfc/Recorder.h"
#include "runtime/Clock.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tfc;
using namespace tfc::runtime;

/// The most steps that are recorded for a device: 128 MiB.
static constexpr int64_t kMostEvents = 1 << 22;
static constexpr int kWarmUp = 3;

Expected<Recorder> Recorder::create(LoadedModel &model) {
  void *into = model.findFunction("tfc_rt_trace_into");
  if (!into)
    return createStringError("the library does not record its steps: pass the graph");
  return Recorder(model, reinterpret_cast<TraceInto>(into));
}

void Recorder::reserve(int64_t calls) {
  for (auto [storage, buffer] : zip(events, buffers)) {
    // Some more, because the trip counts of loops may depend on variables.
    int64_t capacity = std::min(kMostEvents, buffer.count * calls * 5 / 4);
    storage.assign(capacity, {}); // touches the memory
    buffer = {storage.data(), capacity, 0};
  }
  into(buffers.data());
}

void Recorder::collect(size_t device, int64_t begin, std::vector<TracedStep> &steps,
                       int64_t &dropped) {
  const TraceBuffer &buffer = buffers[device];
  int64_t end = std::min(buffer.count, buffer.capacity);
  for (int64_t i = std::min(begin, end); i < end; ++i) {
    const TraceEvent &event = buffer.events[i];
    auto [name, place] = StringRef(event.name).split('\n');
    steps.push_back({event.begin, event.end, name.str(), place.str(),
                     static_cast<tfc_trace_kind>(event.kind), event.slot, event.flops, event.bytes,
                     event.held});
  }
  dropped += buffer.count - begin - int64_t(steps.size());
}

Error Recorder::call(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches,
                     Trace &trace) {
  std::vector<int64_t> begins;
  for (const TraceBuffer &buffer : buffers)
    begins.push_back(buffer.count);
  TracedCall call = {nanoseconds(), 0, std::vector<std::vector<TracedStep>>(buffers.size())};
  if (Error error = model->call(entry, feeds, fetches))
    return error;
  call.end = nanoseconds();
  for (size_t device = 0; device < buffers.size(); ++device)
    collect(device, begins[device], call.steps[device], trace.dropped);
  trace.calls.push_back(std::move(call));
  return Error::success();
}

Error Recorder::warmUp(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches,
                       int64_t calls) {
  for (int i = 0; i < kWarmUp; ++i) {
    Trace unused;
    reserve(0);
    if (Error error = call(entry, feeds, fetches, unused))
      return error;
  }
  reserve(calls);
  return Error::success();
}
