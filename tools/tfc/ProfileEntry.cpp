// The command `tfc profile`: compiles a graph so that it records its steps, calls an entry and
// writes when each step began and ended.
#include "compiler/emission/OutputFile.h"
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Feeds.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Recorder.h"
#include <thread>

using namespace llvm;
using namespace tfc;

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
  if (Error error = recorder->warmUp(**entry, *feeds, *fetches, options.calls))
    return std::move(error);
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
