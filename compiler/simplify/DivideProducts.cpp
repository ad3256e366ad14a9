//===- DivideProducts.cpp - Products with the parts of concatenations -----===//
//
// A decoder appends the keys and values of a token to those of all earlier ones, and multiplies the
// token's few rows by the whole. Copying the whole takes longer than the product, so this pass
// multiplies by each part where it is, and joins or adds up the small results.
//
// Runs after placement: GPUs have kernels for attention as a whole.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/OnCpu.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_DIVIDEPRODUCTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// A factor with fewer elements is copied faster than another kernel starts.
static constexpr int64_t kLeastElements = 4096;
/// The results of the parts have at most this share of the factor's elements.
static constexpr int64_t kShare = 4;
/// The value of a size that is unknown.
static constexpr int64_t kTypicalSize = 256;

static int64_t estimateElements(Value value) {
  int64_t count = 1;
  for (const DimExpr &size : shapeOf(value.getType())) {
    std::optional<int64_t> known = size.evaluate([](StringRef) { return kTypicalSize; });
    if (!known || llvm::MulOverflow(count, *known, count))
      return std::numeric_limits<int64_t>::max();
  }
  return count;
}

namespace {
/// A product with a factor that is a concatenation along an axis of its matrices.
struct DividedProduct {
  MatmulOp op;
  unsigned factor; // 0 or 1
  ConcatOp concat;
  TransposeOp transpose; // of the concatenation; may be null
  int64_t axis;          // of the factor, counted from the end: 1 or 2
};
} // namespace

static bool isTransposed(MatmulOp op, unsigned factor) {
  return factor == 0 ? op.getTransposeLhs() : op.getTransposeRhs();
}

/// Returns true if the parts are summands, rather than rows or columns of the result.
static bool isSummed(DividedProduct product) {
  // The columns of the first matrix and the rows of the second.
  int64_t summed = product.factor == 0 ? 1 : 2;
  return (product.axis == summed) != isTransposed(product.op, product.factor);
}

static std::optional<DividedProduct> match(MatmulOp op, unsigned factor) {
  Value value = op->getOperand(factor);
  DividedProduct product{op, factor, {}, value.getDefiningOp<TransposeOp>(), 0};
  if (product.transpose)
    value = product.transpose.getX();
  product.concat = value.getDefiningOp<ConcatOp>();
  Type elementType = elementTypeOf(op.getType());
  if (!product.concat || !tfc::isOnCpu(op) || !isa<Float32Type, Float64Type>(elementType))
    return std::nullopt;
  int64_t rank = shapeOf(value.getType()).size();
  int64_t axis = *normalizeAxis(product.concat.getAxis(), rank);
  if (product.transpose) {
    SmallVector<int64_t> permutation = product.transpose.getPermutationVector();
    axis = llvm::find(permutation, axis) - permutation.begin();
  }
  product.axis = rank - axis;
  int64_t elements = estimateElements(value), parts = product.concat.getXs().size();
  bool pays =
      elements >= kLeastElements && product.axis <= 2 &&
      estimateElements(op.getResult()) <= elements / (kShare * std::max<int64_t>(1, parts - 1));
  return pays ? std::optional(product) : std::nullopt;
}

/// Matches a product if nothing needs the concatenation as a whole.
static std::optional<DividedProduct> match(MatmulOp op) {
  for (unsigned factor : {1, 0}) {
    std::optional<DividedProduct> product = match(op, factor);
    if (!product)
      continue;
    auto isDivided = [](OpOperand &use) {
      auto other = dyn_cast<MatmulOp>(use.getOwner());
      return other && match(other, use.getOperandNumber());
    };
    auto isOnlyTransposed = [&](OpOperand &use) { return use.getOwner() == product->transpose; };
    if (product->transpose ? llvm::all_of(product->concat->getUses(), isOnlyTransposed) &&
                                 llvm::all_of(product->transpose->getUses(), isDivided)
                           : llvm::all_of(product->concat->getUses(), isDivided))
      return product;
  }
  return std::nullopt;
}

namespace {
/// Creates the products with the parts.
class ProductDivider {
public:
  explicit ProductDivider(DividedProduct product)
      : product(product), b(product.op), loc(product.op.getLoc()) {}

  Value build();

private:
  template <typename Op, typename... Args> Value create(Args &&...args) {
    auto created = Op::create(b, loc, std::forward<Args>(args)...);
    copyPlacement(product.op, created);
    return created;
  }
  Value multiply(Value part, Value other);
  Value sliceOfOther(const DimExpr &start, const DimExpr &size);

  DividedProduct product;
  OpBuilder b;
  Location loc;
};
} // namespace

Value ProductDivider::multiply(Value part, Value other) {
  bool isFirst = product.factor == 0;
  return create<MatmulOp>(isFirst ? part : other, isFirst ? other : part,
                          product.op.getTransposeLhs(), product.op.getTransposeRhs());
}

/// The columns or rows of the other factor by which a part is multiplied.
Value ProductDivider::sliceOfOther(const DimExpr &start, const DimExpr &size) {
  unsigned number = 1 - product.factor;
  Value other = product.op->getOperand(number);
  Shape shape = shapeOf(other.getType()), starts(shape.size(), DimExpr(0));
  int64_t summed = (number == 0) != isTransposed(product.op, number) ? 1 : 2;
  starts.end()[-summed] = start;
  shape.end()[-summed] = size;
  return create<SliceOp>(other, DimsAttr::get(b.getContext(), starts),
                         DimsAttr::get(b.getContext(), shape), DenseI64ArrayAttr());
}

Value ProductDivider::build() {
  SmallVector<Value> results;
  DimExpr begin(0);
  for (Value part : product.concat.getXs()) {
    if (product.transpose)
      part = create<TransposeOp>(part, product.transpose.getPermutationAttr());
    DimExpr size = shapeOf(part.getType()).end()[-product.axis];
    Value other = product.op->getOperand(1 - product.factor);
    results.push_back(multiply(part, isSummed(product) ? sliceOfOther(begin, size) : other));
    begin = begin + size;
  }
  if (!isSummed(product)) {
    int64_t axis = shapeOf(product.op.getType()).size() - (product.factor == 0 ? 2 : 1);
    return create<ConcatOp>(results, b.getI64IntegerAttr(axis));
  }
  Value sum = results.front();
  for (Value result : ArrayRef(results).drop_front())
    sum = create<AddOp>(sum, result);
  return sum;
}

namespace {
struct DivideProductsPass : tfc::impl::DivideProductsBase<DivideProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<DividedProduct> products;
    getOperation().walk([&](MatmulOp op) {
      if (std::optional<DividedProduct> product = match(op))
        products.push_back(*product);
    });
    for (const DividedProduct &product : products) {
      MatmulOp op = product.op;
      op.replaceAllUsesWith(ProductDivider(product).build());
      op.erase();
    }
  }
};
} // namespace
