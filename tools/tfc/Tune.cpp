// Measures schedules: compiles the model once for each number of a way, with all kernels in the way
// of that number, and compares each kernel with the one that the cost model chose. Calls of both
// take turns, so that other load of the machine meets both; and a way has to be faster than that of
// the cost model ever was, because load can meet one of them for the whole of a comparison.
#include "tools/tfc/Tune.h"
#include "compiler/emission/OutputFile.h"
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Recorder.h"
#include "tools/tfc/Schedules.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>

using namespace llvm;
using namespace tfc;

/// A way is chosen if it takes at most this share of the time, and kept if it then, with the
/// others, takes at most the second one.
static constexpr double kFaster = 0.97, kStillFaster = 0.99;
/// How long a comparison of an entry takes, and the calls that it has.
static constexpr double kSeconds = 1.5;
static constexpr int kLeastCalls = 10, kMostCalls = 200;

namespace {

struct KernelWay {
  std::string hash, way;
  int64_t count; // of ways
};

/// A model that records its steps, and its kernels that have several ways, by their names.
struct Candidate {
  LoadedModel model;
  std::map<std::string, KernelWay> kernels;
};

/// The shortest times of kernels by their hashes, or of calls by their entries, in nanoseconds.
using Times = std::map<std::string, int64_t>;

struct Comparison {
  Times base, other, baseCalls, otherCalls;
};

class Tuner {
public:
  Tuner(const CompileRequest &request, int threads) : request(request), threads(threads) {}

  /// Returns the exit code.
  int run();

private:
  std::optional<Candidate> compile(int64_t number, std::vector<std::string> schedules);
  Error compareEntry(Candidate &base, Candidate &other, const Entry &entry, Comparison &result);
  Expected<Comparison> compare(Candidate &base, Candidate &other);
  Error measureWays(Candidate &base);
  void dropSlower(double share);
  std::vector<std::string> chosen() const;
  Error keepFaster(Candidate &base, Comparison &result);
  Error write();
  void report(const Candidate &base, const Comparison &result) const;

  const CompileRequest &request;
  int threads;
  /// The shortest time of each kernel in the way of the cost model.
  Times defaults;
  /// The fastest of the other ways of each kernel, and its time; at the end, those that are faster.
  std::map<std::string, std::pair<std::string, int64_t>> others;
  std::string path;
  ScheduleFile file;
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::optional<Candidate> Tuner::compile(int64_t number, std::vector<std::string> schedules) {
  CompileRequest candidate = request;
  candidate.schedules = "none";
  candidate.pipeline.schedules = std::move(schedules);
  candidate.pipeline.candidate = number;
  candidate.pipeline.traces = true;
  candidate.keepSymbols = true; // by which the recorder finds the runtime's function
  std::map<std::string, KernelWay> kernels;
  candidate.pipeline.onStage = [&](StringRef stage, mlir::ModuleOp module) {
    if (stage != "schedule")
      return;
    module.walk([&](kernel::FuncOp kernel) {
      if (kernel::NamedSchedule named = kernel::scheduleOf(kernel); !named.way.empty())
        kernels[kernel.getName().str()] = {named.hash.str(), named.way.str(), named.count};
    });
  };
  std::optional<LoadedModel> model = compileAndLoad(candidate, threads);
  if (!model)
    return std::nullopt;
  return Candidate{std::move(*model), std::move(kernels)};
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

static void lower(Times &times, const std::string &name, int64_t time) {
  auto [place, isNew] = times.try_emplace(name, time);
  if (!isNew)
    place->second = std::min(place->second, time);
}

/// Lowers the times of an entry and of its kernels to those of a call that took less.
static void addCall(const Trace &trace, const std::string &entry, Times &kernels, Times &calls) {
  const TracedCall &call = trace.calls.back();
  lower(calls, entry, call.time());
  Times ofCall;
  for (const std::vector<TracedStep> &steps : call.steps)
    for (const TracedStep &step : steps)
      if (step.kind == TFC_TRACE_KERNEL)
        ofCall[step.name] += step.time();
  for (const auto &[name, time] : ofCall)
    lower(kernels, name, time);
}

Error Tuner::compareEntry(Candidate &base, Candidate &other, const Entry &entry,
                          Comparison &result) {
  Expected<RandomFeeds> feeds = makeFeeds(base.model, entry, {});
  if (!feeds)
    return feeds.takeError();
  for (LoadedModel *model : {&base.model, &other.model})
    if (Error error = model->restart())
      return error;
  Expected<std::vector<Array>> fetches = base.model.makeFetches(entry, feeds->arrays);
  if (!fetches)
    return fetches.takeError();
  Expected<Recorder> first = Recorder::create(base.model), second = Recorder::create(other.model);
  if (!first || !second)
    return joinErrors(first.takeError(), second.takeError());
  for (Recorder *recorder : {&*first, &*second})
    if (Error error = recorder->warmUp(entry, feeds->arrays, *fetches, kMostCalls))
      return error;
  Comparison found;
  auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kMostCalls; ++call) {
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (call >= kLeastCalls && elapsed.count() > kSeconds)
      break;
    Trace trace;
    if (Error error = first->call(entry, feeds->arrays, *fetches, trace))
      return error;
    addCall(trace, entry.name, found.base, result.baseCalls);
    if (Error error = second->call(entry, feeds->arrays, *fetches, trace))
      return error;
    addCall(trace, entry.name, found.other, result.otherCalls);
  }
  // Kernels have the same names in all candidates.
  for (const auto &[name, way] : base.kernels)
    if (found.base.count(name) && found.other.count(name)) {
      result.base[way.hash] += found.base[name];
      result.other[way.hash] += found.other[name];
    }
  return Error::success();
}

/// Entries that random feeds do not suit are left out.
Expected<Comparison> Tuner::compare(Candidate &base, Candidate &other) {
  Comparison result;
  Error reasons = Error::success();
  for (const Entry &entry : base.model.getEntries())
    reasons = joinErrors(std::move(reasons), compareEntry(base, other, entry, result));
  if (result.baseCalls.empty())
    return reasons ? std::move(reasons) : makeError("the model has no entry to measure");
  consumeError(std::move(reasons));
  for (const auto &[hash, time] : result.base)
    lower(defaults, hash, time);
  return result;
}

Error Tuner::measureWays(Candidate &base) {
  int64_t count = 1;
  for (const auto &[name, way] : base.kernels)
    count = std::max(count, way.count);
  for (int64_t number = 1; number < count; ++number) {
    outs() << "measuring the schedules " << number << " of " << count - 1 << '\n';
    outs().flush();
    std::optional<Candidate> other = compile(number, {});
    if (!other)
      return makeError("the schedules {} do not compile", number);
    Expected<Comparison> result = compare(base, *other);
    if (!result)
      return result.takeError();
    for (const auto &[name, way] : other->kernels) {
      auto time = result->other.find(way.hash);
      if (number >= way.count || time == result->other.end())
        continue;
      auto &known = others.try_emplace(way.hash, way.way, time->second).first->second;
      if (time->second < known.second)
        known = {way.way, time->second};
    }
  }
  dropSlower(kFaster);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Drops ways that take more than this share of the time.
void Tuner::dropSlower(double share) {
  for (auto choice = others.begin(); choice != others.end();) {
    bool isFaster = double(choice->second.second) <= share * double(defaults.at(choice->first));
    choice = isFaster ? std::next(choice) : others.erase(choice);
  }
}

std::vector<std::string> Tuner::chosen() const {
  std::vector<std::string> schedules;
  for (const auto &[hash, way] : others)
    schedules.push_back(hash + "=" + way.first);
  return schedules;
}

/// Compares all choices at once, and drops those that are no longer faster.
Error Tuner::keepFaster(Candidate &base, Comparison &result) {
  std::optional<Candidate> tuned = compile(-1, chosen());
  if (!tuned)
    return makeError("the measured schedules do not compile");
  Expected<Comparison> compared = compare(base, *tuned);
  if (!compared)
    return compared.takeError();
  result = std::move(*compared);
  for (auto &[hash, choice] : others) {
    auto time = result.other.find(hash);
    choice.second = time == result.other.end() ? INT64_MAX : time->second;
  }
  dropSlower(kStillFaster);
  return Error::success();
}

/// Replaces what the file has for this target.
Error Tuner::write() {
  TargetSchedules target = targetOf(request.pipeline);
  for (const auto &[hash, way] : others)
    target.kernels[hash] = way.first;
  erase_if(file.targets,
           [&](const TargetSchedules &known) { return known.isOfSameTarget(target); });
  file.targets.push_back(std::move(target));
  return writeSchedules(path, file);
}

void Tuner::report(const Candidate &base, const Comparison &result) const {
  for (const auto &[entry, time] : result.baseCalls) {
    if (others.empty())
      break; // the code is that of the cost model
    double before = time * 1e-6, after = result.otherCalls.at(entry) * 1e-6;
    outs() << fmt::format(
        "{}: {:.3f} ms by the cost model, {:.3f} ms tuned, {:.3f} times as fast\n", entry, before,
        after, before / after);
  }
  outs() << fmt::format("{} of {} kernels with a choice have other schedules: {}\n", others.size(),
                        base.kernels.size(), path);
}

int Tuner::run() {
  path = schedulePath(request);
  emission::Output output = {path, ""};
  if (Error error = emission::checkOutputs(output, request.input))
    return reportError(std::move(error));
  // A file of another kind is not overwritten.
  if (sys::fs::exists(path)) {
    Expected<ScheduleFile> known = readSchedules(path);
    if (!known)
      return reportError(known.takeError());
    file = std::move(*known);
  }
  std::optional<Candidate> base = compile(0, {});
  if (!base)
    return 1;
  if (Error error = measureWays(*base))
    return reportError(std::move(error));
  Comparison result;
  if (!others.empty())
    if (Error error = keepFaster(*base, result))
      return reportError(std::move(error));
  if (Error error = write())
    return reportError(std::move(error));
  report(*base, result);
  return 0;
}

int tfc::tune(const CompileRequest &request, int threads) { return Tuner(request, threads).run(); }
