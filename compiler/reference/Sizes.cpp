//===- Sizes.cpp - The named sizes of a call ------------------------------===//
//
// Binds the named sizes of a call and checks them as the compiled call does: bounds, facts, memory
// and numbers. It runs before the first operation, so it is apart from the interpreter.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "dialects/dfg/BoundSite.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
/// The limits of a named size.
struct Limits {
  int64_t lower = 0;
  std::optional<int64_t> upper;
  std::string lowerSite = {}, upperSite = {}; // where the graph states them
};

class Binder {
public:
  Binder(EntryOp entry, ArrayRef<Tensor> feeds, Sizes &sizes)
      : entry(entry), feeds(feeds), sizes(sizes) {}

  Status run();

private:
  bool fail(Status::Code code, const Twine &message);
  bool checkTypes();
  bool solve();
  bool solve(StringRef name, bool plainly);
  bool limit(const DimExpr &size, StringRef site);
  bool limit(const Fact &fact);
  bool checkLimits();
  bool checkShapes();
  bool checkFact(const Fact &fact);
  bool checkMemory();
  bool checkNumbers();
  std::string describe();
  bool failShape(unsigned feed);
  SmallVector<StringRef> symbols();

  EntryOp entry;
  ArrayRef<Tensor> feeds;
  Sizes &sizes;
  llvm::StringMap<Limits> limits;
  Status status;
};
} // namespace

bool Binder::fail(Status::Code code, const Twine &message) {
  status = {code, (entry.getSymName() + ": " + message).str()};
  return false;
}

SmallVector<StringRef> Binder::symbols() {
  if (!entry.getSymbols())
    return {};
  return llvm::to_vector(entry.getSymbolsAttr().getAsValueRange<StringAttr>());
}

static std::string nameOf(EntryOp entry, unsigned feed) {
  auto name = entry.getArgAttrOfType<StringAttr>(feed, kNameAttr);
  return name ? name.str() : "feed" + std::to_string(feed);
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

bool Binder::failShape(unsigned feed) {
  return fail(Status::Code::InvalidArgument,
              "feed '" + nameOf(entry, feed) + "' has shape " + shapeText(feeds[feed].getShape()) +
                  ", but expected " + toText(entry.getArgumentTypes()[feed]));
}

bool Binder::checkTypes() {
  if (feeds.size() != entry.getArgumentTypes().size())
    return fail(Status::Code::InvalidArgument, "got " + Twine(feeds.size()) +
                                                   " feeds, but expected " +
                                                   Twine(entry.getArgumentTypes().size()));
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (feeds[i].getElementType() != elementTypeOf(type))
      return fail(Status::Code::InvalidArgument, "feed '" + nameOf(entry, i) + "' has dtype " +
                                                     toText(feeds[i].getElementType()) +
                                                     ", but expected " + toText(type));
    if (feeds[i].getRank() != cast<RankedTensorType>(type).getRank())
      return failShape(i);
  }
  return true;
}

/// Computes the size from an axis of a feed; `plainly`: only from an axis that is just the name.
bool Binder::solve(StringRef name, bool plainly) {
  for (auto [feed, type] : llvm::enumerate(entry.getArgumentTypes()))
    for (auto [axis, size] : llvm::enumerate(shapeOf(type))) {
      std::optional<DimExpr::Linear> linear = size.asLinear();
      if (!linear || linear->name != name || (plainly && !size.asSymbol()))
        continue;
      int64_t scaled;
      bool overflows = llvm::SubOverflow(feeds[feed].getShape()[axis], linear->offset, scaled);
      if (overflows || scaled % linear->scale != 0)
        return failShape(feed);
      sizes[name] = scaled / linear->scale;
      return true;
    }
  return false;
}

bool Binder::solve() {
  for (StringRef name : symbols())
    if (!solve(name, true) && !solve(name, false))
      return status.isOk()
                 ? fail(Status::Code::Internal, "no feed determines the size '" + name + "'")
                 : false;
  return true;
}

/// Takes `size >= 0` as a limit of one name; false if it is none.
bool Binder::limit(const DimExpr &size, StringRef site) {
  std::optional<SizeBound> bound = boundOfNonNegative(size);
  if (!bound || (bound->isUpper && bound->limit < 0))
    return false;
  Limits &limit = limits[bound->name];
  if (bound->isUpper && bound->limit < limit.upper.value_or(INT64_MAX)) {
    limit.upper = bound->limit;
    limit.upperSite = site;
  } else if (!bound->isUpper && bound->limit > limit.lower) {
    limit.lower = bound->limit;
    limit.lowerSite = site;
  }
  return true;
}

/// Takes a fact as limits of one name; false if it is none.
bool Binder::limit(const Fact &fact) {
  std::optional<SmallVector<DimExpr>> sizes = fact.asNonNegative();
  return sizes && llvm::all_of(*sizes, [&](const DimExpr &size) { return limit(size, fact.site); });
}

/// " at model.graph:12", or nothing.
static std::string at(const std::string &site) { return site.empty() ? "" : " at " + site; }

bool Binder::checkLimits() {
  for (StringRef name : symbols()) {
    int64_t value = sizes[name];
    const Limits &limit = limits[name];
    if (value < limit.lower)
      return fail(Status::Code::OutOfRange, name + " = " + Twine(value) + " is below its bound " +
                                                Twine(limit.lower) + at(limit.lowerSite));
    if (limit.upper && value > *limit.upper)
      return fail(Status::Code::OutOfRange, name + " = " + Twine(value) + " exceeds its bound " +
                                                Twine(*limit.upper) + at(limit.upperSite));
  }
  return true;
}

bool Binder::checkShapes() {
  for (auto [feed, type] : llvm::enumerate(entry.getArgumentTypes()))
    for (auto [axis, size] : llvm::enumerate(shapeOf(type)))
      if (sizeOf(size, sizes) != feeds[feed].getShape()[axis]) {
        failShape(feed);
        if (!size.constant())
          for (auto [i, name] : llvm::enumerate(symbols()))
            status.message +=
                (Twine(i ? ", " : " with ") + name + " = " + Twine(sizes[name])).str();
        return false;
      }
  return true;
}

bool Binder::checkFact(const Fact &fact) {
  std::optional<bool> holds = fact.holds([&](StringRef name) -> std::optional<int64_t> {
    auto size = sizes.find(name);
    return size == sizes.end() ? std::nullopt : std::optional(size->second);
  });
  if (holds == true)
    return true;
  SmallVector<std::string> names;
  fact.lhs.collectSymbols(names);
  fact.rhs.collectSymbols(names);
  std::string message =
      fact.strWithSite() + (holds ? " does not hold" : " cannot be computed in 64 bits");
  for (auto [i, name] : llvm::enumerate(names))
    message += (Twine(i ? ", " : ": ") + name + " is " + Twine(sizes[name])).str();
  return fail(Status::Code::InvalidArgument, message);
}

/// Returns true if a tensor of the type exceeds any memory in this call, as far as its sizes are
/// known.
static bool isBeyondAddresses(RankedTensorType type, const Sizes &sizes) {
  SmallVector<int64_t> shape;
  for (const DimExpr &size : shapeOf(type)) {
    std::optional<int64_t> value = knownSizeOf(size, sizes);
    SmallVector<std::string> names;
    size.collectSymbols(names);
    if (value)
      shape.push_back(*value);
    else if (llvm::all_of(names, [&](StringRef name) { return sizes.contains(name); }))
      return true; // it overflows
  }
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  return isBeyondAddresses(shape, (bits + 7) / 8);
}

/// The first sizes of the call, for a message.
std::string Binder::describe() {
  std::string text;
  for (auto [i, name] : llvm::enumerate(llvm::ArrayRef(symbols()).take_front(4)))
    text += (Twine(i ? ", " : ": ") + name + " is " + Twine(sizes[name])).str();
  return text;
}

/// Checks that every tensor of the entry fits in memory, whether the call computes it or not.
bool Binder::checkMemory() {
  bool isLarge = false;
  auto check = [&](TypeRange types) {
    for (Type type : types) {
      if (auto list = dyn_cast<ListType>(type))
        type = list.getElementType();
      auto tensor = dyn_cast<RankedTensorType>(type);
      isLarge |= tensor && isBeyondAddresses(tensor, sizes);
    }
  };
  check(entry.getArgumentTypes());
  entry.walk([&](Operation *op) { check(op->getResultTypes()); });
  if (!isLarge)
    return true;
  return fail(Status::Code::OutOfMemory,
              "the tensors of this call do not fit in memory" + describe());
}

/// An upper bound of a size for the sizes of the call.
static DimExpr atMost(const DimExpr &size, const RunTimeSizes &found, Block *block) {
  auto range = [&](StringRef name) -> std::pair<DimExpr, DimExpr> {
    if (BindSizeOp binder = found.find(name, block))
      return {DimExpr(0), atMost(binder.getBoundExpr(), found, binder->getBlock())};
    return {DimExpr::symbol(name), DimExpr::symbol(name)};
  };
  return size.limits(range).second;
}

/// Checks that sizes used as numbers fit their types. Data-dependent ones are checked where they
/// are bound, but the number must fit 64 bits for all of their values.
bool Binder::checkNumbers() {
  Type type;
  RunTimeSizes found(entry);
  entry.walk([&](NumberingOpInterface op) {
    for (auto [number, element] : op.getNumbers()) {
      bool isLate(found.findLast(number, op->getBlock()));
      DimExpr most = isLate ? atMost(number, found, op->getBlock()) : number;
      Type wide = isLate ? IntegerType::get(op->getContext(), 64) : element;
      if (!holdsNumber(wide, knownSizeOf(most, sizes)))
        type = wide;
    }
  });
  if (!type)
    return true;
  return fail(Status::Code::OutOfRange, "a size " + misfitText(numberLimitOf(type)) + describe());
}

Status Binder::run() {
  if (!checkTypes() || !solve())
    return status;
  if (DictionaryAttr bounds = entry.getBoundsAttr()) {
    BoundSites sites(entry);
    for (NamedAttribute bound : bounds)
      limits[bound.getName()] = {
          0, cast<IntegerAttr>(bound.getValue()).getInt(), {}, sites.of(bound.getName())};
  }
  std::vector<Fact> facts;
  for (FactAttr attribute : requiredFacts(entry))
    if (Fact fact = withSite(attribute.getFact(), entry); !limit(fact))
      facts.push_back(fact);
  if (!checkLimits() || !checkShapes())
    return status;
  for (const Fact &fact : facts)
    if (!checkFact(fact))
      return status;
  if (checkMemory())
    checkNumbers();
  return status;
}

Status bindSizes(EntryOp entry, ArrayRef<Tensor> feeds, Sizes &sizes) {
  return Binder(entry, feeds, sizes).run();
}

} // namespace tfc::reference
