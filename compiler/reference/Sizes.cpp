//===- Sizes.cpp - The named sizes of a call ------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
/// What a named size may be.
struct Limits {
  int64_t lower = 0;
  std::optional<int64_t> upper;
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
  void collectFacts();
  bool limit(StringRef fact);
  bool checkLimits();
  bool checkShapes();
  bool checkFact(StringRef fact);
  bool checkMemory();
  bool checkNumbers();
  std::string describe();
  bool failShape(unsigned feed);
  SmallVector<StringRef> symbols();

  EntryOp entry;
  ArrayRef<Tensor> feeds;
  Sizes &sizes;
  llvm::StringMap<Limits> limits;
  std::vector<std::string> facts;
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
  auto name = entry.getArgAttrOfType<StringAttr>(feed, "dfg.name");
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

/// Finds the size on an axis of a feed; `plainly`: that is the name alone.
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
      return status.isOk() ? fail(Status::Code::Internal, "no feed tells the size '" + name + "'")
                           : false;
  return true;
}

/// The stated facts, and that no size is negative.
void Binder::collectFacts() {
  auto add = [&](std::string fact) {
    if (!llvm::is_contained(facts, fact))
      facts.push_back(std::move(fact));
  };
  if (entry.getWhere())
    for (StringRef fact : entry.getWhereAttr().getAsValueRange<StringAttr>())
      add(fact.str());
  RunTimeSizes found(entry);
  auto isFoundLater = [&](const DimExpr &size) {
    SmallVector<std::string> names;
    size.collectSymbols(names);
    return llvm::any_of(names, [&](StringRef name) { return found.binds(name); });
  };
  auto addSizes = [&](TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        for (const DimExpr &size : shapeOf(tensor))
          if (isNonNegative(size) != true && !isFoundLater(size))
            add(size.str() + " >= 0");
  };
  addSizes(entry.getArgumentTypes());
  entry.walk([&](Operation *op) { addSizes(op->getResultTypes()); });
}

/// The sides of a comparison.
struct Fact {
  StringRef relation;
  DimExpr lhs, rhs;
};

static std::optional<Fact> parseFact(StringRef text) {
  for (StringRef relation : {">=", "<=", "==", "!=", ">", "<"}) {
    size_t at = text.find(relation);
    if (at == StringRef::npos)
      continue;
    std::optional<DimExpr> lhs = DimExpr::parse(text.take_front(at).trim());
    std::optional<DimExpr> rhs = DimExpr::parse(text.drop_front(at + relation.size()).trim());
    if (lhs && rhs)
      return Fact{relation, *lhs, *rhs};
    break;
  }
  return std::nullopt;
}

/// Takes a fact as limits of one name; false where it is none.
bool Binder::limit(StringRef text) {
  std::optional<Fact> fact = parseFact(text);
  if (!fact || fact->relation == "!=")
    return false;
  auto apply = [&](const DimExpr &expr) { // expr >= 0
    std::optional<DimExpr::Linear> linear = expr.asLinear();
    if (!linear)
      return false;
    Limits &limit = limits[linear->name];
    int64_t scale = std::abs(linear->scale), offset = linear->offset;
    auto floorDivide = [](int64_t a, int64_t b) { return a / b - (a % b < 0); };
    if (linear->scale > 0) {
      limit.lower = std::max(limit.lower, -floorDivide(offset, scale));
      return true;
    }
    int64_t upper = floorDivide(offset, scale);
    if (upper < 0)
      return false;
    limit.upper = std::min(limit.upper.value_or(upper), upper);
    return true;
  };
  if (fact->relation == "==")
    return apply(fact->lhs - fact->rhs) && apply(fact->rhs - fact->lhs);
  DimExpr difference = fact->relation[0] == '>' ? fact->lhs - fact->rhs : fact->rhs - fact->lhs;
  return apply(fact->relation.size() == 2 ? difference : difference - 1);
}

bool Binder::checkLimits() {
  for (StringRef name : symbols()) {
    int64_t value = sizes[name];
    const Limits &limit = limits[name];
    if (value < limit.lower)
      return fail(Status::Code::OutOfRange,
                  name + " = " + Twine(value) + " is below its bound " + Twine(limit.lower));
    if (limit.upper && value > *limit.upper)
      return fail(Status::Code::OutOfRange,
                  name + " = " + Twine(value) + " exceeds its bound " + Twine(*limit.upper));
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

static bool holds(StringRef relation, int64_t lhs, int64_t rhs) {
  if (relation == "==" || relation == "!=")
    return (lhs == rhs) == (relation == "==");
  if (relation == ">=" || relation == "<")
    return (lhs >= rhs) == (relation == ">=");
  return (lhs > rhs) == (relation == ">");
}

bool Binder::checkFact(StringRef text) {
  std::optional<Fact> fact = parseFact(text);
  if (!fact)
    return fail(Status::Code::Internal, "'" + text + "' is no comparison of sizes");
  std::optional<int64_t> lhs = knownSizeOf(fact->lhs, sizes), rhs = knownSizeOf(fact->rhs, sizes);
  if (lhs && rhs && holds(fact->relation, *lhs, *rhs))
    return true;
  SmallVector<std::string> names;
  fact->lhs.collectSymbols(names);
  fact->rhs.collectSymbols(names);
  std::string message =
      text.str() + (lhs && rhs ? " does not hold" : " cannot be computed in 64 bits");
  for (auto [i, name] : llvm::enumerate(names))
    message += (Twine(i ? ", " : ": ") + name + " is " + Twine(sizes[name])).str();
  return fail(Status::Code::InvalidArgument, message);
}

/// Whether no memory holds a tensor of the type in this call, as far as its sizes are known.
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

/// Every tensor of the call must have room in memory, whether the call makes it or not.
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
  return fail(Status::Code::OutOfMemory, "no memory holds the tensors of this call" + describe());
}

/// The largest that a size is, by what the call brings.
static DimExpr atMost(const DimExpr &size, const RunTimeSizes &found, Block *block) {
  auto range = [&](StringRef name) -> std::pair<DimExpr, DimExpr> {
    if (BindSizeOp binder = found.find(name, block))
      return {DimExpr(0), atMost(binder.getBoundExpr(), found, binder->getBlock())};
    return {DimExpr::symbol(name), DimExpr::symbol(name)};
  };
  return size.limits(range).second;
}

/// Sizes that the call uses as numbers must fit their types. Those that the data decide are checked
/// where they are bound; whatever they are, 64 bits must hold the number.
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
  return fail(Status::Code::OutOfRange, misfitMessage(numberLimitOf(type)) + describe());
}

Status Binder::run() {
  if (!checkTypes() || !solve())
    return status;
  if (DictionaryAttr bounds = entry.getBoundsAttr())
    for (NamedAttribute bound : bounds)
      limits[bound.getName()].upper = cast<IntegerAttr>(bound.getValue()).getInt();
  collectFacts();
  llvm::erase_if(facts, [&](const std::string &fact) { return limit(fact); });
  if (!checkLimits() || !checkShapes())
    return status;
  for (const std::string &fact : facts)
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
