//===- Generator.cpp - Entries, variables, calls --------------------------===//
//
// Generates whole programs: variables, entries and calls. The statements of an entry are generated
// in StatementGenerator.cpp.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Devices.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

Generator::Generator(MLIRContext &context, uint64_t seed, const Style &style)
    : module(ModuleOp::create(UnknownLoc::get(&context), "random")), scope(*module, seed, style) {}

//===----------------------------------------------------------------------===//
// Sizes and types
//===----------------------------------------------------------------------===//

/// Few sizes and types, so that values fit together; sizes around the widths of vectors.
void Generator::choosePalette() {
  static const StringRef kFloats[] = {"f32", "f32", "f32", "f32", "f64", "f64", "f16", "bf16"};
  static const StringRef kIntegers[] = {"i32", "i32", "i64", "i64", "i8",
                                        "i16", "u8",  "u16", "u32", "u64"};
  scope.mainFloat = elementTypeByName(scope.builder.getContext(), scope.random.pick(kFloats));
  scope.mainInteger = elementTypeByName(scope.builder.getContext(), scope.random.pick(kIntegers));
  static const int64_t kSmall[] = {2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12};
  static const int64_t kWide[] = {8, 15, 16, 17, 20, 31, 32, 33, 40};
  static const int64_t kLarge[] = {64, 65, 100, 128, 150, 257};
  bool isLarge = scope.random.chance(0.04);
  scope.mostElements = isLarge ? 100000 : 3000;
  scope.sizes = {scope.random.pick(kSmall), scope.random.pick(kWide)};
  if (scope.random.chance(0.5))
    scope.sizes.push_back(scope.random.pick(kSmall));
  if (isLarge || scope.random.chance(0.06)) // a long axis among short ones
    scope.sizes.push_back(scope.random.pick(kLarge));
  if (scope.random.chance(0.1))
    scope.sizes.push_back(0);
  scope.symbols.clear();
  if (scope.random.chance(0.6))
    scope.symbols.push_back("n");
  if (scope.random.chance(0.3))
    scope.symbols.push_back("m");
  scope.isRisky = scope.random.chance(0.15);
  scope.largest = {{"n", isLarge ? 257 : 33}, {"m", 17}};
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

void Generator::makeVariables() {
  for (int64_t i = scope.random.below(4); i > 0; --i) {
    Shape shape;
    for (int64_t rank = scope.random.below(3); rank > 0; --rank)
      shape.push_back(scope.random.pick(scope.sizes));
    Type elementType = scope.random.chance(0.75) ? scope.mainFloat : scope.drawDtype();
    if (isLarger(shape, {}, 500))
      shape.clear();
    bool isAlike =
        !scope.variables.empty() && scope.random.chance(0.4); // so that the two can be exchanged
    scope.variables.push_back(isAlike ? scope.variables.back() : tensorOf(shape, elementType));
    scope.builder.getResources().createVariable("v" + std::to_string(scope.variables.size() - 1),
                                                scope.variables.back(), false, "", scope.location);
  }
  scope.entry = scope.builder.beginEntry(EntryHeader::initializer(), scope.location);
  for (auto [i, type] : llvm::enumerate(scope.variables))
    scope.builder.getResources().assign("v" + std::to_string(i), scope.addConstant(type, false, 0),
                                        scope.location);
  scope.builder.finishEntry({}, {}, scope.location);
}

static constexpr size_t kMostFetches = 20;

/// Sets the results and the header of an entry, which are known only at its end, and ends it.
void Generator::finishEntry() {
  Builder b(scope.builder.getContext());
  Block &body = scope.entry.getBody().front();
  families.readLists(0);
  std::vector<EntryValue> results;
  Values values;
  for (Value value : scope.pool) {
    bool isLeaf = value.use_empty();
    if (!isa<RankedTensorType>(value.getType()) || !scope.random.chance(isLeaf ? 0.95 : 0.12) ||
        values.size() >= kMostFetches)
      continue;
    values.push_back(value);
    results.push_back({"y" + std::to_string(values.size()), cast<RankedTensorType>(value.getType()),
                       scope.location});
  }
  SmallVector<Attribute> names;
  SmallVector<std::string> used;
  for (auto [name, argument] : llvm::zip_equal(scope.feedNames, body.getArguments())) {
    names.push_back(b.getDictionaryAttr(b.getNamedAttr("dfg.name", b.getStringAttr(name))));
    for (const DimExpr &size : shapeOf(argument.getType()))
      size.collectSymbols(used);
  }
  scope.entry.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  if (!names.empty())
    scope.entry.setArgAttrsAttr(b.getArrayAttr(names));
  if (!used.empty())
    scope.entry.setSymbolsAttr(b.getStrArrayAttr(SmallVector<StringRef>(used.begin(), used.end())));
  EntryOp finished = scope.entry;
  scope.builder.finishEntry(results, values, scope.location);
  // Whether unused invalid data make a call fail is undefined.
  finished.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

void Generator::makeEntry(unsigned number) {
  EntryHeader header;
  header.name = "entry" + std::to_string(number);
  entryNames.push_back(header.name);
  scope.feedNames.clear();
  scope.pool.clear();
  scope.bound.clear();
  scope.entry = scope.builder.beginEntry(header, scope.location);
  // Each named size occurs in a feed.
  for (const std::string &symbol : scope.symbols)
    scope.addFeed(
        tensorOf({DimExpr::symbol(symbol), scope.random.pick(scope.sizes)}, scope.mainFloat));
  if (scope.random.chance(0.5))
    scope.addFeed(tensorOf({scope.drawSize(), scope.drawSize()}, scope.mainFloat));
  if (scope.entry.getBody().getNumArguments() == 0)
    scope.addFeed(tensorOf({scope.drawSize()}, scope.mainFloat));
  for (int64_t left = scope.style.scale * scope.random.between(3, 14); left > 0; --left)
    statements.makeStatement();
  for (int64_t left = scope.style.scale; left > 0; --left)
    if (scope.random.chance(0.3))
      statements.makeGradients();
  if (!scope.symbols.empty() && scope.random.chance(0.5))
    scope.entry.setBoundsAttr(
        Builder(scope.builder.getContext())
            .getDictionaryAttr(Builder(scope.builder.getContext())
                                   .getNamedAttr(scope.symbols.front(),
                                                 Builder(scope.builder.getContext())
                                                     .getI64IntegerAttr(scope.largest["n"]))));
  finishEntry();
}

/// An entry that returns the state that the others left.
void Generator::makeReader() {
  EntryHeader header;
  header.name = "variables";
  entryNames.push_back(header.name);
  scope.feedNames.clear();
  scope.pool.clear();
  scope.entry = scope.builder.beginEntry(header, scope.location);
  std::vector<EntryValue> results;
  Values values;
  for (auto [i, type] : llvm::enumerate(scope.variables)) {
    std::string name = "v" + std::to_string(i);
    values.push_back(scope.builder.getResources().read(name, type, scope.location));
    results.push_back({"last_" + name, type, scope.location});
  }
  scope.builder.finishEntry(results, values, scope.location);
}

std::map<std::string, int64_t> Generator::drawSizes() {
  static const int64_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 257};
  std::map<std::string, int64_t> result;
  for (const std::string &symbol : scope.symbols) {
    int64_t size = scope.random.pick(kSizes);
    result[symbol] = size > scope.largest[symbol] ? scope.random.between(2, 7) : size;
  }
  return result;
}

void Generator::planCalls() {
  for (int64_t left = scope.random.between(2, 4); left > 0; --left)
    for (const std::string &name : entryNames)
      if (scope.random.chance(name == "variables" ? 0.3 : 0.8))
        calls.push_back({name, drawSizes(), scope.random.next() >> 33});
  if (!scope.variables.empty())
    calls.push_back({"variables", {}, 1});
}

Program Generator::run() {
  ScopedDiagnosticHandler quiet(scope.builder.getContext(), [](Diagnostic &) { return success(); });
  choosePalette();
  makeVariables();
  int64_t count = scope.random.chance(0.3) ? 2 : 1;
  for (int64_t i = 0; i < count; ++i)
    makeEntry(i);
  if (!scope.variables.empty())
    makeReader();
  planCalls();
  Program program{std::move(module), std::move(calls), ""};
  if (scope.style.hasDevices)
    drawDevices(program, scope.random.apart("devices"));
  return program;
}

Program makeProgram(MLIRContext &context, uint64_t seed, const Style &style) {
  return Generator(context, seed, style).run();
}

} // namespace tfc::random
