#include "tools/tfc/Diagnosis.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/HostForm.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Print.h"
#include "tools/tfc/ReferenceModel.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

//===----------------------------------------------------------------------===//
// What compiled code shows
//===----------------------------------------------------------------------===//

namespace {
/// The values of each probe in the order of their computation.
using Shown = std::map<int64_t, std::vector<std::vector<char>>>;
} // namespace

static Shown *shown = nullptr;

/// Called by compiled code, by one thread at a time.
static void show(int64_t number, const char *data, int64_t bytes) {
  if (shown)
    (*shown)[number].emplace_back(data, data + bytes);
}

namespace {

class Diagnoser {
public:
  Diagnoser(const CompileRequest &request, int threads, ArrayRef<RecordedCall> calls)
      : request(request), threads(threads), calls(calls) {}

  bool findNode(reference::Agreement &agreement);
  void findStage();

private:
  void findProbes(mlir::ModuleOp module);
  void compareLaunch(const reference::Execution &execution, mlir::ModuleOp module);
  bool runCompiled(const CompileRequest &probing);
  bool runReference(mlir::ModuleOp module, reference::Options options,
                    std::vector<reference::Tensor> &fetches);
  void compare(int64_t number, const reference::Tensor &expected, const Array *got,
               ArrayRef<int64_t> iterations, mlir::ModuleOp module);
  void report(int64_t number, const Twine &what, ArrayRef<int64_t> iterations,
              mlir::ModuleOp module);

  const CompileRequest &request;
  int threads;
  ArrayRef<RecordedCall> calls;
  Timing timing;
  bool isLastCall = false;
  std::map<int64_t, dfg::PushOp> probes;
  DenseMap<mlir::Value, int64_t> numbers; // results of launches to probes
  std::map<int64_t, size_t> occurrences;
  Shown values;
  reference::Agreement agreement;
  bool isFound = false; // what differs first
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Diagnoser::findProbes(mlir::ModuleOp module) {
  module.walk([&](dfg::PushOp push) {
    auto number = push->getAttrOfType<mlir::IntegerAttr>(dfg::kProbeAttr);
    if (!number)
      return;
    probes[number.getInt()] = push;
    numbers[push.getValue()] = number.getInt();
  });
}

/// Repeats the calls; the oracle starts each one from the compiled variables. The fetches are those
/// of the last call.
bool Diagnoser::runReference(mlir::ModuleOp module, reference::Options options,
                             std::vector<reference::Tensor> &fetches) {
  reference::Instance instance(module, std::move(options));
  if (!instance.initialize().isOk())
    return false;
  for (const RecordedCall &call : calls) {
    isLastCall = &call == &calls.back();
    std::vector<reference::Tensor> feeds;
    for (const Array &feed : call.feeds)
      feeds.push_back(toTensor(feed, module.getContext()));
    if (!instance.call(call.entry, feeds, fetches).isOk())
      return false;
    for (const auto &[name, value] : call.variables)
      instance.setVariable(name, toTensor(value, module.getContext()));
  }
  return true;
}

/// Repeats a call; the next one starts from the variables that are recorded, for the code is not
/// the same as without probes.
static Error repeat(const RecordedCall &call, LoadedModel &model) {
  Expected<const Entry *> entry = model.findEntry(call.entry);
  if (!entry)
    return entry.takeError();
  std::vector<Array> feeds = call.feeds;
  if (Error error = model.run(**entry, feeds).takeError())
    return error;
  for (const auto &[name, value] : call.variables)
    if (Error error = model.setVariable(name, value))
      return error;
  return Error::success();
}

/// Runs a library that shows its values.
bool Diagnoser::runCompiled(const CompileRequest &probing) {
  std::optional<LoadedModel> model = compileAndLoad(probing, threads, timing);
  if (!model)
    return false;
  for (const RecordedCall &call : calls) {
    shown = &call == &calls.back() ? &values : nullptr;
    Error error = repeat(call, *model);
    shown = nullptr;
    if (error) {
      consumeError(std::move(error));
      return false;
    }
  }
  return true;
}

/// What is known of a value that a kernel computed.
void Diagnoser::report(int64_t number, const Twine &what, ArrayRef<int64_t> iterations,
                       mlir::ModuleOp module) {
  dfg::PushOp probe = probes[number];
  auto launch = probe.getValue().getDefiningOp<dfg::LaunchOp>();
  std::string holds, place;
  if (auto kernel = module.lookupSymbol<dfg::KernelOp>(launch.getKernel()))
    for (mlir::Operation &op : kernel.getBody().front().without_terminator())
      holds += (" " + op.getName().stripDialect()).str();
  for (int64_t iteration : iterations)
    place += (place.empty() ? ", in iteration " : ", ") + std::to_string(iteration);
  auto error = mlir::emitError(probe.getLoc());
  StringRef op = probe->getAttrOfType<mlir::StringAttr>("tfc.op").getValue();
  error << "'" << op.split('.').second << "' in entry '" << calls.back().entry << "': " << what
        << " [value-differs]";
  error.attachNote() << "computed by '" << launch.getKernel() << "' of" << holds << place;
}

/// Reports the first value that differs; `got` is null where compiled code did not get there.
void Diagnoser::compare(int64_t number, const reference::Tensor &expected, const Array *got,
                        ArrayRef<int64_t> iterations, mlir::ModuleOp module) {
  if (isFound)
    return;
  if (!got) {
    isFound = true;
    return report(number, "the reference computes it, but not the compiled entry", iterations,
                  module);
  }
  auto difference = findDifference(
      expected, [&](int64_t i) { return toDouble(*got, i); },
      [&](int64_t i) { return toInteger(*got, i); }, &agreement);
  if (!difference)
    return;
  isFound = true;
  report(number, describe(*difference, expected), iterations, module);
}

/// Compares what a launch of the last call gave, and goes on from the compiled values: so each
/// kernel is judged by what it was given.
void Diagnoser::compareLaunch(const reference::Execution &execution, mlir::ModuleOp module) {
  if (!isLastCall || !isa<dfg::LaunchOp>(execution.op))
    return;
  std::map<int64_t, unsigned> results; // in the order of the operations
  for (mlir::OpResult result : execution.op->getResults())
    if (auto number = numbers.find(result); number != numbers.end())
      results[number->second] = result.getResultNumber();
  for (auto [number, i] : results) {
    const reference::Tensor *expected = execution.results[i];
    if (!expected)
      continue;
    const auto &found = values[number];
    size_t occurrence = occurrences[number]++;
    Array got = toArray(*expected);
    bool isThere = occurrence < found.size() && found[occurrence].size() == got.data.size();
    if (isThere)
      got.data = found[occurrence];
    compare(number, *expected, isThere ? &got : nullptr, execution.iterations, module);
    if (isThere)
      execution.replace(i, toTensor(got, module.getContext()));
  }
}

bool Diagnoser::findNode(reference::Agreement &total) {
  CompileRequest probing = request;
  probing.pipeline.probe = reinterpret_cast<int64_t>(&show);
  probing.pipeline.verbose = probing.printTimes = false;
  probing.pipeline.dumpAfter.clear();
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(probing, timing);
  PipelineOptions pipeline = probing.pipeline;
  pipeline.stopAfter = "fusion";
  if (!module || failed(runStages(*module, pipeline, timing)) || !runCompiled(probing))
    return false;
  findProbes(*module);
  std::vector<reference::Tensor> fetches;
  reference::Options options;
  options.checksAreApart = true;
  options.onExecuted = [&](const reference::Execution &execution) {
    compareLaunch(execution, *module);
  };
  bool isOk = runReference(*module, options, fetches);
  total.add(agreement);
  return isOk && isFound;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Whether what two forms mean cannot be the same value.
static bool contradict(const reference::Tensor &before, const reference::Tensor &after) {
  if (before.getShape() != after.getShape())
    return true;
  for (int64_t i = 0; i < before.size(); ++i) {
    if (!before.isDetermined(i) || !after.isDetermined(i))
      continue;
    double apart = reference::distance(before.number(i), after.number(i));
    if (apart > before.error(i) + after.error(i))
      return true;
  }
  return false;
}

/// Runs the oracle behind each stage that leaves the dfg form, and names the first that changes
/// what the last call gives.
void Diagnoser::findStage() {
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(request, timing);
  std::vector<reference::Tensor> before, after;
  if (!module || !runReference(*module, {}, before))
    return;
  unsigned begin = 0, end = *tfc::findStage("fusion");
  if (!request.pipeline.startAfter.empty())
    begin = *tfc::findStage(request.pipeline.startAfter);
  for (unsigned stage = begin + 1; stage <= end; ++stage) {
    PipelineOptions options = request.pipeline;
    options.verbose = false;
    options.dumpAfter.clear();
    options.startAfter = getStages()[stage - 1].name.str();
    options.stopAfter = getStages()[stage].name.str();
    reference::Options meaning;
    meaning.checksAreApart = stage >= *tfc::findStage("simplify");
    if (failed(runStages(*module, options, timing)) || !runReference(*module, meaning, after))
      return;
    if (any_of(zip_equal(before, after),
               [](auto pair) { return contradict(std::get<0>(pair), std::get<1>(pair)); })) {
      errs() << "tfc: note: the stage '" << getStages()[stage].name
             << "' changes what the graph means\n";
      return;
    }
  }
  errs()
      << "tfc: note: no stage up to 'fusion' changes what the graph means, and no kernel is wrong "
         "when its values are looked at: the host function or the places of values are\n";
}

bool tfc::reportDifferingNode(const CompileRequest &request, int threads,
                              ArrayRef<RecordedCall> calls, reference::Agreement &agreement) {
  return Diagnoser(request, threads, calls).findNode(agreement);
}

void tfc::reportChangingStage(const CompileRequest &request, ArrayRef<RecordedCall> calls) {
  Diagnoser(request, /*threads=*/1, calls).findStage();
}
