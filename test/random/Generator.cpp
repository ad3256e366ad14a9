//===- Generator.cpp - Entries, variables, values ---------------------------===//

#include "Generator.h"
#include "Extremes.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

Generator::Generator(MLIRContext &context, uint64_t seed, const Style &style)
    : random(seed * 0x2545f4914f6cdd1d + 1), style(style),
      module(ModuleOp::create(UnknownLoc::get(&context), "random")), builder(*module),
      location(UnknownLoc::get(&context)) {}

//===----------------------------------------------------------------------===//
// What a program is made of
//===----------------------------------------------------------------------===//

static Type typeOf(GraphBuilder &builder, StringRef name) {
  return elementTypeByName(builder.getContext(), name);
}

/// Few sizes and types, so that values fit together; sizes around the widths of vectors.
void Generator::choosePalette() {
  static const StringRef kFloats[] = {"f32", "f32", "f32", "f32", "f64", "f64", "f16", "bf16"};
  static const StringRef kIntegers[] = {"i32", "i32", "i64", "i64", "i8", "i16", "u8"};
  mainFloat = typeOf(builder, random.pick(kFloats));
  mainInteger = typeOf(builder, random.pick(kIntegers));
  static const int64_t kSmall[] = {2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12};
  static const int64_t kWide[] = {8, 15, 16, 17, 20, 31, 32, 33, 40};
  static const int64_t kLarge[] = {64, 65, 100, 128, 150, 257};
  bool isLarge = random.chance(0.04);
  mostElements = isLarge ? 100000 : 3000;
  sizes = {random.pick(kSmall), random.pick(kWide)};
  if (random.chance(0.5))
    sizes.push_back(random.pick(kSmall));
  if (isLarge || random.chance(0.06)) // a long axis beside short ones
    sizes.push_back(random.pick(kLarge));
  if (random.chance(0.1))
    sizes.push_back(0);
  symbols.clear();
  if (random.chance(0.6))
    symbols.push_back("n");
  if (random.chance(0.3))
    symbols.push_back("m");
  isRisky = random.chance(0.15);
  largest = {{"n", isLarge ? 257 : 33}, {"m", 17}};
}

Type Generator::drawAnyDtype() {
  static const StringRef kAll[] = {"f32", "f64", "f16", "bf16", "i8",
                                   "i16", "i32", "i64", "u8",   "bool"};
  return typeOf(builder, random.pick(kAll));
}

Type Generator::drawDtype() {
  double choice = random.unit();
  if (choice < 0.64)
    return mainFloat;
  if (choice < 0.83)
    return mainInteger;
  if (choice < 0.90)
    return typeOf(builder, "bool");
  return drawAnyDtype();
}

/// A name, or what is computed of names.
DimExpr Generator::drawNamedSize() {
  DimExpr size = DimExpr::symbol(random.pick(symbols));
  Random apart = random.apart("computed");
  if (!apart.chance(0.1))
    return size;
  DimExpr other = apart.chance(0.5) ? DimExpr::symbol(apart.pick(symbols)) : apart.pick(sizes);
  switch (apart.below(4)) {
  case 0:
    return DimExpr::max(size, other);
  case 1:
    return DimExpr::floorDiv(size + other, 2);
  default:
    return DimExpr::min(size, other);
  }
}

DimExpr Generator::drawSize() {
  if (!bound.empty() && random.chance(0.25))
    return DimExpr::symbol(random.pick(bound));
  if (!symbols.empty() && random.chance(0.35))
    return drawNamedSize();
  if (random.chance(0.12))
    return 1;
  return random.pick(sizes);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isLarger(const Shape &shape, const std::map<std::string, int64_t> &symbols,
                     int64_t limit) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto found = symbols.find(name.str());
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  return elementCount(shape).evaluate(lookup).value_or(limit + 1) > limit;
}

bool Generator::isTooLarge(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isTooLarge(list.getElementType());
  return shapeOf(type).size() > 5 || isLarger(shapeOf(type), largest, mostElements);
}

Value Generator::addFeed(RankedTensorType type, StringRef suffix) {
  std::string name = "x" + std::to_string(feedNames.size()) + suffix.str();
  feedNames.push_back(name);
  return entry.getBody().addArgument(type, location);
}

void Generator::dropFeeds(size_t count) {
  Block &body = entry.getBody().front();
  while (body.getNumArguments() > count && body.getArguments().back().use_empty()) {
    body.eraseArgument(body.getNumArguments() - 1);
    feedNames.pop_back();
  }
}

static Attribute drawElement(Random &random, Type type, bool isPositive, bool isExtreme) {
  auto floatType = dyn_cast<FloatType>(type);
  if (isExtreme && floatType)
    return FloatAttr::get(type,
                          llvm::APFloat(floatType.getFloatSemantics(), drawExtreme(random, type)));
  if (isExtreme)
    return IntegerAttr::get(type, drawExtreme(random, type));
  if (floatType) {
    int64_t number = random.below(33) - (isPositive ? -1 : 16);
    return FloatAttr::get(type, number / (number % 3 == 1 ? 7.0 : 8.0)); // some are rounded
  }
  if (type.isInteger(1))
    return IntegerAttr::get(type, random.below(2));
  return IntegerAttr::get(type, random.between(isPositive ? 1 : 0, 5));
}

Value Generator::addConstant(RankedTensorType type, bool isPositive, double extremes) {
  Type elementType = type.getElementType();
  bool isExtreme = !isPositive && !elementType.isInteger(1) && random.chance(extremes);
  SmallVector<Attribute> elements;
  int64_t count = random.chance(0.4) ? 1 : std::max<int64_t>(type.getNumElements(), 1);
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        drawElement(random, elementType, isPositive, isExtreme && random.chance(0.7)));
  return builder.constant(DenseElementsAttr::get(type, elements), location);
}

Value Generator::addSplat(RankedTensorType type, bool isPositive) {
  Attribute element = drawElement(random, type.getElementType(), isPositive, false);
  return builder.constant(DenseElementsAttr::get(type, element), location);
}

Generator::Values Generator::visible() {
  Values values(entry.getBody().getArguments());
  llvm::append_range(values, pool);
  return values;
}

Value Generator::findValue(llvm::function_ref<bool(Value)> accept) {
  Values found;
  for (Value value : visible())
    if (accept(value))
      found.push_back(value);
  if (found.empty())
    return {};
  if (random.chance(0.5))
    return found[found.size() - 1 - random.below(std::min<int64_t>(found.size(), 4))];
  return random.pick(found);
}

/// The share of constants and feeds that have extreme numbers.
static constexpr double kExtremes = 0.1;

Value Generator::valueOf(RankedTensorType type, bool isPositive) {
  if (!isPositive && random.chance(0.65))
    if (Value known = findValue([&](Value value) { return value.getType() == type; }))
      return known;
  if (isBound(type)) { // no feed has such a size
    Value one = valueOf(tensorOf({}, type.getElementType()), isPositive);
    return make("broadcast", one, dimsAttr("shape", shapeOf(type)));
  }
  bool isSmall = type.hasStaticShape() && type.getNumElements() <= 64;
  if (isSmall && random.chance(0.2))
    return addConstant(type, isPositive, kExtremes);
  bool isExtreme = !isPositive && random.chance(kExtremes);
  return addFeed(type, isExtreme                           ? "_extreme"
                       : isPositive || random.chance(0.25) ? "_positive"
                                                           : "");
}

void Generator::remember(ValueRange values) {
  for (Value value : values)
    if (isa<RankedTensorType, ListType>(value.getType()))
      pool.push_back(value);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

void Generator::makeVariables() {
  for (int64_t i = random.below(4); i > 0; --i) {
    Shape shape;
    for (int64_t rank = random.below(3); rank > 0; --rank)
      shape.push_back(random.pick(sizes));
    Type elementType = random.chance(0.75) ? mainFloat : drawDtype();
    if (isLarger(shape, {}, 500))
      shape.clear();
    bool isAlike = !variables.empty() && random.chance(0.4); // may change places
    variables.push_back(isAlike ? variables.back() : tensorOf(shape, elementType));
    builder.createVariable("v" + std::to_string(variables.size() - 1), variables.back(), false, "",
                           location);
  }
  EntryHeader header;
  header.name = "tfc.init";
  header.isInitializer = true;
  entry = builder.beginEntry(header, location);
  for (auto [i, type] : llvm::enumerate(variables))
    builder.assign("v" + std::to_string(i), addConstant(type, false, 0), location);
  builder.finishEntry({}, {}, location);
}

static constexpr size_t kMostFetches = 20;

/// Sets what is known of an entry at its end, and ends it.
void Generator::finishEntry() {
  Builder b(builder.getContext());
  Block &body = entry.getBody().front();
  readLists(0);
  std::vector<EntryValue> results;
  Values values;
  for (Value value : pool) {
    bool isLeaf = value.use_empty();
    if (!isa<RankedTensorType>(value.getType()) || !random.chance(isLeaf ? 0.95 : 0.12) ||
        values.size() >= kMostFetches)
      continue;
    values.push_back(value);
    results.push_back(
        {"y" + std::to_string(values.size()), cast<RankedTensorType>(value.getType()), location});
  }
  SmallVector<Attribute> names;
  SmallVector<std::string> used;
  for (auto [name, argument] : llvm::zip_equal(feedNames, body.getArguments())) {
    names.push_back(b.getDictionaryAttr(b.getNamedAttr("dfg.name", b.getStringAttr(name))));
    for (const DimExpr &size : shapeOf(argument.getType()))
      size.collectSymbols(used);
  }
  entry.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  if (!names.empty())
    entry.setArgAttrsAttr(b.getArrayAttr(names));
  if (!used.empty())
    entry.setSymbolsAttr(b.getStrArrayAttr(SmallVector<StringRef>(used.begin(), used.end())));
  EntryOp finished = entry;
  builder.finishEntry(results, values, location);
  // Whether invalid data of what nobody needs fail a call is left open.
  finished.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

void Generator::makeEntry(unsigned number) {
  EntryHeader header;
  header.name = "entry" + std::to_string(number);
  entryNames.push_back(header.name);
  feedNames.clear();
  pool.clear();
  bound.clear();
  entry = builder.beginEntry(header, location);
  // Each named size stands in a feed.
  for (const std::string &symbol : symbols)
    addFeed(tensorOf({DimExpr::symbol(symbol), random.pick(sizes)}, mainFloat));
  if (random.chance(0.5))
    addFeed(tensorOf({drawSize(), drawSize()}, mainFloat));
  if (entry.getBody().getNumArguments() == 0)
    addFeed(tensorOf({drawSize()}, mainFloat));
  for (int64_t left = style.scale * random.between(3, 14); left > 0; --left)
    makeStatement();
  for (int64_t left = style.scale; left > 0; --left)
    if (random.chance(0.3))
      makeGradients();
  if (!symbols.empty() && random.chance(0.5))
    entry.setBoundsAttr(
        Builder(builder.getContext())
            .getDictionaryAttr(
                Builder(builder.getContext())
                    .getNamedAttr(symbols.front(),
                                  Builder(builder.getContext()).getI64IntegerAttr(largest["n"]))));
  finishEntry();
}

/// An entry that shows what the others left.
void Generator::makeReader() {
  EntryHeader header;
  header.name = "variables";
  entryNames.push_back(header.name);
  feedNames.clear();
  pool.clear();
  entry = builder.beginEntry(header, location);
  std::vector<EntryValue> results;
  Values values;
  for (auto [i, type] : llvm::enumerate(variables)) {
    std::string name = "v" + std::to_string(i);
    values.push_back(builder.read(name, type, location));
    results.push_back({"last_" + name, type, location});
  }
  builder.finishEntry(results, values, location);
}

std::map<std::string, int64_t> Generator::drawSizes() {
  static const int64_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 257};
  std::map<std::string, int64_t> result;
  for (const std::string &symbol : symbols) {
    int64_t size = random.pick(kSizes);
    result[symbol] = size > largest[symbol] ? random.between(2, 7) : size;
  }
  return result;
}

void Generator::planCalls() {
  for (int64_t left = random.between(2, 4); left > 0; --left)
    for (const std::string &name : entryNames)
      if (random.chance(name == "variables" ? 0.3 : 0.8))
        calls.push_back({name, drawSizes(), random.next() >> 33});
  if (!variables.empty())
    calls.push_back({"variables", {}, 1});
}

Program Generator::run() {
  ScopedDiagnosticHandler quiet(builder.getContext(), [](Diagnostic &) { return success(); });
  choosePalette();
  makeVariables();
  int64_t count = random.chance(0.3) ? 2 : 1;
  for (int64_t i = 0; i < count; ++i)
    makeEntry(i);
  if (!variables.empty())
    makeReader();
  planCalls();
  return {std::move(module), std::move(calls)};
}

Program makeProgram(MLIRContext &context, uint64_t seed, const Style &style) {
  return Generator(context, seed, style).run();
}

} // namespace tfc::random
