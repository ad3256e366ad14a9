// Reads recorded cases, runs their steps and compares the results.
#include "tools/tfc/Case.h"
#include "frontend/ReadFile.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Print.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace tfc;

namespace tfc {

static bool fromJSON(const json::Value &value, Step &step, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.mapOptional("entry", step.entry) && map.map("feeds", step.feeds) &&
         map.map("fetches", step.fetches) && map.mapOptional("targets", step.targets) &&
         map.mapOptional("rtol", step.rtol) && map.mapOptional("atol", step.atol);
}

static bool fromJSON(const json::Value &value, Case &result, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.mapOptional("init", result.init) && map.mapOptional("arrays", result.archive) &&
         map.map("steps", result.steps);
}

} // namespace tfc

static std::string pathIn(StringRef folder, StringRef file) {
  SmallString<128> path(folder);
  sys::path::append(path, file);
  return path.str().str();
}

Expected<Array> Case::read(StringRef name, std::optional<tfc_dtype> expected) const {
  return arrays ? arrays->read(name, expected) : readArray(pathIn(folder, name), expected);
}

namespace {

/// Runs the steps and counts differences.
class CaseRunner {
public:
  CaseRunner(const RunOptions &options, CallableModel &model, const Case &recorded)
      : options(options), model(model), recorded(recorded) {}

  Error run();
  unsigned compared = 0, wrong = 0;

private:
  Error runStep(const Step &step);
  Error callForEffect(StringRef entry, const ArrayNames &feeds);
  Expected<std::vector<Array>> readFeeds(const Entry &entry, const ArrayNames &names, bool exactly);
  Error compareFetch(const Step &step, const Port &port, const Array &result,
                     const std::string &name);

  const RunOptions &options;
  CallableModel &model;
  const Case &recorded;
  size_t number = 0;
};

} // namespace

/// The array for a port; in cases recorded from TensorFlow names have the form "x:0".
static ArrayNames::const_iterator findArray(const ArrayNames &names, const std::string &port) {
  auto found = names.find(port);
  return found != names.end() ? found : names.find(port + ":0");
}

Expected<std::vector<Array>> CaseRunner::readFeeds(const Entry &entry, const ArrayNames &names,
                                                   bool exactly) {
  std::vector<Array> arrays;
  for (const Port &feed : entry.feeds) {
    auto name = findArray(names, feed.name);
    if (name == names.end())
      return makeError("step {}: feed '{}' of entry '{}' is missing", number, feed.name,
                       entry.name);
    Expected<Array> array = recorded.read(name->second, feed.dtype);
    if (!array)
      return array.takeError();
    arrays.push_back(std::move(*array));
  }
  if (exactly && names.size() != entry.feeds.size())
    return makeError("step {}: entry '{}' has {} feeds, but the case has {}", number, entry.name,
                     entry.feeds.size(), names.size());
  return arrays;
}

Error CaseRunner::callForEffect(StringRef entryName, const ArrayNames &names) {
  Expected<const Entry *> entry = model.findEntry(entryName);
  if (!entry)
    return entry.takeError();
  Expected<std::vector<Array>> feeds = readFeeds(**entry, names, /*exactly=*/false);
  if (!feeds)
    return feeds.takeError();
  return model.run(**entry, *feeds).takeError();
}

/// Finds the largest difference of two arrays of the same type.
namespace {
struct Difference {
  int64_t count = 0, index = -1;
  double largest = 0;
};
} // namespace

static Difference findDifference(const Array &got, const Array &expected, double rtol,
                                 double atol) {
  Difference result;
  bool isFloat = got.dtype <= TFC_BF16;
  for (int64_t i = 0, count = got.elementCount(); i < count; ++i) {
    double a = toDouble(got, i), b = toDouble(expected, i);
    size_t bytes = got.elementBytes();
    if (memcmp(got.data.data() + i * bytes, expected.data.data() + i * bytes, bytes) == 0)
      continue;
    if (isFloat &&
        ((std::isnan(a) && std::isnan(b)) || a == b ||
         std::fabs(a - b) <= atol + rtol * std::fabs(b)) &&
        (a == b || !std::isinf(b)))
      continue;
    ++result.count;
    double error = std::isnan(a - b) ? INFINITY : std::fabs(a - b);
    if (result.index < 0 || error > result.largest) {
      result.largest = error;
      result.index = i;
    }
  }
  return result;
}

/// The position of element `index`, a number for each axis.
static std::vector<int64_t> placeOf(const Array &array, int64_t index) {
  std::vector<int64_t> place(array.shape.size());
  for (size_t axis = place.size(); axis-- > 0; index /= array.shape[axis])
    place[axis] = index % array.shape[axis];
  return place;
}

Error CaseRunner::compareFetch(const Step &step, const Port &port, const Array &result,
                               const std::string &name) {
  Expected<Array> expected = recorded.read(name, port.dtype);
  if (!expected)
    return expected.takeError();
  ++compared;
  std::string label = fmt::format("step {}: fetch '{}': ", number, port.name);
  if (expected->dtype != result.dtype || expected->shape != result.shape) {
    ++wrong;
    outs() << label << "expected " << expected->typeText() << ", but got " << result.typeText()
           << '\n';
    return Error::success();
  }
  Difference difference = findDifference(result, *expected, step.rtol.value_or(options.rtol),
                                         step.atol.value_or(options.atol));
  if (difference.count == 0)
    return Error::success();
  ++wrong;
  outs() << fmt::format(
      "{}{} of {} elements differ; max error {:.3g} at [{}]: expected {}, but got {}\n", label,
      difference.count, result.elementCount(), difference.largest,
      fmt::join(placeOf(result, difference.index), ", "), elementText(*expected, difference.index),
      elementText(result, difference.index));
  return Error::success();
}

Error CaseRunner::runStep(const Step &step) {
  Expected<const Entry *> entry = model.findEntry(step.entry);
  if (!entry)
    return entry.takeError();
  Expected<std::vector<Array>> feeds = readFeeds(**entry, step.feeds, /*exactly=*/true);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<Array>> fetches = model.run(**entry, *feeds);
  if (!fetches)
    return fetches.takeError();
  for (const auto &[name, array] : step.fetches)
    if (none_of((*entry)->fetches, [name = StringRef(name)](const Port &port) {
          return name == port.name || name == port.name + ":0";
        }))
      return makeError("step {}: entry '{}' has no fetch '{}'", number, (*entry)->name, name);
  for (auto [port, result] : zip((*entry)->fetches, *fetches)) {
    auto expected = findArray(step.fetches, port.name);
    if (expected == step.fetches.end())
      continue;
    if (Error error = compareFetch(step, port, result, expected->second))
      return error;
  }
  for (const std::string &target : step.targets)
    if (Error error = callForEffect(target, step.feeds))
      return error;
  return Error::success();
}

Error CaseRunner::run() {
  for (const std::string &entry : recorded.init)
    if (Error error = callForEffect(entry, {}))
      return error;
  for (const Step &step : recorded.steps) {
    if (Error error = runStep(step))
      return error;
    ++number;
  }
  return Error::success();
}

Expected<Case> tfc::readCase(StringRef path, std::optional<StringRef> folder) {
  std::string reason;
  std::unique_ptr<MemoryBuffer> buffer = readText(path, reason);
  if (!buffer)
    return makeError("{}: {}", path, reason);
  Expected<json::Value> value = json::parse(buffer->getBuffer());
  if (!value)
    return makeError("{}: {}", path, toString(value.takeError()));
  Case result;
  result.folder = folder.value_or(sys::path::parent_path(path)).str();
  json::Path::Root root("case");
  if (!fromJSON(*value, result, root))
    return makeError("{}: {}", path, toString(root.getError()));
  if (result.archive.empty())
    return result;
  Expected<NpzFile> arrays = NpzFile::open(pathIn(result.folder, result.archive));
  if (!arrays)
    return arrays.takeError();
  result.arrays = std::make_shared<NpzFile>(std::move(*arrays));
  return result;
}

/// Tensors with more elements hold no sizes, axes or positions.
static constexpr int64_t kMaxNumbers = 64;

template <typename T, typename To> static std::vector<To> elementsOf(const Array &array) {
  const T *data = reinterpret_cast<const T *>(array.data.data());
  return std::vector<To>(data, data + array.elementCount());
}

/// The elements of a tensor that may hold sizes, axes or positions, that is, few integers.
static std::optional<std::vector<int64_t>> numbersOf(const Array &array) {
  if (array.elementCount() > kMaxNumbers)
    return std::nullopt;
  if (array.dtype == TFC_I64)
    return elementsOf<int64_t, int64_t>(array);
  if (array.dtype == TFC_I32)
    return elementsOf<int32_t, int64_t>(array);
  return std::nullopt;
}

/// The elements of a tensor of few floats, from which sizes may be computed.
static std::optional<std::vector<double>> realsOf(const Array &array) {
  if (array.elementCount() > kMaxNumbers)
    return std::nullopt;
  if (array.dtype == TFC_F32)
    return elementsOf<float, double>(array);
  if (array.dtype == TFC_F64)
    return elementsOf<double, double>(array);
  return std::nullopt;
}

Expected<std::vector<importer::EntrySpec>> tfc::makeEntries(Case &recorded, bool specializes) {
  std::vector<importer::EntrySpec> entries;
  std::map<std::string, std::string> names; // description of an entry -> its name
  auto nameOf = [&](importer::EntrySpec entry, const std::string &description) {
    auto [known, isNew] = names.try_emplace(description, "entry" + std::to_string(names.size()));
    entry.name = known->second;
    if (isNew)
      entries.push_back(std::move(entry));
    return known->second;
  };
  for (std::string &target : recorded.init) {
    importer::EntrySpec entry;
    entry.targets = {target};
    target = nameOf(std::move(entry), "init " + target);
  }
  for (Step &step : recorded.steps) {
    importer::EntrySpec entry;
    std::string description;
    for (const auto &[feed, name] : step.feeds) {
      Expected<Array> array = recorded.read(name);
      if (!array)
        return array.takeError();
      auto &spec = entry.feeds.emplace_back(importer::FeedSpec());
      spec.tensor = feed;
      spec.element = StringRef(array->typeText()).split('[').first.str();
      spec.sizes.emplace();
      for (int64_t size : array->shape)
        spec.sizes->push_back(std::to_string(size));
      if (specializes) {
        spec.numbers = numbersOf(*array);
        spec.reals = realsOf(*array);
      }
      description += fmt::format("{}{},", feed, array->typeText());
      for (int64_t number : spec.numbers.value_or(std::vector<int64_t>()))
        description += std::to_string(number) + ",";
      for (double number : spec.reals.value_or(std::vector<double>()))
        description += fmt::format("{},", number);
    }
    for (const auto &[fetch, name] : step.fetches) {
      entry.fetches.push_back({fetch});
      description += "->" + fetch;
    }
    for (const std::string &target : step.targets)
      description += ";" + target;
    entry.targets = std::move(step.targets);
    step.targets.clear();
    step.entry = nameOf(std::move(entry), description);
  }
  return entries;
}

int tfc::runCase(const RunOptions &options, const Case &recorded, CallableModel &model) {
  CaseRunner runner(options, model, recorded);
  if (Error error = runner.run())
    return reportError(std::move(error));
  outs() << recorded.steps.size() << " steps, " << runner.compared << " fetches compared, "
         << runner.wrong << " differ\n";
  return runner.wrong ? 1 : 0;
}
