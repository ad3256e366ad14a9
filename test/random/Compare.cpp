//===- Compare.cpp - Compiled calls against the oracle --------------------===//
//
// Runs a program compiled and in the oracle and compares the results. It also compares compiled
// runs with different numbers of threads, which must be equal to the bit.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Devices.h"
#include "compiler/pipeline/ModelInfo.h"
#include "compiler/reference/Reference.h"
#include "tools/tfc/Print.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

void Counts::add(const Counts &other) {
  calls += other.calls;
  refusedCalls += other.refusedCalls;
  elements += other.elements;
  undetermined += other.undetermined;
  divided += other.divided;
  for (const auto &[name, times] : other.executed)
    executed[name] += times;
  if (!other.unsupported.empty())
    ++reasons[other.unsupported];
}

//===----------------------------------------------------------------------===//
// Comparing runs
//===----------------------------------------------------------------------===//

static std::string nameOf(const Program &program, size_t call) {
  return "call " + std::to_string(call) + " (" + program.calls[call].entry + ")";
}

/// Returns true if the elements have the same bits. With other code, sign and payload of a NaN may
/// differ: they are undefined.
static bool haveSameBits(const Array &one, const Array &other, bool isSameCode) {
  if (isSameCode || one.data == other.data || one.shape != other.shape)
    return one.data == other.data && one.shape == other.shape;
  size_t bytes = one.elementBytes();
  for (int64_t i = 0, count = one.elementCount(); i < count; ++i)
    if (memcmp(&one.data[i * bytes], &other.data[i * bytes], bytes) != 0 &&
        !(std::isnan(toDouble(one, i)) && std::isnan(toDouble(other, i))))
      return false;
  return true;
}

/// Describes the first difference in bits; returns an empty string if there is none.
static std::string compareRuns(const Program &program, ArrayRef<CallResult> one,
                               ArrayRef<CallResult> other, bool isSameCode) {
  for (auto [i, a, b] : llvm::enumerate(one, other)) {
    if (a.status != b.status || a.message != b.message)
      return nameOf(program, i) + ": '" + a.message + "' and '" + b.message + "'";
    for (auto [k, x, y] : llvm::enumerate(a.fetches, b.fetches))
      if (!haveSameBits(x, y, isSameCode))
        return nameOf(program, i) + ", fetch " + std::to_string(k) + " has other bits";
    for (auto [k, x, y] : llvm::enumerate(a.variables, b.variables))
      if (!haveSameBits(x, y, isSameCode))
        return nameOf(program, i) + ", variable " + std::to_string(k) + " has other bits";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The oracle
//===----------------------------------------------------------------------===//

static reference::Tensor toTensor(const Array &array, Type elementType) {
  reference::Tensor tensor(elementType, array.shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (tensor.isFloat())
      tensor.setRounded(i, {toDouble(array, i), 0}, 0);
    else
      tensor.setInteger(i, toInteger(array, i));
  return tensor;
}

namespace {

/// The oracle's results for a call.
struct Expected {
  reference::Status status;
  std::string wrongGradient; // the error in a gradient; empty if there is none
  std::vector<reference::Tensor> fetches;
  /// Messages of all checks of data that failed in this call, used or not: a compiled call may fail
  /// with any of them.
  llvm::StringSet<> refusals;
};

class Oracle {
public:
  Oracle(const Program &program, Counts &counts)
      : program(program), counts(counts), instance(*program.module, options()) {}

  /// Makes the calls up to the first that it cannot finish, or for which other outcomes are
  /// correct.
  std::vector<Expected> run();

private:
  reference::Options options();
  Expected call(const CallPlan &plan);
  void count(const Expected &expected);

  const Program &program;
  Counts &counts;
  std::string wrongGradient; // of the call at hand
  llvm::StringSet<> refusals;
  reference::Instance instance;
};

} // namespace

/// Random loops are shorter.
static constexpr int64_t kMostIterations = 200;

reference::Options Oracle::options() {
  reference::Options result;
  result.mostIterations = kMostIterations;
  result.onExecuted = [this](const reference::Execution &execution) {
    ++counts.executed[execution.op->getName().stripDialect().str()];
  };
  result.onWrongGradient = [this](const std::string &text) { wrongGradient = text; };
  result.onRefused = [this](const reference::Status &status) { refusals.insert(status.message); };
  return result;
}

Expected Oracle::call(const CallPlan &plan) {
  Expected expected;
  for (auto entry : ModuleOp(*program.module).getOps<EntryOp>()) {
    if (entry.getSymName() != plan.entry)
      continue;
    std::optional<std::vector<Array>> arrays = makeFeeds(entry, plan);
    if (!arrays)
      return {{reference::Status::Code::InvalidArgument, "no feeds"}, "", {}, {}};
    std::vector<reference::Tensor> feeds;
    for (auto [array, type] : llvm::zip_equal(*arrays, entry.getArgumentTypes()))
      feeds.push_back(toTensor(array, elementTypeOf(type)));
    wrongGradient.clear();
    refusals.clear();
    expected.status = instance.call(plan.entry, feeds, expected.fetches);
    expected.wrongGradient = wrongGradient;
    expected.refusals = refusals;
    return expected;
  }
  return {{reference::Status::Code::Internal, "there is no entry"}, "", {}, {}};
}

void Oracle::count(const Expected &expected) {
  ++counts.calls;
  counts.refusedCalls += !expected.status.isOk();
  for (const reference::Tensor &tensor : expected.fetches) {
    counts.elements += tensor.size();
    for (int64_t i = 0; i < tensor.size(); ++i)
      counts.undetermined += !tensor.isDetermined(i);
  }
}

std::vector<Expected> Oracle::run() {
  std::vector<Expected> results;
  reference::Status status = instance.initialize();
  for (const CallPlan &plan : program.calls) {
    if (!status.isOk() && status.code == reference::Status::Code::Internal)
      break;
    Expected expected = call(plan);
    status = expected.status;
    if (status.code == reference::Status::Code::Internal || !status.isDetermined)
      break;
    count(expected);
    results.push_back(std::move(expected));
  }
  if (status.code == reference::Status::Code::Internal)
    counts.unsupported = status.message;
  return results;
}

/// Returns true if the call failed because of data that the oracle found invalid, too.
static bool isKnownFailure(const Expected &expected, const CallResult &result) {
  StringRef message = StringRef(result.message).split(": ").second; // after the entry's name
  return result.status != TFC_OK && expected.refusals.contains(message);
}

static std::string compareCall(const std::string &name, const Expected &expected,
                               const CallResult &result) {
  if (expected.status.isOk() != (result.status == TFC_OK))
    return name + ": expected '" + expected.status.message + "', but got '" + result.message + "'";
  if (!expected.status.isOk())
    return "";
  if (!expected.wrongGradient.empty())
    return name + ": " + expected.wrongGradient;
  for (auto [k, tensor, got] : llvm::enumerate(expected.fetches, result.fetches)) {
    std::string where = name + ", fetch " + std::to_string(k);
    if (tensor.getShape() != ArrayRef(got.shape))
      return where + " has another shape";
    auto difference = reference::findDifference(
        tensor, [&](int64_t i) { return toDouble(got, i); },
        [&](int64_t i) { return toInteger(got, i); });
    if (difference) {
      llvm::raw_string_ostream os(where);
      os << ", element " << difference->index
         << llvm::format(": expected %.9g within %.3g ulp, but got %.9g", difference->expected,
                         difference->allowedUlps, difference->got);
      return where;
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

/// The sizes that a call must have are facts for the oracle, too.
static Program withSizes(const Program &program) {
  Program result = program.clone();
  requireSizes(*result.module);
  return result;
}

/// Compiles for the processor of the variant, which may not be able to run the code: then it is
/// compiled for this one, too.
static llvm::Expected<Compiled> compileToRun(const Program &program, const Variant &variant) {
  llvm::Expected<Compiled> compiled = Compiled::compile(program, variant);
  if (!compiled || canRun(variant.pipeline.cpu))
    return compiled;
  Variant native = variant;
  native.pipeline.cpu = "native";
  return Compiled::compile(program, native);
}

/// Compiles the program and makes its calls with each number of threads, which must return the
/// same. Sets `first` to the results if it is empty, or compares them with it; returns what is
/// wrong.
static std::string runCompiled(const Program &program, const Program &sized, const Variant &variant,
                               ArrayRef<int> threadCounts, std::vector<CallResult> &first,
                               Counts &counts) {
  llvm::Expected<Compiled> compiled = compileToRun(program, variant);
  if (!compiled)
    return "refused: " + llvm::toString(compiled.takeError());
  counts.divided += compiled->getDeviceCount() > 1;
  std::vector<CallResult> own;
  for (int threads : threadCounts) {
    llvm::Expected<std::vector<CallResult>> results = compiled->run(sized, threads);
    if (!results)
      return "cannot run: " + llvm::toString(results.takeError());
    if (own.empty())
      own = std::move(*results);
    else if (std::string text = compareRuns(program, own, *results, true); !text.empty())
      return "with " + std::to_string(threads) + " threads, " + text;
  }
  if (first.empty())
    first = std::move(own);
  else if (std::string text = compareRuns(program, first, own, false); !text.empty())
    return "in other code, " + text;
  return "";
}

/// Compares the partitions of a program with what the same stages make of it as a whole: the
/// devices of operations bound kernels there, too, so that all results have the same bits.
static std::string runBothWays(const Program &program, const Program &sized, Variant variant,
                               std::vector<CallResult> &first, Counts &counts) {
  Variant whole = variant;
  whole.pipeline.disabled.push_back("partition");
  Counts others;
  if (std::string text = runCompiled(program, sized, whole, {1, 2}, first, others); !text.empty())
    return "undivided: " + text;
  std::string text = runCompiled(program, sized, variant, {1, 2}, first, counts);
  if (StringRef(text).trim().ends_with("[not-yet]")) {
    counts.unsupported = text;
    return "";
  }
  return text.empty() ? "" : "divided: " + text;
}

/// Compares a program after the stage `simplify`, where checks are operations of their own and
/// others may run although their checks fail, so that the oracle cannot execute it.
static std::string compareSimplified(const Program &program, const Variant &variant,
                                     Counts &counts) {
  std::vector<CallResult> first;
  std::string wrong = runBothWays(program, withSizes(program), variant, first, counts);
  for (const CallResult &result : first) {
    ++counts.calls;
    counts.refusedCalls += result.status != TFC_OK;
    for (const Array &fetch : result.fetches)
      counts.elements += fetch.elementCount();
  }
  return wrong;
}

std::string compare(const Program &program, const Variant &variant, Counts &counts) {
  if (!program.after.empty())
    return compareSimplified(program, variant, counts);
  Program sized = withSizes(program);
  std::vector<Expected> expected = Oracle(sized, counts).run();
  sized.calls.resize(expected.size());
  std::vector<CallResult> first;
  std::string wrong = hasDevices(*program.module)
                          ? runBothWays(program, sized, variant, first, counts)
                          : runCompiled(program, sized, variant, {1, 2, 8}, first, counts);
  if (!wrong.empty())
    return wrong;
  for (auto [i, wanted, got] : llvm::enumerate(expected, first)) {
    // Unused invalid data may or may not make a call fail. Variables differ from here on.
    if (wanted.status.isOk() && isKnownFailure(wanted, got))
      break;
    std::string text = compareCall(nameOf(program, i), wanted, got);
    if (!text.empty())
      return text;
  }
  return "";
}

std::string interpret(const Program &program, Counts &counts) {
  Program sized = withSizes(program);
  for (auto [i, expected] : llvm::enumerate(Oracle(sized, counts).run()))
    if (expected.status.isOk() && !expected.wrongGradient.empty())
      return nameOf(program, i) + ": " + expected.wrongGradient;
  return "";
}

} // namespace tfc::random
