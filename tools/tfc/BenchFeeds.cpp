// Draws random feeds, and searches for the range of integers that a model accepts.
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Fill.h"
#include "tools/tfc/Sizes.h"
#include <chrono>
#include <random>

using namespace llvm;
using namespace tfc;

/// More integers than any table is expected to have rows.
static constexpr int64_t kMostIntegers = 1 << 20;
/// The number of different integers for a model that accepts all.
static constexpr int64_t kFewIntegers = 64;

static void fillNormally(Array &array, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  fillReals(array, [&] { return normal(random); });
}

namespace {
/// The integers of a feed: `low` to `low + count - 1`.
struct Range {
  int64_t low = 0, count = 1;
};

/// Searches for the largest ranges of integers that a model accepts.
class RangeFinder {
public:
  RangeFinder(LoadedModel &model, const Entry &entry, std::vector<Array> &feeds,
              int64_t mostIntegers)
      : model(model), entry(entry), feeds(feeds), ranges(feeds.size()), mostIntegers(mostIntegers) {
  }

  Error run();
  std::map<std::string, int64_t> limits() const;

private:
  bool isInteger(size_t feed) const {
    return !isFloating(feeds[feed].dtype) && feeds[feed].dtype != TFC_BOOL &&
           feeds[feed].elementCount() > 0;
  }
  void refill(size_t feed);
  Expected<double> call();
  bool accepts(size_t feed, int64_t count);
  Error findStart();
  void widen(size_t feed);

  LoadedModel &model;
  const Entry &entry;
  std::vector<Array> &feeds;
  std::vector<Array> fetches;
  std::vector<Range> ranges;
  double firstCall = 0; // seconds
  int64_t mostIntegers;
  std::mt19937 random{0};
};
} // namespace

/// The number of integers from 0 on that the type can hold.
static int64_t capacity(const Array &array) {
  if (array.dtype == TFC_I8)
    return 1 << 7;
  if (array.dtype == TFC_U8)
    return 1 << 8;
  if (array.dtype == TFC_U16)
    return 1 << 16;
  return array.dtype == TFC_I16 ? 1 << 15 : kMostIntegers;
}

/// Draws a feed's integers again; the largest is among them.
void RangeFinder::refill(size_t feed) {
  Array &array = feeds[feed];
  Range range = ranges[feed];
  std::uniform_int_distribution<int64_t> draw(range.low, range.low + range.count - 1);
  bool isFirst = true;
  auto next = [&] {
    int64_t value = isFirst ? draw.max() : draw(random);
    isFirst = false;
    return value;
  };
  fillIntegers(array, next);
}

/// Calls the entry and returns its time in seconds.
Expected<double> RangeFinder::call() {
  if (fetches.empty()) {
    Expected<std::vector<Array>> made = model.makeFetches(entry, feeds);
    if (!made)
      return made.takeError();
    fetches = std::move(*made);
  }
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  if (Error error = model.call(entry, feeds, fetches))
    return error;
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns true if the model accepts this many integers, and none of them makes a call long, as a
/// number of iterations would.
bool RangeFinder::accepts(size_t feed, int64_t count) {
  ranges[feed].count = count;
  refill(feed);
  Expected<double> seconds = call();
  if (seconds)
    return *seconds < 10 * firstCall + 0.01;
  consumeError(seconds.takeError());
  return false;
}

/// Tries all zeros, then all ones, because a divisor must not be zero.
Error RangeFinder::findStart() {
  for (int64_t low : {0, 1}) {
    for (size_t feed = 0; feed < feeds.size(); ++feed)
      if (isInteger(feed)) {
        ranges[feed].low = low;
        refill(feed);
      }
    Expected<double> seconds = call();
    if (seconds) {
      firstCall = *seconds;
      return Error::success();
    }
    if (low == 1)
      return seconds.takeError();
    consumeError(seconds.takeError());
  }
  llvm_unreachable("the loop returns");
}

/// Doubles the range while the model accepts it, then bisects.
void RangeFinder::widen(size_t feed) {
  if (std::exchange(ranges[feed].low, 0) == 1 && !accepts(feed, 1))
    ranges[feed].low = 1;
  int64_t most = std::min(capacity(feeds[feed]), mostIntegers) - ranges[feed].low;
  int64_t good = 1, step = 1;
  for (; good + step <= most && accepts(feed, good + step); step *= 2)
    good += step;
  if (good + step > most) { // all integers are accepted
    ranges[feed].count = std::min(most, kFewIntegers);
    return refill(feed);
  }
  for (step /= 2; step; step /= 2)
    if (accepts(feed, good + step))
      good += step;
  ranges[feed].count = good;
  refill(feed);
}

Error RangeFinder::run() {
  bool hasIntegers = false;
  for (size_t feed = 0; feed < feeds.size(); ++feed) {
    if (isFloating(feeds[feed].dtype))
      fillNormally(feeds[feed], random);
    else if (feeds[feed].dtype == TFC_BOOL)
      fillIntegers(feeds[feed], [&] { return int64_t(random() & 1); });
    hasIntegers |= isInteger(feed);
  }
  if (!hasIntegers)
    return Error::success();
  if (Error error = findStart())
    return error;
  for (size_t feed = 0; feed < feeds.size(); ++feed)
    if (isInteger(feed))
      widen(feed);
  return Error::success();
}

std::map<std::string, int64_t> RangeFinder::limits() const {
  std::map<std::string, int64_t> result;
  for (size_t feed = 0; feed < feeds.size(); ++feed)
    if (isInteger(feed))
      result[entry.feeds[feed].name] = ranges[feed].low + ranges[feed].count;
  return result;
}

Expected<RandomFeeds> tfc::makeFeeds(LoadedModel &model, const Entry &entry,
                                     ArrayRef<std::string> dims, int64_t mostIntegers) {
  Expected<std::vector<int64_t>> sizes = chooseSizes(dims, entry);
  if (!sizes)
    return sizes.takeError();
  auto shapes = model.feedShapes(entry, *sizes);
  if (!shapes)
    return shapes.takeError();
  std::vector<Array> feeds;
  for (auto [port, shape] : zip(entry.feeds, *shapes)) {
    Array array{port.dtype, shape, {}};
    if (Error error = array.allocate())
      return std::move(error);
    feeds.push_back(std::move(array));
  }
  RangeFinder finder(model, entry, feeds, mostIntegers);
  if (Error error = finder.run())
    return error;
  auto limits = finder.limits();
  return RandomFeeds{std::move(feeds), std::move(*sizes), std::move(limits)};
}
