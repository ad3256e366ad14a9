//===- GenerateFamilies.cpp - What chance alone makes too seldom ------------===//
//
// Scalar operations on the numbers where they decide; convolutions and pools,
// whose operands must fit each other; lists, which need several statements;
// sizes that the data decide.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

bool Generator::attempt(llvm::function_ref<bool()> make) {
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

Value Generator::make(StringRef op, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  if (llvm::is_contained(operands, Value()))
    return {};
  FailureOr<Operation *> made = builder.create(op, operands, attributes, location);
  if (failed(made) ||
      llvm::any_of((*made)->getResultTypes(), [&](Type type) { return isTooLarge(type); }))
    return {};
  remember((*made)->getResults());
  return (*made)->getResult(0);
}

NamedAttribute Generator::dimsAttr(StringRef name, ArrayRef<DimExpr> sizes) {
  MLIRContext *context = builder.getContext();
  return {StringAttr::get(context, name), DimsAttr::get(context, sizes)};
}

NamedAttribute Generator::intsAttr(StringRef name, ArrayRef<int64_t> numbers) {
  MLIRContext *context = builder.getContext();
  return {StringAttr::get(context, name), DenseI64ArrayAttr::get(context, numbers)};
}

//===----------------------------------------------------------------------===//
// Extreme numbers
//===----------------------------------------------------------------------===//

/// An operation on some of `values`, of whichever it takes.
bool Generator::tryOperands(const OpSignature &op, ArrayRef<Value> values) {
  Values operands;
  for (size_t i = 0; i < op.operands.size() && !op.operands[i].isVariadic; ++i)
    operands.push_back(random.pick(values));
  if (operands.size() == 2 && random.chance(0.85)) // not x with x
    operands.assign(values.begin(), values.end());
  Attributes attributes = pickAttributes(op, operands);
  return bool(make(op.name, operands, attributes));
}

/// Some scalar operations, on the same two operands of any dtype, whose numbers are extreme.
bool Generator::makeScalars() {
  RankedTensorType type = tensorOf({random.pick(sizes)}, drawAnyDtype());
  size_t known = pool.size();
  bool isShort = type.getNumElements() <= 64;
  Values operands{isShort && random.chance(0.2) ? addConstant(type, false, 1)
                                                : addFeed(type, "_extreme")};
  // A division by zero fails a call.
  operands.push_back(addFeed(type, isRisky ? "_extreme" : "_extreme_nonzero"));
  if (random.apart("folded").chance(0.3))
    operands = {addSplat(type, false), addSplat(type, true)};
  for (int64_t left = random.between(4, 9); left > 0; --left)
    tryOperands(pickElementwiseOp(), operands);
  return pool.size() > known;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A product of matrices that may be transposed, by the product, before it, or both.
bool Generator::makeProduct() {
  Shape batch;
  if (random.chance(0.3))
    batch.push_back(drawSize());
  Type elementType = random.chance(0.85) ? mainFloat : drawAnyDtype();
  auto operand = [&](DimExpr rows, DimExpr columns, bool isTransposed) -> Value {
    bool isMoved = random.chance(0.5);
    if (isMoved != isTransposed)
      std::swap(rows, columns);
    Shape shape = batch;
    shape.append({rows, columns});
    RankedTensorType type = tensorOf(shape, elementType);
    Value x = isTooLarge(type) ? Value() : valueOf(type);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    std::swap(order.back(), order.end()[-2]);
    return isMoved ? make("transpose", x, intsAttr("permutation", order)) : x;
  };
  DimExpr rows = drawSize(), inner = drawSize(), columns = drawSize();
  bool isLeft = random.chance(0.5), isRight = random.chance(0.5);
  Value lhs = operand(rows, inner, isLeft), rhs = operand(inner, columns, isRight);
  Builder b(builder.getContext());
  return bool(make("matmul", {lhs, rhs},
                   {b.getNamedAttr("transpose_lhs", b.getBoolAttr(isLeft)),
                    b.getNamedAttr("transpose_rhs", b.getBoolAttr(isRight))}));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Stride, dilation and padding for windows over `rank` axes: one number or one for each.
Generator::Attributes Generator::pickWindowOptions(size_t rank) {
  Attributes attributes;
  auto pickNumbers = [&](StringRef name, size_t each, int64_t low, int64_t high) {
    SmallVector<int64_t> numbers;
    for (size_t left = random.chance(0.4) ? 1 : each; left > 0; --left)
      numbers.push_back(random.between(low, high));
    attributes.push_back(intsAttr(name, numbers));
  };
  if (random.chance(0.5))
    pickNumbers("stride", rank, 1, 3);
  if (random.chance(0.25))
    pickNumbers("dilation", rank, 1, 2);
  double padding = random.unit();
  Builder b(builder.getContext());
  if (padding < 0.35)
    attributes.push_back(b.getNamedAttr("padding", b.getStringAttr("same")));
  else if (padding < 0.7)
    pickNumbers("pads", random.chance(0.5) ? rank : 2 * rank, 0, 2);
  return attributes;
}

/// Images of `rank` axes, if `channels` is a multiple of what they have.
Value Generator::pickImages(size_t rank, int64_t channels) {
  Type elementType = random.chance(0.85) ? mainFloat : mainInteger;
  Value known = findValue([&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType() == elementType && size_t(type.getRank()) == rank + 2 &&
           shapeOf(type).back().isConstant(channels);
  });
  if (known && random.chance(0.7))
    return known;
  Shape shape{random.chance(0.5) ? drawSize() : DimExpr(random.between(1, 3))};
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(random.chance(0.3) ? drawSize() : DimExpr(random.between(1, 9)));
  shape.push_back(channels);
  RankedTensorType type = tensorOf(shape, elementType);
  return isTooLarge(type) ? Value() : valueOf(type);
}

Value Generator::pickKernel(Value images, ArrayRef<int64_t> taps, int64_t perGroup,
                            int64_t features) {
  Shape shape;
  for (int64_t tap : taps)
    shape.push_back(tap);
  shape.push_back(perGroup);
  shape.push_back(features);
  RankedTensorType type = tensorOf(shape, elementTypeOf(images.getType()));
  return isTooLarge(type) ? Value() : valueOf(type);
}

/// A convolution, its transpose, or the gradient of its kernel.
bool Generator::makeConvolution() {
  static const int64_t kRanks[] = {1, 1, 2, 2, 2, 3};
  static const int64_t kChannels[] = {1, 2, 3, 4, 8, 16};
  static const StringRef kNames[] = {"convolution", "convolution", "convolution_transpose",
                                     "convolution_weights"};
  size_t rank = random.pick(kRanks);
  int64_t groups = random.pick(std::initializer_list<int64_t>{1, 1, 1, 2, 3, 8});
  int64_t perGroup = groups == 8 ? 1 : random.pick(kChannels);
  int64_t features = groups * random.pick(std::initializer_list<int64_t>{1, 2, 3, 4, 8, 16});
  SmallVector<int64_t> taps;
  SmallVector<DimExpr> tapSizes;
  for (size_t i = 0; i < rank; ++i)
    tapSizes.push_back(taps.emplace_back(random.between(1, 3)));
  Attributes options = pickWindowOptions(rank);
  Builder b(builder.getContext());
  if (groups != 1)
    options.push_back(b.getNamedAttr("groups", b.getI64IntegerAttr(groups)));
  StringRef name = random.pick(kNames);
  bool isTransposed = name == "convolution_transpose";
  Value images = pickImages(rank, isTransposed ? features : groups * perGroup);
  if (!images)
    return false;
  Value kernel = pickKernel(images, taps, perGroup, features);
  if (name != "convolution_weights")
    return kernel && make(name, {images, kernel}, options);
  Value result = kernel ? make("convolution", {images, kernel}, options) : Value();
  if (!result)
    return false;
  Value gradient = valueOf(cast<RankedTensorType>(result.getType()));
  options.push_back(dimsAttr("size", tapSizes));
  return bool(make(name, {images, gradient}, options));
}

bool Generator::makePool() {
  static const StringRef kNames[] = {"avg_pool", "max_pool", "max_pool_with_indices"};
  size_t rank = random.between(1, 2);
  Value images = pickImages(rank, random.pick(std::initializer_list<int64_t>{1, 2, 3, 8, 16, 17}));
  Attributes options = pickWindowOptions(rank);
  SmallVector<int64_t> size;
  for (size_t left = random.chance(0.4) ? 1 : rank; left > 0; --left)
    size.push_back(random.between(1, 3));
  options.push_back(intsAttr("size", size));
  StringRef name = random.pick(kNames);
  Builder b(builder.getContext());
  if (random.chance(0.25))
    options.push_back(b.getNamedAttr("ceil", b.getBoolAttr(true)));
  if (name == "avg_pool") {
    options.push_back(b.getNamedAttr("count_padding", b.getBoolAttr(random.chance(0.5))));
  }
  return images && make(name, images, options);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The size of a list, or, of one that a loop has changed, the least that it may be.
std::optional<DimExpr> Generator::sizeOfList(Value list, bool &isExact) {
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

/// A list of slices, or of zeros.
bool Generator::makeList() {
  if (random.chance(0.6)) {
    Value x = findValue([](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() > 0;
    });
    return x && make("list_unstack", x, {});
  }
  Shape shape;
  for (int64_t left = random.below(3); left > 0; --left)
    shape.push_back(drawSize());
  Builder b(builder.getContext());
  Value count = builder.scalar(random.below(4), b.getI32Type(), location);
  return bool(
      make("list_create", count,
           {dimsAttr("shape", shape),
            b.getNamedAttr("dtype", TypeAttr::get(random.chance(0.7) ? mainFloat : drawDtype()))}));
}

/// Takes a tensor of each list that nothing reads: a list cannot be fetched.
void Generator::readLists(size_t from) {
  Builder b(builder.getContext());
  for (size_t i = from; i < pool.size(); ++i) {
    Value list = pool[i];
    if (!isa<ListType>(list.getType()) || !list.use_empty())
      continue;
    bool isExact = true;
    std::optional<DimExpr> size = sizeOfList(list, isExact);
    if (size && isExact &&
        attempt([&] { return bool(make("list_stack", list, {dimsAttr("size", {*size})})); }))
      continue;
    make("list_size", list, {});
    if (size && isNonNegative(*size - 1) == true)
      make("list_read", {list, builder.scalar(int64_t(0), b.getI32Type(), location)}, {});
  }
}

//===----------------------------------------------------------------------===//
// Sizes that the data decide
//===----------------------------------------------------------------------===//

bool Generator::mentions(Type type, ArrayRef<std::string> names) {
  SmallVector<std::string> used;
  for (const DimExpr &size :
       shapeOf(isa<ListType>(type) ? Type(cast<ListType>(type).getElementType()) : type))
    size.collectSymbols(used);
  return llvm::any_of(used,
                      [&](const std::string &name) { return llvm::is_contained(names, name); });
}

void Generator::bind(Value count, const DimExpr &most) {
  std::string name = "k" + std::to_string(++boundSizes);
  builder.bindSize(count, name, most, location);
  largest[name] = most.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
                        auto found = largest.find(symbol.str());
                        return found == largest.end() ? std::nullopt : std::optional(found->second);
                      })
                      .value_or(mostElements);
  bound.push_back(name);
}

/// Names a size: how many elements of a mask are true, and takes those; or a number that arrives.
bool Generator::makeSize() {
  Builder b(builder.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  if (random.chance(0.4)) {
    int64_t most = random.between(1, 5);
    bind(
        addFeed(tensorOf({}, random.chance(0.5) ? i32 : i64), "_below_" + std::to_string(most + 1)),
        most);
    Value one = valueOf(tensorOf({}, mainFloat));
    Shape shape{DimExpr::symbol(bound.back())};
    if (random.chance(0.6))
      shape.push_back(drawSize());
    return bool(make("broadcast", one, {dimsAttr("shape", shape)}));
  }
  Value x = findValue([](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() > 0;
  });
  if (!x)
    return false;
  DimExpr most = shapeOf(x.getType())[0];
  Value mask = valueOf(tensorOf({most}, b.getI1Type()));
  Value ones = make("cast", mask, {b.getNamedAttr("dtype", TypeAttr::get(i64))});
  Value count = ones ? make("sum", ones, {}) : Value();
  if (!count)
    return false;
  bind(count, most);
  Value places = make("true_positions", mask, {dimsAttr("size", {DimExpr::symbol(bound.back())})});
  return places && make("gather", {x, places}, {});
}

bool Generator::tryBinding() {
  size_t known = bound.size();
  bool isMade = attempt([&] { return makeSize(); });
  if (!isMade)
    bound.resize(known);
  return isMade;
}

} // namespace tfc::random
