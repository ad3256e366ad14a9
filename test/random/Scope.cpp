//===- Scope.cpp - Values, sizes and types for statements -----------------===//
//
// Keeps the values, sizes and types that statements may use, and draws from them. All generators of
// statements share it, and it generates none.
//
//===----------------------------------------------------------------------===//

#include "Scope.h"
#include "Extremes.h"
#include "frontend/EqualSizes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// Types and sizes
//===----------------------------------------------------------------------===//

Type Scope::drawAnyDtype() {
  static const StringRef kAll[] = {"f32", "f64", "f16", "bf16", "i8",  "i16", "i32",
                                   "i64", "u8",  "u16", "u32",  "u64", "bool"};
  return elementTypeByName(builder.getContext(), random.pick(kAll));
}

Type Scope::drawDtype() {
  double choice = random.unit();
  if (choice < 0.64)
    return mainFloat;
  if (choice < 0.83)
    return mainInteger;
  if (choice < 0.90)
    return elementTypeByName(builder.getContext(), "bool");
  return drawAnyDtype();
}

/// A name, or an expression of names.
DimExpr Scope::drawNamedSize() {
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

DimExpr Scope::drawSize() {
  if (!bound.empty() && random.chance(0.25))
    return DimExpr::symbol(random.pick(bound));
  if (!symbols.empty() && random.chance(0.35))
    return drawNamedSize();
  if (random.chance(0.12))
    return 1;
  return random.pick(sizes);
}

bool Scope::mentions(Type type, ArrayRef<std::string> names) {
  SmallVector<std::string> used;
  for (const DimExpr &size :
       shapeOf(isa<ListType>(type) ? Type(cast<ListType>(type).getElementType()) : type))
    size.collectSymbols(used);
  return llvm::any_of(used,
                      [&](const std::string &name) { return llvm::is_contained(names, name); });
}

void Scope::bind(Value count, const DimExpr &most) {
  // Graph text binds equal computations to one size.
  if (BindSizeOp equal = findEqualSize(*builder.currentBlock(), count, most))
    return bound.push_back(equal.getName());
  std::string name = "k" + std::to_string(++boundSizes);
  builder.bindSize(count, name, most, location);
  largest[name] = most.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
                        auto found = largest.find(symbol.str());
                        return found == largest.end() ? std::nullopt : std::optional(found->second);
                      })
                      .value_or(mostElements);
  bound.push_back(name);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool isLarger(const Shape &shape, const std::map<std::string, int64_t> &symbols, int64_t limit) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto found = symbols.find(name.str());
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  return elementCount(shape).evaluate(lookup).value_or(limit + 1) > limit;
}

bool Scope::isTooLarge(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isTooLarge(list.getElementType());
  return shapeOf(type).size() > 5 || isLarger(shapeOf(type), largest, mostElements);
}

Value Scope::addFeed(RankedTensorType type, StringRef suffix) {
  std::string name = "x" + std::to_string(feedNames.size()) + suffix.str();
  feedNames.push_back(name);
  return entry.getBody().addArgument(type, location);
}

void Scope::dropFeeds(size_t count) {
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

Value Scope::addConstant(RankedTensorType type, bool isPositive, double extremes) {
  Type elementType = type.getElementType();
  bool isExtreme = !isPositive && !elementType.isInteger(1) && random.chance(extremes);
  SmallVector<Attribute> elements;
  int64_t count = random.chance(0.4) ? 1 : std::max<int64_t>(type.getNumElements(), 1);
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        drawElement(random, elementType, isPositive, isExtreme && random.chance(0.7)));
  return builder.constant(DenseElementsAttr::get(type, elements), location);
}

Value Scope::addSplat(RankedTensorType type, bool isPositive) {
  Attribute element = drawElement(random, type.getElementType(), isPositive, false);
  return builder.constant(DenseElementsAttr::get(type, element), location);
}

Values Scope::visible() {
  Values values(entry.getBody().getArguments());
  llvm::append_range(values, pool);
  return values;
}

Value Scope::findValue(llvm::function_ref<bool(Value)> accept) {
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

Value Scope::valueOf(RankedTensorType type, bool isPositive) {
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

void Scope::remember(ValueRange values) {
  for (Value value : values)
    if (isa<RankedTensorType, ListType>(value.getType()))
      pool.push_back(value);
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

bool Scope::attempt(llvm::function_ref<bool()> make) {
  size_t feeds = entry.getBody().getNumArguments(), known = pool.size();
  Block *block = builder.currentBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  if (make())
    return true;
  while (!block->empty() && &block->back() != last)
    block->back().erase();
  pool.resize(known);
  dropFeeds(feeds);
  return false;
}

Value Scope::make(StringRef op, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  if (llvm::is_contained(operands, Value()))
    return {};
  FailureOr<Operation *> made = builder.create(op, operands, attributes, location);
  if (failed(made) ||
      llvm::any_of((*made)->getResultTypes(), [&](Type type) { return isTooLarge(type); }))
    return {};
  remember((*made)->getResults());
  return (*made)->getResult(0);
}

NamedAttribute Scope::dimsAttr(StringRef name, ArrayRef<DimExpr> sizes) {
  MLIRContext *context = builder.getContext();
  return {StringAttr::get(context, name), DimsAttr::get(context, sizes)};
}

NamedAttribute Scope::intsAttr(StringRef name, ArrayRef<int64_t> numbers) {
  MLIRContext *context = builder.getContext();
  return {StringAttr::get(context, name), DenseI64ArrayAttr::get(context, numbers)};
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The size of a list, or a lower bound if a loop has changed the list.
std::optional<DimExpr> sizeOfList(Value list, bool &isExact) {
  auto result = dyn_cast<OpResult>(list);
  Operation *op = list.getDefiningOp();
  if (!op)
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  if (name == "list_unstack")
    return shapeOf(op->getOperand(0).getType())[0];
  if (auto loop = dyn_cast<WhileOp>(op)) {
    isExact = false;
    return sizeOfList(loop.getInits()[result.getResultNumber()], isExact);
  }
  APInt size;
  if (name == "list_create" && matchPattern(op->getOperand(0), m_ConstantInt(&size)))
    return DimExpr(size.getSExtValue());
  if (!name.starts_with("list_") || !isa<ListType>(op->getOperand(0).getType()))
    return std::nullopt;
  isExact &= name != "list_write"; // which may append
  return sizeOfList(op->getOperand(0), isExact);
}

} // namespace tfc::random
