// The command `tfc profile`: compiles a graph so that it records its steps, calls an entry and
// writes when each step began and ended.
#include "compiler/emission/OutputFile.h"
#include "runtime/Clock.h"
#include "runtime/Trace.h"
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Feeds.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Trace.h"
#include <thread>

using namespace llvm;
using namespace tfc;
using namespace tfc::runtime;

/// The most steps that are recorded for a device: 128 MiB.
static constexpr int64_t kMostEvents = 1 << 22;
static constexpr int kWarmUp = 3;

namespace {

/// Records the steps of calls of a model in memory that is allocated before them.
class Recorder {
public:
  /// Fails if the library does not record its steps.
  static Expected<Recorder> create(LoadedModel &model);
  ~Recorder() { into(nullptr); }
  Recorder(Recorder &&other) = default;

  /// Has room for `calls` times the steps that were recorded since the last `reserve`.
  void reserve(int64_t calls);
  /// Calls the entry. The steps are added to `trace`.
  Error call(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches,
             Trace &trace);

private:
  Recorder(LoadedModel &model, TraceInto into)
      : model(&model), into(into), events(model.getDevices().size()), buffers(events.size()) {}
  void collect(size_t device, int64_t begin, std::vector<TracedStep> &steps, int64_t &dropped);

  LoadedModel *model;
  TraceInto into;
  std::vector<std::vector<TraceEvent>> events; // by device
  std::vector<TraceBuffer> buffers;
};

} // namespace

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

/// The feeds of the command line, or random ones.
static Expected<std::vector<Array>> makeFeeds(const RunOptions &options, LoadedModel &model,
                                              const Entry &entry) {
  if (!options.feeds.empty())
    return readFeeds(options, entry);
  Expected<RandomFeeds> feeds = makeFeeds(model, entry, options.dims);
  if (!feeds)
    return feeds.takeError();
  if (Error error = model.restart())
    return std::move(error);
  return std::move(feeds->arrays);
}

static Expected<Trace> record(const ProfileOptions &options, LoadedModel &model) {
  Expected<const Entry *> entry = model.findEntry(options.run.entry);
  if (!entry)
    return entry.takeError();
  Expected<Recorder> recorder = Recorder::create(model);
  if (!recorder)
    return recorder.takeError();
  Expected<std::vector<Array>> feeds = makeFeeds(options.run, model, **entry);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<Array>> fetches = model.makeFetches(**entry, *feeds);
  if (!fetches)
    return fetches.takeError();
  int threads = options.run.threads ? options.run.threads : std::thread::hardware_concurrency();
  Trace trace = {(*entry)->name, model.getDevices(), measureLimits(std::max(threads, 1)), {}, 0};
  for (int i = 0; i < kWarmUp; ++i) {
    Trace unused;
    recorder->reserve(0);
    if (Error error = recorder->call(**entry, *feeds, *fetches, unused))
      return std::move(error);
  }
  recorder->reserve(options.calls);
  for (int i = 0; i < options.calls; ++i)
    if (Error error = recorder->call(**entry, *feeds, *fetches, trace))
      return std::move(error);
  return trace;
}

static Error profile(const ProfileOptions &options, LoadedModel &model,
                     emission::PendingFile &file) {
  Expected<Trace> trace = record(options, model);
  if (!trace)
    return trace.takeError();
  if (Error error = file.write([&](raw_ostream &os) { writeChromeTrace(*trace, os); }))
    return error;
  if (Error error = file.keep())
    return error;
  printSummary(*trace, outs());
  return Error::success();
}

int tfc::runProfile(const ProfileOptions &options) {
  std::vector<std::string> inputs = feedFiles(options.run);
  inputs.push_back(options.run.compile.input);
  emission::Output output = {options.output, ""};
  if (Error error = emission::checkOutputs(output, inputs)) {
    reportError(std::move(error));
    return 2;
  }
  Expected<emission::PendingFile> file = emission::PendingFile::create(options.output);
  if (!file)
    return reportError(file.takeError());
  CompileRequest request = options.run.compile;
  request.pipeline.traces = true;
  request.keepSymbols = true; // by which the recorder finds the runtime's function
  std::optional<LoadedModel> model = compileAndLoad(request, options.run.threads);
  if (!model)
    return 1;
  if (Error error = emission::checkOutputs(output, model->getInputs()))
    return reportError(std::move(error));
  if (Error error = profile(options, *model, *file))
    return reportError(std::move(error));
  return 0;
}
