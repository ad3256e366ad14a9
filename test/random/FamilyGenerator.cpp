//===- FamilyGenerator.cpp - Statements that chance alone rarely makes ----===//
//
// Generates scalar operations on numbers at which they change behaviour;
// convolutions and pooling, whose operands must fit each other; lists, which
// need several statements; data-dependent sizes.
//
//===----------------------------------------------------------------------===//

#include "FamilyGenerator.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// Extreme numbers
//===----------------------------------------------------------------------===//

/// An operation on some of `values`, whichever it accepts.
bool FamilyGenerator::tryOperands(const OpSignature &op, ArrayRef<Value> values) {
  Values operands;
  for (size_t i = 0; i < op.operands.size() && !op.operands[i].isVariadic; ++i)
    operands.push_back(scope.random.pick(values));
  if (operands.size() == 2 && scope.random.chance(0.85)) // not x with x
    operands.assign(values.begin(), values.end());
  Attributes attributes = operations.pickAttributes(op, operands);
  return bool(scope.make(op.name, operands, attributes));
}

/// Some scalar operations on the same two operands of any dtype, which hold extreme numbers.
bool FamilyGenerator::makeScalars() {
  RankedTensorType type = tensorOf({scope.random.pick(scope.sizes)}, scope.drawAnyDtype());
  size_t known = scope.pool.size();
  bool isShort = type.getNumElements() <= 64;
  Values operands{isShort && scope.random.chance(0.2) ? scope.addConstant(type, false, 1)
                                                      : scope.addFeed(type, "_extreme")};
  // A division by zero fails a call.
  operands.push_back(scope.addFeed(type, scope.isRisky ? "_extreme" : "_extreme_nonzero"));
  if (scope.random.apart("folded").chance(0.3))
    operands = {scope.addSplat(type, false), scope.addSplat(type, true)};
  for (int64_t left = scope.random.between(4, 9); left > 0; --left)
    tryOperands(operations.pickElementwiseOp(), operands);
  return scope.pool.size() > known;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A product of matrices that may be transposed, by the product, before it, or by both.
bool FamilyGenerator::makeProduct() {
  Shape batch;
  if (scope.random.chance(0.3))
    batch.push_back(scope.drawSize());
  Type elementType = scope.random.chance(0.85) ? scope.mainFloat : scope.drawAnyDtype();
  auto operand = [&](DimExpr rows, DimExpr columns, bool isTransposed) -> Value {
    bool isMoved = scope.random.chance(0.5);
    if (isMoved != isTransposed)
      std::swap(rows, columns);
    Shape shape = batch;
    shape.append({rows, columns});
    RankedTensorType type = tensorOf(shape, elementType);
    Value x = scope.isTooLarge(type) ? Value() : scope.valueOf(type);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    std::swap(order.back(), order.end()[-2]);
    return isMoved ? scope.make("transpose", x, scope.intsAttr("permutation", order)) : x;
  };
  DimExpr rows = scope.drawSize(), inner = scope.drawSize(), columns = scope.drawSize();
  bool isLeft = scope.random.chance(0.5), isRight = scope.random.chance(0.5);
  Value lhs = operand(rows, inner, isLeft), rhs = operand(inner, columns, isRight);
  Builder b(scope.builder.getContext());
  return bool(scope.make("matmul", {lhs, rhs},
                         {b.getNamedAttr("transpose_lhs", b.getBoolAttr(isLeft)),
                          b.getNamedAttr("transpose_rhs", b.getBoolAttr(isRight))}));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Stride, dilation and padding for windows over `rank` axes: one number or one for each.
Attributes FamilyGenerator::pickWindowOptions(size_t rank) {
  Attributes attributes;
  auto pickNumbers = [&](StringRef name, size_t each, int64_t low, int64_t high) {
    SmallVector<int64_t> numbers;
    for (size_t left = scope.random.chance(0.4) ? 1 : each; left > 0; --left)
      numbers.push_back(scope.random.between(low, high));
    attributes.push_back(scope.intsAttr(name, numbers));
  };
  if (scope.random.chance(0.5))
    pickNumbers("stride", rank, 1, 3);
  if (scope.random.chance(0.25))
    pickNumbers("dilation", rank, 1, 2);
  double padding = scope.random.unit();
  Builder b(scope.builder.getContext());
  if (padding < 0.35)
    attributes.push_back(b.getNamedAttr(
        "padding", PaddingModeAttr::get(b.getContext(),
                                        padding < 0.25 ? PaddingMode::Same : PaddingMode::Causal)));
  else if (padding < 0.7)
    pickNumbers("pads", scope.random.chance(0.5) ? rank : 2 * rank, 0, 2);
  return attributes;
}

/// Images of `rank` axes, if `channels` is a multiple of their number of channels.
Value FamilyGenerator::pickImages(size_t rank, int64_t channels) {
  Type elementType = scope.random.chance(0.85) ? scope.mainFloat : scope.mainInteger;
  Value known = scope.findValue([&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType() == elementType && size_t(type.getRank()) == rank + 2 &&
           shapeOf(type).back().isConstant(channels);
  });
  if (known && scope.random.chance(0.7))
    return known;
  Shape shape{scope.random.chance(0.5) ? scope.drawSize() : DimExpr(scope.random.between(1, 3))};
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(scope.random.chance(0.3) ? scope.drawSize()
                                             : DimExpr(scope.random.between(1, 9)));
  shape.push_back(channels);
  RankedTensorType type = tensorOf(shape, elementType);
  return scope.isTooLarge(type) ? Value() : scope.valueOf(type);
}

Value FamilyGenerator::pickKernel(Value images, ArrayRef<int64_t> taps, int64_t perGroup,
                                  int64_t features) {
  Shape shape;
  for (int64_t tap : taps)
    shape.push_back(tap);
  shape.push_back(perGroup);
  shape.push_back(features);
  RankedTensorType type = tensorOf(shape, elementTypeOf(images.getType()));
  return scope.isTooLarge(type) ? Value() : scope.valueOf(type);
}

/// A convolution, its transpose, or the gradient of its kernel.
bool FamilyGenerator::makeConvolution() {
  static const int64_t kRanks[] = {1, 1, 2, 2, 2, 3};
  static const int64_t kChannels[] = {1, 2, 3, 4, 8, 16};
  static const StringRef kNames[] = {"convolution", "convolution", "convolution_transpose",
                                     "convolution_weights"};
  size_t rank = scope.random.pick(kRanks);
  int64_t groups = scope.random.pick(std::initializer_list<int64_t>{1, 1, 1, 2, 3, 8});
  int64_t perGroup = groups == 8 ? 1 : scope.random.pick(kChannels);
  int64_t features = groups * scope.random.pick(std::initializer_list<int64_t>{1, 2, 3, 4, 8, 16});
  SmallVector<int64_t> taps;
  SmallVector<DimExpr> tapSizes;
  for (size_t i = 0; i < rank; ++i)
    tapSizes.push_back(taps.emplace_back(scope.random.between(1, 3)));
  Attributes options = pickWindowOptions(rank);
  Builder b(scope.builder.getContext());
  if (groups != 1)
    options.push_back(b.getNamedAttr("groups", b.getI64IntegerAttr(groups)));
  StringRef name = scope.random.pick(kNames);
  bool isTransposed = name == "convolution_transpose";
  Value images = pickImages(rank, isTransposed ? features : groups * perGroup);
  if (!images)
    return false;
  Value kernel = pickKernel(images, taps, perGroup, features);
  if (name != "convolution_weights")
    return kernel && scope.make(name, {images, kernel}, options);
  Value result = kernel ? scope.make("convolution", {images, kernel}, options) : Value();
  if (!result)
    return false;
  Value gradient = scope.valueOf(cast<RankedTensorType>(result.getType()));
  options.push_back(scope.dimsAttr("size", tapSizes));
  return bool(scope.make(name, {images, gradient}, options));
}

bool FamilyGenerator::makePool() {
  static const StringRef kNames[] = {"avg_pool", "max_pool", "max_pool_with_indices"};
  size_t rank = scope.random.between(1, 2);
  Value images =
      pickImages(rank, scope.random.pick(std::initializer_list<int64_t>{1, 2, 3, 8, 16, 17}));
  Attributes options = pickWindowOptions(rank);
  SmallVector<int64_t> size;
  for (size_t left = scope.random.chance(0.4) ? 1 : rank; left > 0; --left)
    size.push_back(scope.random.between(1, 3));
  options.push_back(scope.intsAttr("size", size));
  StringRef name = scope.random.pick(kNames);
  Builder b(scope.builder.getContext());
  if (scope.random.chance(0.25))
    options.push_back(b.getNamedAttr("ceil", b.getBoolAttr(true)));
  if (name == "avg_pool") {
    options.push_back(b.getNamedAttr("count_padding", b.getBoolAttr(scope.random.chance(0.5))));
  }
  return images && scope.make(name, images, options);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// A list of slices, or of zeros.
bool FamilyGenerator::makeList() {
  if (scope.random.chance(0.6)) {
    Value x = scope.findValue([](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() > 0;
    });
    return x && scope.make("list_unstack", x, {});
  }
  Shape shape;
  for (int64_t left = scope.random.below(3); left > 0; --left)
    shape.push_back(scope.drawSize());
  Builder b(scope.builder.getContext());
  Value count = scope.builder.scalar(scope.random.below(4), b.getI32Type(), scope.location);
  return bool(scope.make(
      "list_create", count,
      {scope.dimsAttr("shape", shape),
       b.getNamedAttr("dtype", TypeAttr::get(scope.random.chance(0.7) ? scope.mainFloat
                                                                      : scope.drawDtype()))}));
}

/// Reads a tensor from each list without uses: a list cannot be fetched.
void FamilyGenerator::readLists(size_t from) {
  Builder b(scope.builder.getContext());
  for (size_t i = from; i < scope.pool.size(); ++i) {
    Value list = scope.pool[i];
    if (!isa<ListType>(list.getType()) || !list.use_empty())
      continue;
    bool isExact = true;
    std::optional<DimExpr> size = sizeOfList(list, isExact);
    if (size && isExact && scope.attempt([&] {
          return bool(scope.make("list_stack", list, {scope.dimsAttr("size", {*size})}));
        }))
      continue;
    scope.make("list_size", list, {});
    if (size && isNonNegative(*size - 1) == true)
      scope.make("list_read",
                 {list, scope.builder.scalar(int64_t(0), b.getI32Type(), scope.location)}, {});
  }
}

//===----------------------------------------------------------------------===//
// Data-dependent sizes
//===----------------------------------------------------------------------===//

/// Names a size: the number of true elements of a mask, which selects elements, or a number in a
/// feed.
bool FamilyGenerator::makeSize() {
  Builder b(scope.builder.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  if (scope.random.chance(0.4)) {
    int64_t most = scope.random.between(1, 5);
    scope.bind(scope.addFeed(tensorOf({}, scope.random.chance(0.5) ? i32 : i64),
                             "_below_" + std::to_string(most + 1)),
               most);
    Value one = scope.valueOf(tensorOf({}, scope.mainFloat));
    Shape shape{DimExpr::symbol(scope.bound.back())};
    if (scope.random.chance(0.6))
      shape.push_back(scope.drawSize());
    return bool(scope.make("broadcast", one, {scope.dimsAttr("shape", shape)}));
  }
  Value x = scope.findValue([](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() > 0;
  });
  if (!x)
    return false;
  DimExpr most = shapeOf(x.getType())[0];
  Value mask = scope.valueOf(tensorOf({most}, b.getI1Type()));
  Value ones = scope.make("cast", mask, {b.getNamedAttr("dtype", TypeAttr::get(i64))});
  Value count = ones ? scope.make("sum", ones, {}) : Value();
  if (!count)
    return false;
  scope.bind(count, most);
  Value places = scope.make("true_positions", mask,
                            {scope.dimsAttr("size", {DimExpr::symbol(scope.bound.back())})});
  return places && scope.make("gather", {x, places}, {});
}

bool FamilyGenerator::tryBinding() {
  size_t known = scope.bound.size();
  bool isMade = scope.attempt([&] { return makeSize(); });
  if (!isMade)
    scope.bound.resize(known);
  return isMade;
}

} // namespace tfc::random
