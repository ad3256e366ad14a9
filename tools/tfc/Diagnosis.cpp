// Finds the kernel, stage or memory plan responsible for a wrong value, by repeating calls in other
// builds.
#include "tools/tfc/Diagnosis.h"
#include "compiler/emission/Link.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/HostForm.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Print.h"
#include "tools/tfc/ReferenceModel.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace llvm;
using namespace tfc;

//===----------------------------------------------------------------------===//
// Values from compiled code
//===----------------------------------------------------------------------===//

/// The values of each probe in the order of their computation.
using Shown = std::map<int64_t, std::vector<std::vector<char>>>;

static Shown *shown = nullptr;

/// Called by compiled code, by one thread at a time.
static void show(int64_t number, const char *data, int64_t bytes) {
  if (shown)
    (*shown)[number].emplace_back(data, data + bytes);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// Compares the calls of a build with probes with the oracle, kernel by kernel.
class KernelComparison {
public:
  KernelComparison(const CompileRequest &request, int threads, ArrayRef<RecordedCall> calls)
      : request(request), threads(threads), calls(calls) {}

  /// Returns false if there is nothing to compare: no build, or nothing that both can execute.
  bool prepare();
  /// Runs the calls with the probes [begin, end); returns true if a value differs, which is
  /// printed.
  bool run(int64_t begin, int64_t end);
  int64_t getProbeCount() const { return probes.empty() ? 0 : probes.rbegin()->first + 1; }
  /// The range of the probes of the entry of the last call.
  std::pair<int64_t, int64_t> getLastEntry();
  /// Returns true if the last call returned the same as without probes.
  bool givesTheSame() const { return isSame; }
  reference::Agreement agreement;
  int64_t settled = 0; // undetermined elements with the bits of the other build

private:
  CompileRequest requestWithProbes() const;
  void findProbes();
  std::optional<LoadedModel> build(int64_t begin, int64_t end);
  LogicalResult writeWith(int64_t begin, int64_t end, StringRef path);
  bool runCall(const RecordedCall &call, LoadedModel &model, reference::Instance &oracle);
  void compareLaunch(const reference::Execution &execution);
  void compare(int64_t number, const reference::Tensor &expected, const Array *got,
               ArrayRef<int64_t> iterations);
  void compareWithOther(const RecordedCall &call, const std::string &name, const Array &here,
                        const Array &there);
  void report(int64_t number, const Twine &what, ArrayRef<int64_t> iterations);

  const CompileRequest &request;
  int threads;
  ArrayRef<RecordedCall> calls;
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<int64_t, dfg::PushOp> probes;
  DenseMap<mlir::Value, int64_t> numbers; // results of launches to probes
  const RecordedCall *current = nullptr;  // null while the initializer runs
  std::map<int64_t, size_t> occurrences;
  Shown values;
  bool isFound = false; // the first difference
  bool isSame = true;
  int64_t first = 0, last = 0; // the probes of the build
};

} // namespace

/// The request of a build with probes, in which one thread runs the kernels of all devices.
CompileRequest KernelComparison::requestWithProbes() const {
  CompileRequest probing = request;
  probing.pipeline.probe = reinterpret_cast<int64_t>(&show);
  probing.pipeline.verbose = probing.printTimes = false;
  probing.pipeline.dumpAfter.clear();
  probing.pipeline.disabled.push_back("partition");
  return probing;
}

bool KernelComparison::prepare() {
  CompileRequest probing = requestWithProbes();
  probing.pipeline.stopAfter = "fusion";
  module = session.load(probing);
  if (!module)
    return false;
  requireSizes(*module);
  if (failed(runStages(*module, probing.pipeline)))
    return false;
  findProbes();
  return true;
}

void KernelComparison::findProbes() {
  module->walk([&](dfg::PushOp push) {
    if (!push.getProbe())
      return;
    int64_t number = push.getProbe()->getNumber();
    probes[number] = push;
    numbers[push.getValue()] = number;
  });
}

std::pair<int64_t, int64_t> KernelComparison::getLastEntry() {
  std::pair<int64_t, int64_t> range = {getProbeCount(), 0};
  for (auto [number, probe] : probes) {
    if (probe->getParentOfType<dfg::EntryOp>().getSymName() != calls.back().entry)
      continue;
    range = {std::min(range.first, number), number + 1};
  }
  return range;
}

/// Writes the module after fusion with some of its probes.
LogicalResult KernelComparison::writeWith(int64_t begin, int64_t end, StringRef path) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
  copy->walk([&](dfg::PushOp push) {
    std::optional<dfg::ProbeAttr> probe = push.getProbe();
    if (probe && (probe->getNumber() < begin || probe->getNumber() >= end))
      push.erase();
  });
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (error)
    return failure();
  copy->print(os);
  return success();
}

/// Builds a library with some of the probes.
std::optional<LoadedModel> KernelComparison::build(int64_t begin, int64_t end) {
  CompileRequest probing = requestWithProbes();
  if (begin == 0 && end == getProbeCount())
    return compileAndLoad(probing, threads);
  Expected<emission::WorkFolder> folder = emission::WorkFolder::create();
  if (!folder) {
    consumeError(folder.takeError());
    return std::nullopt;
  }
  probing.input = folder->file("probes.mlir");
  probing.pipeline.startAfter = "fusion";
  if (failed(writeWith(begin, end, probing.input)))
    return std::nullopt;
  return compileAndLoad(probing, threads);
}

/// Reports a value that a kernel computed.
void KernelComparison::report(int64_t number, const Twine &what, ArrayRef<int64_t> iterations) {
  dfg::PushOp probe = probes[number];
  auto launch = probe.getValue().getDefiningOp<dfg::LaunchOp>();
  std::string holds, place;
  if (auto kernel = module->lookupSymbol<dfg::KernelOp>(launch.getKernel()))
    for (mlir::Operation &op : kernel.getBody().front().without_terminator())
      holds += (" " + op.getName().stripDialect()).str();
  if (calls.size() > 1)
    place = ", in call " + std::to_string(current - calls.begin());
  for (auto [i, iteration] : enumerate(iterations))
    place += (i == 0 ? ", in iteration " : ", ") + std::to_string(iteration);
  auto error = mlir::emitError(probe.getLoc());
  error << "'" << probe.getProbe()->getOp().getValue() << "' in entry '" << current->entry
        << "': " << what << " [value-differs]";
  error.attachNote() << "computed by '" << launch.getKernel() << "' of" << holds << place;
}

/// Reports the first value that differs; `got` is null if compiled code did not compute it.
void KernelComparison::compare(int64_t number, const reference::Tensor &expected, const Array *got,
                               ArrayRef<int64_t> iterations) {
  if (isFound)
    return;
  if (!got) {
    isFound = true;
    return report(number, "the reference succeeds, but the compiled entry fails", iterations);
  }
  auto difference = findDifference(
      expected, [&](int64_t i) { return toDouble(*got, i); },
      [&](int64_t i) { return toInteger(*got, i); }, &agreement);
  if (!difference)
    return;
  isFound = true;
  report(number, describe(*difference, expected), iterations);
}

/// Compares the results of a launch, and continues with the compiled values, so that each kernel is
/// judged by its actual inputs.
void KernelComparison::compareLaunch(const reference::Execution &execution) {
  if (!current || !isa<dfg::LaunchOp>(execution.op))
    return;
  std::map<int64_t, unsigned> results; // in the order of the operations
  for (mlir::OpResult result : execution.op->getResults())
    if (auto number = numbers.find(result); number != numbers.end())
      results[number->second] = result.getResultNumber();
  for (auto [number, i] : results) {
    const reference::Tensor *expected = execution.results[i];
    if (!expected || number < first || number >= last)
      continue;
    const auto &found = values[number];
    size_t occurrence = occurrences[number]++;
    Array got = toArray(*expected);
    bool isThere = occurrence < found.size() && found[occurrence].size() == got.data.size();
    if (isThere)
      got.data = found[occurrence];
    compare(number, *expected, isThere ? &got : nullptr, execution.iterations);
    if (isThere)
      execution.replace(i, toTensor(got, module->getContext()));
  }
}

/// Undetermined elements are right if they have the same bits in both builds, because in this one
/// each kernel has been checked.
void KernelComparison::compareWithOther(const RecordedCall &call, const std::string &name,
                                        const Array &here, const Array &there) {
  if (here.shape != there.shape || here.data != there.data)
    isSame = false;
  else if (auto found = call.undetermined.find(name); found != call.undetermined.end())
    settled += found->second;
}

/// Makes a call on both; the next one starts with the variables of the build without probes.
/// Returns false if the call ends differently than in that build.
bool KernelComparison::runCall(const RecordedCall &call, LoadedModel &model,
                               reference::Instance &oracle) {
  Expected<const Entry *> entry = model.findEntry(call.entry);
  if (!entry) {
    consumeError(entry.takeError());
    return false;
  }
  std::vector<Array> feeds = call.feeds;
  std::vector<reference::Tensor> tensors, unused;
  for (const Array &feed : feeds)
    tensors.push_back(toTensor(feed, module->getContext()));
  values.clear();
  occurrences.clear();
  shown = &values;
  Expected<std::vector<Array>> fetches = model.run(**entry, feeds);
  shown = nullptr;
  bool isOk = bool(fetches);
  if (!isOk)
    consumeError(fetches.takeError());
  isOk &= oracle.call(call.entry, tensors, unused).isOk();
  if (isOk == call.fails)
    return false;
  if (call.fails)
    return true;
  for (auto [port, here, there] : zip((*entry)->fetches, *fetches, call.fetches))
    compareWithOther(call, "fetch '" + port.name + "'", here, there);
  for (const auto &[name, value] : call.variables) {
    Expected<Array> here = model.getVariable(name);
    if (!here || model.setVariable(name, value))
      return false;
    compareWithOther(call, "variable '" + name + "'", *here, value);
    oracle.setVariable(name, toTensor(value, module->getContext()));
  }
  return true;
}

bool KernelComparison::run(int64_t begin, int64_t end) {
  std::optional<LoadedModel> model = build(begin, end);
  if (!model)
    return false;
  first = begin;
  last = end;
  isFound = false;
  reference::Options options;
  options.checksAreApart = true;
  options.onExecuted = [&](const reference::Execution &execution) { compareLaunch(execution); };
  reference::Instance oracle(*module, options);
  if (!oracle.initialize().isOk())
    return false;
  for (const RecordedCall &call : calls) {
    current = &call;
    isSame = true;
    if (!runCall(call, *model, oracle) || isFound)
      break;
  }
  current = nullptr;
  return isFound;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Repeats the calls; the oracle starts each with the compiled variables. The results are the
/// fetches of the last call and the variables after it.
static bool runReference(mlir::ModuleOp module, reference::Options options,
                         ArrayRef<RecordedCall> calls, std::vector<reference::Tensor> &results) {
  reference::Instance instance(module, std::move(options));
  if (!instance.initialize().isOk())
    return false;
  for (const RecordedCall &call : calls) {
    std::vector<reference::Tensor> feeds;
    for (const Array &feed : call.feeds)
      feeds.push_back(toTensor(feed, module.getContext()));
    if (instance.call(call.entry, feeds, results).isOk() == call.fails)
      return false;
    if (&call == &calls.back())
      break;
    for (const auto &[name, value] : call.variables)
      instance.setVariable(name, toTensor(value, module.getContext()));
  }
  for (const auto &entry : calls.back().variables) {
    const reference::Tensor *value = instance.getVariable(entry.first);
    results.push_back(value ? *value : reference::Tensor());
  }
  return true;
}

/// Returns true if the values computed from two forms of the module cannot be the same.
static bool contradict(const reference::Tensor &before, const reference::Tensor &after) {
  if (!before.getElementType() || !after.getElementType())
    return false; // a variable that a stage removed
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

/// Runs the oracle after each stage whose result is in dfg form, and names the first that changes
/// the results of the last call; returns false if there is none.
static bool reportChangingStage(const CompileRequest &request, ArrayRef<RecordedCall> calls) {
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module = session.load(request);
  std::vector<reference::Tensor> before, after;
  if (!module || !runReference(*module, {}, calls, before))
    return false;
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
    if (failed(runStages(*module, options)) || !runReference(*module, meaning, calls, after))
      return false;
    if (any_of(zip_equal(before, after),
               [](auto pair) { return contradict(std::get<0>(pair), std::get<1>(pair)); })) {
      errs() << "tfc: note: the stage '" << getStages()[stage].name
             << "' changes the meaning of the graph\n";
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Probed values live longer, which may hide a fault of the memory plan: repeats the comparison
/// with fewer probes, first with each half. Returns true if a value differs then, which is printed.
static bool narrow(KernelComparison &kernels) {
  constexpr int kMostBuilds = 24;
  std::deque<std::pair<int64_t, int64_t>> ranges = {kernels.getLastEntry()};
  for (int builds = 0; !ranges.empty() && builds < kMostBuilds;) {
    auto [begin, end] = ranges.front();
    ranges.pop_front();
    if (end - begin < 2)
      continue;
    int64_t middle = (begin + end) / 2;
    for (auto half : {std::pair(begin, middle), std::pair(middle, end)}) {
      ++builds;
      if (kernels.run(half.first, half.second))
        return true;
      ranges.push_back(half);
    }
  }
  return false;
}

bool tfc::compareKernels(const CompileRequest &request, int threads, ArrayRef<RecordedCall> calls,
                         reference::Agreement &agreement, int64_t &byKernels) {
  KernelComparison kernels(request, threads, calls);
  if (!kernels.prepare())
    return false;
  bool differs = kernels.run(0, kernels.getProbeCount());
  byKernels = agreement.undetermined - kernels.settled;
  agreement.undetermined = 0;
  agreement.add(kernels.agreement);
  return differs;
}

void tfc::explainDifference(const CompileRequest &request, int threads,
                            ArrayRef<RecordedCall> calls) {
  KernelComparison kernels(request, threads, calls);
  if (kernels.prepare() && kernels.run(0, kernels.getProbeCount()))
    return;
  if (reportChangingStage(request, calls))
    return;
  errs() << "tfc: note: no stage up to 'fusion' changes the meaning of the graph, and all kernels "
            "that can be compared are correct: the error is in the host function or in the memory "
            "plan\n";
  if (!kernels.givesTheSame())
    narrow(kernels);
}
