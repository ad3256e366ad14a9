// Runs calls on the compiled model and the oracle, and compares their results.
#include "tools/tfc/ComparedModel.h"
#include "dialects/dfg/Dtypes.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Print.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

ComparedModel::ComparedModel(LoadedModel loaded, std::unique_ptr<ReferenceModel> executed,
                             const CompileRequest &request, int threads)
    : compiled(std::move(loaded)), reference(std::move(executed)), request(request),
      threads(threads) {
  entries = compiled.getEntries();
  setInputs(compiled.getInputs());
}

std::unique_ptr<ComparedModel> ComparedModel::load(const CompileRequest &request, int threads) {
  std::optional<LoadedModel> compiled = compileAndLoad(request, threads);
  if (!compiled)
    return nullptr;
  std::unique_ptr<ReferenceModel> reference = ReferenceModel::load(request);
  if (!reference)
    return nullptr;
  std::unique_ptr<ComparedModel> model(
      new ComparedModel(std::move(*compiled), std::move(reference), request, threads));
  if (Error error = model->compareVariables()) {
    reportError(std::move(error));
    return nullptr;
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// The text of an element in its dtype.
static std::string numberText(const reference::Tensor &tensor, double value) {
  if (!tensor.isFloat())
    return std::to_string(int64_t(value));
  reference::Tensor one(tensor.getElementType(), {});
  one.setReal(0, {value, 0});
  return elementText(toArray(one), 0);
}

std::string tfc::describe(const reference::Difference &difference,
                          const reference::Tensor &expected) {
  SmallVector<int64_t> place(expected.getRank());
  int64_t rest = difference.index;
  for (int64_t axis = expected.getRank(); axis-- > 0; rest /= expected.getShape()[axis])
    place[axis] = rest % expected.getShape()[axis];
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(place, os);
  os << "] is " << numberText(expected, difference.got) << ", but the reference has "
     << numberText(expected, difference.expected);
  if (expected.isFloat())
    os << format(": %.3g ulp apart, of %.3g allowed", difference.ulps, difference.allowedUlps);
  return text;
}

Error ComparedModel::compare(const Twine &what, const Array &got,
                             const reference::Tensor &expected) {
  if (ArrayRef(got.shape) != expected.getShape())
    return makeError("{} is {}, but the reference has {}", what.str(), got.typeText(),
                     dfg::toText(got.dtype, expected.getShape()));
  reference::Agreement own;
  auto difference = findDifference(
      expected, [&](int64_t i) { return toDouble(got, i); },
      [&](int64_t i) { return toInteger(got, i); }, &own);
  agreement.add(own);
  if (own.undetermined && !calls.empty())
    calls.back().undetermined[what.str()] = own.undetermined;
  if (!difference)
    return Error::success();
  differs = true;
  return makeError("{}: {}", what, describe(*difference, expected));
}

/// Keeps the first difference as the error; the others are still recorded.
static void keepFirst(std::string &problem, Error error) {
  std::string text = toString(std::move(error));
  if (problem.empty())
    problem = text;
}

/// Afterwards the oracle continues with the compiled variables, so that bounds do not accumulate
/// over calls.
Error ComparedModel::compareVariables() {
  std::string problem;
  for (const std::string &name : compiled.getVariables()) {
    Expected<Array> value = compiled.getVariable(name);
    if (!value)
      return value.takeError();
    const reference::Tensor *expected = reference->getInstance().getVariable(name);
    if (!expected)
      continue;
    keepFirst(problem, compare("variable '" + name + "'", *value, *expected));
    reference->getInstance().setVariable(name, toTensor(*value, reference->getContext()));
    if (!calls.empty())
      calls.back().variables[name] = std::move(*value);
  }
  return problem.empty() ? Error::success() : createStringError(problem);
}

Expected<std::vector<Array>> ComparedModel::run(const Entry &entry, std::vector<Array> &feeds) {
  calls.emplace_back();
  calls.back().entry = entry.name;
  calls.back().feeds = feeds;
  Expected<std::vector<Array>> fetches = runBoth(entry, feeds);
  if (!fetches && differs)
    explainDifference(request, threads, calls);
  return fetches;
}

Error ComparedModel::compareNodes() {
  if (calls.empty() || !compareKernels(request, threads, calls, agreement, byKernels))
    return Error::success();
  return createStringError("all fetches and variables agree, but values inside kernels differ");
}

Expected<std::vector<Array>> ComparedModel::runBoth(const Entry &entry, std::vector<Array> &feeds) {
  Expected<std::vector<Array>> fetches = compiled.run(entry, feeds);
  Expected<std::vector<Array>> expected = reference->run(entry, feeds);
  if (!fetches && expected)
    return makeError("{}; the reference does not fail", toString(fetches.takeError()));
  if (!expected) {
    std::string message = toString(expected.takeError());
    if (fetches)
      return makeError("the reference fails, but the compiled entry does not: {}", message);
    calls.back().fails = true;
    return fetches.takeError();
  }
  calls.back().fetches = *fetches;
  std::string problem;
  for (auto [port, got, tensor] : zip(entry.fetches, *fetches, reference->getFetches()))
    keepFirst(problem, compare("fetch '" + port.name + "'", got, tensor));
  keepFirst(problem, compareVariables());
  if (!problem.empty())
    return createStringError(problem);
  return fetches;
}

Error ComparedModel::restart() {
  agreement = {};
  calls.clear();
  if (Error error = compiled.restart())
    return error;
  if (Error error = reference->restart())
    return error;
  return compareVariables();
}

std::string ComparedModel::summary() const {
  std::string text;
  raw_string_ostream os(text);
  os << "all " << agreement.values << " values agree ("
     << format("largest difference %.3g ulp of %.3g allowed)", agreement.ulps,
               agreement.allowedUlps);
  if (agreement.undetermined)
    os << "; " << agreement.undetermined << " are undetermined";
  if (byKernels)
    os << "; " << byKernels << " results were compared only kernel by kernel";
  return text;
}
