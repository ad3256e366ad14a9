// The command `tfc bench`: times an entry, and profiles it by kernel.
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Commands.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

using namespace llvm;
using namespace tfc;

/// The milliseconds of each call, calling for `seconds` but at least three times, after three
/// warm-up calls.
static Expected<std::vector<double>> timeCalls(const BenchOptions &options, LoadedModel &model,
                                               const Entry &entry, std::vector<Array> &feeds) {
  Expected<std::vector<Array>> fetches = model.makeFetches(entry, feeds);
  if (!fetches)
    return fetches.takeError();
  constexpr int kWarmUp = 3;
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  Clock::time_point begin = Clock::now();
  auto enough = [&] {
    std::chrono::duration<double> elapsed = Clock::now() - begin;
    return times.size() >= kWarmUp + 3 && elapsed.count() >= options.seconds;
  };
  while (!enough()) {
    Clock::time_point start = Clock::now();
    if (Error error = model.call(entry, feeds, *fetches))
      return error;
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  times.erase(times.begin(), times.begin() + kWarmUp);
  return times;
}

/// Calls the entry again and prints the share of the time that each function of the library takes.
static Error printKernels(const BenchOptions &options, LoadedModel &model, const Entry &entry,
                          std::vector<Array> &feeds) {
  Sampler sampler;
  Expected<std::vector<double>> times = timeCalls(options, model, entry, feeds);
  sampler.stop();
  if (!times)
    return times.takeError();
  auto shares = model.shareByFunction(sampler.getSamples());
  if (!shares)
    return shares.takeError();
  for (auto [name, share] : *shares)
    outs() << formatv("{0,5:f1} %  {1}\n", share * 100, name.empty() ? "(elsewhere)" : name);
  return Error::success();
}

/// The peak memory of this process, including the compiler.
static int64_t peakOfProcess() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

static Error bench(const BenchOptions &options, LoadedModel &model) {
  Expected<const Entry *> found = model.findEntry(options.entry);
  if (!found)
    return found.takeError();
  const Entry &entry = **found;
  Expected<RandomFeeds> feeds = makeFeeds(model, entry, options.dims);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<double>> times = timeCalls(options, model, entry, feeds->arrays);
  if (!times)
    return times.takeError();
  llvm::sort(*times);
  json::Object dims;
  for (auto [symbol, size] : zip(entry.symbols, feeds->sizes))
    dims[symbol.name] = size;
  json::Object integers;
  for (auto &[feed, limit] : feeds->limits)
    integers[feed] = limit;
  json::OStream line(outs());
  auto number = [&](StringRef name, double value) {
    line.attributeBegin(name);
    line.rawValue(formatv("{0:f6}", value).str());
    line.attributeEnd();
  };
  line.object([&] {
    line.attribute("entry", entry.name);
    line.attribute("dims", std::move(dims));
    if (!integers.empty())
      line.attribute("integers_below", std::move(integers));
    line.attribute("threads", options.threads);
    line.attribute("calls", int64_t(times->size()));
    number("median_ms", (*times)[times->size() / 2]);
    number("best_ms", times->front());
    number("compile_ms", model.getCompileTime().count() * 1e3);
    line.attribute("peak_bytes", model.peakBytes());
    line.attribute("process_peak_bytes", peakOfProcess());
  });
  outs() << '\n';
  return options.kernels ? printKernels(options, model, entry, feeds->arrays) : Error::success();
}

int tfc::runBench(const BenchOptions &options) {
  std::optional<LoadedModel> model = compileAndLoad(options.compile, options.threads);
  if (!model)
    return 1;
  if (Error error = bench(options, *model))
    return reportError(std::move(error));
  return 0;
}
