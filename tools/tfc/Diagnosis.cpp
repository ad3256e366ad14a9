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

/// What the oracle computed for a probe.
struct Wanted {
  int64_t probe;
  size_t occurrence;
  std::vector<int64_t> iterations;
  reference::Tensor value;
};

class Diagnoser {
public:
  Diagnoser(const CompileRequest &request, int threads, ArrayRef<RecordedCall> calls)
      : request(request), threads(threads), calls(calls) {}

  bool findNode(reference::Agreement &agreement);
  void findStage();

private:
  void findProbes(mlir::ModuleOp module);
  void collect(const reference::Execution &execution);
  bool runCompiled(const CompileRequest &probing);
  bool runReference(mlir::ModuleOp module, reference::Options options,
                    std::vector<reference::Tensor> &fetches);
  bool report(const Wanted &wanted, mlir::ModuleOp module, reference::Agreement &agreement);

  const CompileRequest &request;
  int threads;
  ArrayRef<RecordedCall> calls;
  Timing timing;
  bool isLastCall = false;
  std::map<int64_t, dfg::PushOp> probes;
  DenseMap<mlir::Value, int64_t> numbers; // results of launches to probes
  std::map<int64_t, size_t> occurrences;
  std::vector<Wanted> wanted;
  Shown values;
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

/// Keeps what a launch of the last call gave, in the order of the operations.
void Diagnoser::collect(const reference::Execution &execution) {
  if (!isLastCall || !isa<dfg::LaunchOp>(execution.op))
    return;
  std::map<int64_t, const reference::Tensor *> found;
  for (auto [result, tensor] : zip_equal(execution.op->getResults(), execution.results))
    if (auto number = numbers.find(result); number != numbers.end() && tensor)
      found[number->second] = tensor;
  for (auto [number, tensor] : found)
    wanted.push_back({number, occurrences[number]++, execution.iterations.vec(), *tensor});
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

/// Prints a value that differs; false if it does not.
bool Diagnoser::report(const Wanted &expected, mlir::ModuleOp module,
                       reference::Agreement &agreement) {
  const auto &found = values[expected.probe];
  dfg::PushOp probe = probes[expected.probe];
  Array got = toArray(expected.value);
  if (expected.occurrence >= found.size() || found[expected.occurrence].size() != got.data.size())
    return false;
  got.data = found[expected.occurrence];
  auto difference = findDifference(
      expected.value, [&](int64_t i) { return toDouble(got, i); },
      [&](int64_t i) { return toInteger(got, i); }, &agreement);
  if (!difference)
    return false;
  auto launch = probe.getValue().getDefiningOp<dfg::LaunchOp>();
  std::string holds;
  if (auto kernel = module.lookupSymbol<dfg::KernelOp>(launch.getKernel()))
    for (mlir::Operation &op : kernel.getBody().front().without_terminator())
      holds += (" " + op.getName().stripDialect()).str();
  auto error = mlir::emitError(probe.getLoc());
  StringRef op = probe->getAttrOfType<mlir::StringAttr>("tfc.op").getValue();
  error << "'" << op.split('.').second << "' in entry '" << calls.back().entry
        << "': " << describe(*difference, expected.value) << " [value-differs]";
  std::string place;
  for (int64_t iteration : expected.iterations)
    place += (place.empty() ? ", in iteration " : ", ") + std::to_string(iteration);
  error.attachNote() << "computed by '" << launch.getKernel() << "' of" << holds << place;
  return true;
}

bool Diagnoser::findNode(reference::Agreement &agreement) {
  CompileRequest probing = request;
  probing.pipeline.probe = reinterpret_cast<int64_t>(&show);
  probing.pipeline.verbose = probing.printTimes = false;
  probing.pipeline.dumpAfter.clear();
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(probing, timing);
  PipelineOptions pipeline = probing.pipeline;
  pipeline.stopAfter = "fusion";
  if (!module || failed(runStages(*module, pipeline, timing)))
    return false;
  findProbes(*module);
  std::vector<reference::Tensor> fetches;
  reference::Options options;
  options.checksAreApart = true;
  options.onExecuted = [&](const reference::Execution &execution) { collect(execution); };
  if (!runReference(*module, options, fetches) || !runCompiled(probing))
    return false;
  return any_of(wanted, [&](const Wanted &value) { return report(value, *module, agreement); });
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
