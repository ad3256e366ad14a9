#include "tools/tfc/Commands.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <random>

using namespace llvm;
using namespace tfc;

/// The sizes to measure with: --dim, else the bound, else 64.
static Expected<std::vector<int64_t>> chooseSizes(const BenchOptions &options, const Entry &entry) {
  std::map<std::string, std::string> given;
  for (const std::string &dim : options.dims) {
    auto assignment = splitAssignment(dim, "--dim");
    if (!assignment)
      return assignment.takeError();
    given.insert(*assignment);
  }
  std::vector<int64_t> sizes;
  for (const Symbol &symbol : entry.symbols) {
    int64_t size = symbol.upper >= 0 ? symbol.upper : std::max<int64_t>(64, symbol.lower);
    if (auto it = given.find(symbol.name); it != given.end()) {
      if (StringRef(it->second).getAsInteger(10, size) || size < symbol.lower ||
          (symbol.upper >= 0 && size > symbol.upper))
        return createStringError("--dim " + symbol.name + "=" + it->second +
                                 ": no legal size of entry '" + entry.name + "'");
      given.erase(it);
    }
    sizes.push_back(size);
  }
  if (!given.empty())
    return createStringError("entry '" + entry.name + "' has no size '" + given.begin()->first +
                             "'");
  return sizes;
}

template <typename T>
static void fill(Array &array, T (*convert)(float), std::mt19937 &random, float steps) {
  T *data = reinterpret_cast<T *>(array.data.data());
  std::uniform_int_distribution<int> draw(0, int(steps) - 1);
  float scale = steps == 2 ? 1 : 1 / steps;
  for (int64_t i = 0, count = array.elementCount(); i < count; ++i)
    data[i] = convert(draw(random) * scale);
}

template <typename T> static T cast(float value) { return static_cast<T>(value); }

template <const fltSemantics &(*Semantics)()> static uint16_t toHalf(float value) {
  APFloat result(value);
  bool inexact;
  result.convert(Semantics(), APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(result.bitcastToAPInt().getZExtValue());
}

/// Floats in [0, 1), integers 0 or 1: legal as indices wherever two are.
static void fillRandomly(Array &array, std::mt19937 &random) {
  constexpr float kSteps = 1 << 16;
  switch (array.dtype) {
  case TFC_F32:
    return fill<float>(array, cast<float>, random, kSteps);
  case TFC_F64:
    return fill<double>(array, cast<double>, random, kSteps);
  case TFC_F16:
    return fill<uint16_t>(array, toHalf<APFloat::IEEEhalf>, random, kSteps);
  case TFC_BF16:
    return fill<uint16_t>(array, toHalf<APFloat::BFloat>, random, kSteps);
  case TFC_I16:
    return fill<int16_t>(array, cast<int16_t>, random, 2);
  case TFC_I32:
    return fill<int32_t>(array, cast<int32_t>, random, 2);
  case TFC_I64:
    return fill<int64_t>(array, cast<int64_t>, random, 2);
  case TFC_I8:
  case TFC_U8:
  case TFC_BOOL:
    return fill<uint8_t>(array, cast<uint8_t>, random, 2);
  }
}

static Expected<std::vector<Array>> makeFeeds(LoadedModel &model, const Entry &entry,
                                              ArrayRef<int64_t> sizes) {
  auto shapes = model.feedShapes(entry, sizes);
  if (!shapes)
    return shapes.takeError();
  std::mt19937 random(0);
  std::vector<Array> feeds;
  for (auto [port, shape] : zip(entry.feeds, *shapes)) {
    Array array{port.dtype, shape, {}};
    array.data.resize(array.elementCount() * sizeOf(array.dtype));
    fillRandomly(array, random);
    feeds.push_back(std::move(array));
  }
  return feeds;
}

/// Milliseconds of each call, in `seconds` of calls but at least three, after three to warm up.
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

static Error bench(const BenchOptions &options, LoadedModel &model, const Timing &timing) {
  Expected<const Entry *> found = model.findEntry(options.entry);
  if (!found)
    return found.takeError();
  const Entry &entry = **found;
  Expected<std::vector<int64_t>> sizes = chooseSizes(options, entry);
  if (!sizes)
    return sizes.takeError();
  Expected<std::vector<Array>> feeds = makeFeeds(model, entry, *sizes);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<double>> times = timeCalls(options, model, entry, *feeds);
  if (!times)
    return times.takeError();
  llvm::sort(*times);
  json::Object dims;
  for (auto [symbol, size] : zip(entry.symbols, *sizes))
    dims[symbol.name] = size;
  json::OStream line(outs());
  auto number = [&](StringRef name, double value) {
    line.attributeBegin(name);
    line.rawValue(formatv("{0:f6}", value).str());
    line.attributeEnd();
  };
  line.object([&] {
    line.attribute("entry", entry.name);
    line.attribute("dims", std::move(dims));
    line.attribute("threads", options.threads);
    line.attribute("calls", int64_t(times->size()));
    number("median_ms", (*times)[times->size() / 2]);
    number("best_ms", times->front());
    number("compile_ms", timing.total() * 1e3);
    line.attribute("peak_bytes", model.memoryBytes(entry, *sizes));
  });
  outs() << '\n';
  return Error::success();
}

int tfc::runBench(const BenchOptions &options) {
  Timing timing;
  std::optional<LoadedModel> model = compileAndLoad(options.compile, options.threads, timing);
  if (!model)
    return 1;
  if (Error error = bench(options, *model, timing))
    return reportError(std::move(error));
  return 0;
}
