// Makes the feeds that `tfc run` passes to an entry from its options.
#include "tools/tfc/Feeds.h"
#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/Dtypes.h"
#include "frontend/text/syntax/Suggest.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/FeedLiteral.h"
#include "tools/tfc/Fill.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Print.h"
#include "tools/tfc/Sizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <random>

using namespace llvm;
using namespace tfc;

static bool isGenerated(StringRef value) {
  return value == "zeros" || value == "ones" || value == "random" || value.starts_with("random:");
}

bool tfc::isGeneratedFeed(StringRef option) { return isGenerated(option.split('=').second); }

std::vector<std::string> tfc::feedFiles(const RunOptions &options) {
  std::vector<std::string> files;
  for (StringRef feed : options.feeds) {
    StringRef value = feed.split('=').second;
    if (!isGenerated(value) && !isLiteral(value))
      files.push_back(value.str());
  }
  return files;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The sizes in the text of a type: `n` and `64` of "f32[n, 64]".
static std::vector<dfg::DimExpr> sizesOf(const Port &port) {
  StringRef inner = StringRef(port.type).split('[').second.rtrim(']');
  std::vector<dfg::DimExpr> sizes;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; port.rank && i <= inner.size(); ++i) {
    if (i < inner.size() && (depth || inner[i] != ',')) {
      depth += inner[i] == '(' ? 1 : inner[i] == ')' ? -1 : 0;
      continue;
    }
    auto size = dfg::DimExpr::parse(inner.slice(begin, i).trim());
    sizes.push_back(size.value_or(dfg::DimExpr(-1)));
    begin = i + 1;
  }
  return sizes;
}

/// Adds the named sizes that the shape of an array determines; those of earlier arrays are kept.
static void addKnown(std::map<std::string, int64_t> &known, const Port &feed, const Array &array) {
  std::vector<dfg::DimExpr> sizes = sizesOf(feed);
  if (sizes.size() != array.shape.size()) // the call reports it
    return;
  for (auto [size, value] : zip(sizes, array.shape))
    if (auto linear = size.asLinear(); linear && (value - linear->offset) % linear->scale == 0)
      known.emplace(linear->name, (value - linear->offset) / linear->scale);
}

/// An array of zeros of the feed's type for these sizes.
static Expected<Array> allocate(const Port &feed, const Entry &entry, ArrayRef<int64_t> sizes) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    for (auto [symbol, size] : zip(entry.symbols, sizes))
      if (symbol.name == name)
        return size;
    return std::nullopt;
  };
  Array array{feed.dtype, {}, {}};
  for (const dfg::DimExpr &size : sizesOf(feed)) {
    std::optional<int64_t> value = size.evaluate(lookup);
    if (!value || *value < 0)
      return makeError("feed '{}': {} has no valid value for these sizes", feed.name, size.str());
    array.shape.push_back(*value);
  }
  if (Error error = array.allocate())
    return error;
  return array;
}

//===----------------------------------------------------------------------===//
// Generated arrays
//===----------------------------------------------------------------------===//

namespace {

/// Fills the array of one feed as an option such as `random:uniform:0:10` says.
class Generator {
public:
  Generator(const Port &feed, StringRef option, uint64_t seed) : feed(feed), option(option) {
    option.split(parts, ':');
    std::vector<uint32_t> words = {uint32_t(seed), uint32_t(seed >> 32)};
    append_range(words, arrayRefFromStringRef(feed.name));
    std::seed_seq sequence(words.begin(), words.end());
    random.seed(sequence);
  }

  Error fill(Array &array);

private:
  Error fillNormally(Array &array);
  Error fillUniformly(Array &array);
  Error fillIntegersUniformly(Array &array);
  /// The argument as an element of `dtype`.
  Expected<Array> argument(StringRef text, tfc_dtype dtype);
  Expected<double> real(size_t index, double standard);
  template <typename... Args> Error fail(fmt::format_string<Args...> format, Args &&...arguments) {
    return makeError("--feed {}={}: {}", feed.name, option,
                     fmt::format(format, std::forward<Args>(arguments)...));
  }

  const Port &feed;
  StringRef option;
  SmallVector<StringRef> parts;
  std::mt19937_64 random;
};

} // namespace

Expected<Array> Generator::argument(StringRef text, tfc_dtype dtype) {
  if (!isLiteral(text))
    return fail("expected a number, but got '{}'", text);
  return parseLiteral(text, {feed.name, feed.type, dtype, 0}, {});
}

/// A finite argument, which must be in the range of the feed's type, or the default.
Expected<double> Generator::real(size_t index, double standard) {
  if (index >= parts.size())
    return standard;
  Expected<Array> checked = argument(parts[index], feed.dtype);
  if (!checked)
    return checked.takeError();
  double value = toDouble(cantFail(argument(parts[index], TFC_F64)), 0);
  if (!std::isfinite(value))
    return fail("expected a finite number, but got {}", parts[index]);
  return value;
}

Error Generator::fillNormally(Array &array) {
  if (!isFloating(feed.dtype))
    return fail("only floats are drawn from a normal distribution, and the feed is {}", feed.type);
  Expected<double> mean = real(2, 0);
  if (!mean)
    return mean.takeError();
  Expected<double> deviation = real(3, 1);
  if (!deviation)
    return deviation.takeError();
  if (*deviation < 0)
    return fail("expected a standard deviation that is not negative");
  std::normal_distribution<double> normal;
  fillReals(array, [&] { return *mean + *deviation * normal(random); });
  return Error::success();
}

Error Generator::fillIntegersUniformly(Array &array) {
  if (parts.size() != 4)
    return fail("integers need a range, as in random:uniform:0:10");
  Expected<Array> first = argument(parts[2], feed.dtype);
  if (!first)
    return first.takeError();
  Expected<Array> end = argument(parts[3], TFC_I64);
  if (!end)
    return end.takeError();
  int64_t low = toInteger(*first, 0), high = toInteger(*end, 0);
  if (low >= high)
    return fail("expected LOW below HIGH");
  if (Expected<Array> last = argument(std::to_string(high - 1), feed.dtype); !last) {
    consumeError(last.takeError());
    return fail("{}, the largest number, is out of range for {}", high - 1,
                dfg::dtypeOf(feed.dtype).name);
  }
  std::uniform_int_distribution<int64_t> draw(low, high - 1);
  fillIntegers(array, [&] { return draw(random); });
  return Error::success();
}

Error Generator::fillUniformly(Array &array) {
  if (parts.size() == 3)
    return fail("a range has two limits, as in random:uniform:0:10");
  if (feed.dtype == TFC_BOOL) {
    if (parts.size() > 2)
      return fail("bools have no range");
    fillIntegers(array, [&] { return int64_t(random() & 1); });
    return Error::success();
  }
  if (!isFloating(feed.dtype))
    return fillIntegersUniformly(array);
  Expected<double> low = real(2, 0);
  if (!low)
    return low.takeError();
  Expected<double> high = real(3, 1);
  if (!high)
    return high.takeError();
  if (*low >= *high)
    return fail("expected LOW below HIGH");
  std::uniform_real_distribution<double> uniform;
  fillReals(array, [&] {
    double share = uniform(random);
    return *low * (1 - share) + *high * share;
  });
  return Error::success();
}

Error Generator::fill(Array &array) {
  if (option == "zeros")
    return Error::success();
  if (option == "ones") {
    if (isFloating(array.dtype))
      fillReals(array, [] { return 1.0; });
    else
      fillIntegers(array, [] { return int64_t(1); });
    return Error::success();
  }
  StringRef kind = parts.size() > 1 ? parts[1] : "";
  if (parts.size() <= 4 && kind == "normal")
    return fillNormally(array);
  if (parts.size() <= 4 && kind == "uniform")
    return fillUniformly(array);
  return fail("expected random:normal, random:normal:MEAN:STDDEV, random:uniform or "
              "random:uniform:LOW:HIGH");
}

//===----------------------------------------------------------------------===//
// All feeds of an entry
//===----------------------------------------------------------------------===//

/// The options by the feeds' names.
static Expected<std::map<std::string, std::string>> findValues(const RunOptions &options,
                                                               const Entry &entry) {
  std::map<std::string, std::string> values;
  for (const std::string &feed : options.feeds) {
    auto assignment = splitAssignment(feed, "--feed");
    if (!assignment)
      return assignment.takeError();
    if (!values.insert(*assignment).second)
      return makeError("--feed {} is given twice", assignment->first);
  }
  for (const auto &[name, value] : values)
    if (none_of(entry.feeds, [&](const Port &feed) { return feed.name == name; }))
      return makeError(
          "entry '{}' has no feed '{}'{}{}", entry.name, name,
          entry.feeds.empty() ? "" : "; it has: ",
          join(map_range(entry.feeds, [](const Port &feed) { return feed.name; }), ", "));
  for (const Port &feed : entry.feeds)
    if (!values.count(feed.name))
      return makeError("entry '{}' needs --feed {}=VALUE, of type {}", entry.name, feed.name,
                       feed.type);
  return values;
}

/// A value that is no number, and no file either.
static Error failMissing(const Port &feed, StringRef value) {
  StringRef similar = text::findSimilar(
      value, {"true", "false", "inf", "nan", "zeros", "ones", "random:normal", "random:uniform"});
  return makeError("--feed {}={}: there is no file '{}'{}{}{} The value of a feed is a number "
                   "(2, -1.5e3, inf, nan, true), a list of them ([[1, 2], [3, 4]]), zeros, ones, "
                   "random:normal, random:uniform:LOW:HIGH or a .npy file",
                   feed.name, value, value, similar.empty() ? "." : "; did you mean '", similar,
                   similar.empty() ? "" : "'?");
}

/// Returns true if the value can only be the path of a file.
static bool isPath(StringRef value) { return value.contains('/') || value.ends_with(".npy"); }

/// An array from a file or a literal.
static Expected<Array> readGiven(const Port &feed, StringRef value) {
  if (!isLiteral(value) && !isPath(value) && !sys::fs::exists(value))
    return failMissing(feed, value);
  if (!isLiteral(value))
    return readArray(value, feed.dtype);
  std::vector<int64_t> sizes;
  for (const dfg::DimExpr &size : sizesOf(feed))
    sizes.push_back(size.constant().value_or(0));
  return parseLiteral(value, feed, sizes);
}

Expected<std::vector<Array>> tfc::readFeeds(const RunOptions &options, const Entry &entry) {
  auto values = findValues(options, entry);
  if (!values)
    return values.takeError();
  std::vector<Array> arrays(entry.feeds.size());
  std::map<std::string, int64_t> known;
  for (auto [feed, array] : zip(entry.feeds, arrays)) {
    if (isGenerated((*values)[feed.name]))
      continue;
    Expected<Array> given = readGiven(feed, (*values)[feed.name]);
    if (!given)
      return given.takeError();
    array = std::move(*given);
    addKnown(known, feed, array);
  }
  Expected<std::vector<int64_t>> sizes = chooseSizes(options.dims, entry, known);
  if (!sizes)
    return sizes.takeError();
  for (auto [feed, array] : zip(entry.feeds, arrays)) {
    StringRef value = (*values)[feed.name];
    if (!isGenerated(value))
      continue;
    Expected<Array> made = allocate(feed, entry, *sizes);
    if (!made)
      return made.takeError();
    array = std::move(*made);
    if (Error error = Generator(feed, value, options.seed).fill(array))
      return error;
  }
  return arrays;
}
