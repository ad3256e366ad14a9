//===- Feeds.cpp - Data for calls -----------------------------------------===//
//
// Draws the data of a call. The names of feeds ask for ranges, so that data fit programs read from
// files as well as generated ones.
//
//===----------------------------------------------------------------------===//

#include "Extremes.h"
#include "Program.h"
#include "dialects/dfg/Dtypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

using Lookup = llvm::function_ref<std::optional<int64_t>(StringRef)>;

namespace {

/// The properties of a feed's data that its name requests.
struct Wish {
  bool isPositive = false, isAround = false, isExtreme = false, isNonzero = false;
  std::optional<int64_t> below;
};

} // namespace

static Wish readName(StringRef name, Lookup sizeOfSymbol) {
  Wish wish;
  auto [stem, limits] = name.split("_below_");
  wish.isPositive = stem.contains("_positive");
  wish.isAround = stem.contains("_around");
  wish.isExtreme = stem.contains("_extreme");
  wish.isNonzero = stem.contains("_nonzero");
  SmallVector<StringRef> words;
  limits.split(words, '_', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    int64_t limit;
    if (word.getAsInteger(10, limit))
      limit = sizeOfSymbol(word).value_or(1);
    wish.below = std::min(wish.below.value_or(limit), limit);
  }
  return wish;
}

static double drawSpecial(Random &random) {
  static const double kValues[] = {
      0.0,  -0.0,   1.0, -1.0,  INFINITY, -INFINITY,    NAN,           1e-40, -1e-310,
      3e38, -1e300, 0.5, 65504, 16777217, 2147483648.0, -2147483649.0, 1e19};
  return random.pick(kValues);
}

/// Every tenth number is an integer, so that some numbers are equal.
static double drawFloat(Random &random, const Wish &wish, bool isSpecial) {
  if (isSpecial && random.chance(0.25))
    return drawSpecial(random);
  double low = wish.isPositive ? 0.1 : -2.5;
  if (random.chance(0.1))
    return wish.isPositive ? random.between(1, 2) : random.between(-2, 2);
  return low + (2.5 - low) * random.unit();
}

static int64_t drawInteger(Random &random, const Wish &wish, bool isSpecial) {
  if (wish.below && wish.isAround)
    return random.between(-2, *wish.below + 1);
  if (wish.below)
    return *wish.below > 0 ? random.below(*wish.below) : 0;
  if (wish.isPositive)
    return random.between(1, 6);
  if (isSpecial && random.chance(0.2))
    return int64_t(random.next()); // wraps in narrower types
  return wish.isNonzero ? random.between(1, 9) : random.between(-5, 9);
}

static void store(Array &array, int64_t i, const APInt &bits) {
  memcpy(array.data.data() + i * array.elementBytes(), bits.getRawData(), array.elementBytes());
}

static void storeFloat(Array &array, int64_t i, FloatType type, double number) {
  APFloat value(number);
  bool isInexact;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
  store(array, i, value.bitcastToAPInt());
}

static APInt drawBits(Random &random, Type type, bool isNonzero) {
  APInt bits = drawExtreme(random, type);
  return isNonzero && bits.isZero() ? drawBits(random, type, isNonzero) : bits;
}

static Array makeFeed(StringRef name, Type elementType, ArrayRef<int64_t> shape, uint64_t seed,
                      Lookup sizeOfSymbol) {
  Array array;
  array.dtype = dfg::dtypeOf(elementType).code;
  array.shape.assign(shape.begin(), shape.end());
  array.data.resize(array.elementCount() * array.elementBytes());
  Random random(seed ^ hash(name));
  // A twentieth of all calls gets special values.
  bool isSpecial = seed % 20 == 0;
  Wish wish = readName(name, sizeOfSymbol);
  for (int64_t i = 0, count = array.elementCount(); i < count; ++i) {
    if (wish.isExtreme && !elementType.isInteger(1) && random.chance(0.7))
      store(array, i, drawBits(random, elementType, wish.isNonzero));
    else if (auto type = dyn_cast<FloatType>(elementType))
      storeFloat(array, i, type, drawFloat(random, wish, isSpecial));
    else if (elementType.isInteger(1))
      array.data[i] = random.chance(0.5);
    else
      store(array, i, APInt(64, uint64_t(drawInteger(random, wish, isSpecial))));
  }
  return array;
}

std::optional<std::vector<Array>> makeFeeds(EntryOp entry, const CallPlan &plan) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto found = plan.sizes.find(name.str());
    return found == plan.sizes.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<Array> feeds;
  for (BlockArgument argument : entry.getBody().getArguments()) {
    SmallVector<int64_t> shape;
    for (const DimExpr &size : shapeOf(argument.getType())) {
      std::optional<int64_t> value = size.evaluate(lookup);
      if (!value || *value < 0)
        return std::nullopt;
      shape.push_back(*value);
    }
    StringRef name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "dfg.name");
    feeds.push_back(makeFeed(name, elementTypeOf(argument.getType()), shape, plan.seed, lookup));
  }
  return feeds;
}

} // namespace tfc::random
