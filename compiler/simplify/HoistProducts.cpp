//===- HoistProducts.cpp - Products of all iterations at once -------------===//
//
// A loop over time multiplies the few rows of a step by weights, often joined to rows that it
// carries, as the cell of an LSTM does. Rows that do not depend on carried values are multiplied
// for all steps by one product before the loop, which reads the weights once.
//
// Runs before gradients are built: those of such a product are products of all steps, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/RunTimeSizes.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_HOISTPRODUCTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// A factor with fewer columns is multiplied where it is: keeping the result takes longer.
static constexpr int64_t kLeastColumns = 32;
/// The value of a size that is unknown.
static constexpr int64_t kTypicalSize = 64;

namespace {
/// A matrix outside of a loop, and whether a product reads it transposed.
struct Weights {
  Value matrix;
  bool isTransposed;
};

/// Hoists products out of the body of one loop.
class LoopProducts {
public:
  explicit LoopProducts(WhileOp loop) : loop(loop), boundInside(loop), before(loop), inside(loop) {}

  void hoist();

private:
  Value outside(Value value) const;
  Value stackedSource(Value part) const;
  bool isWorthHoisting(Value part) const;
  SmallVector<Value> partsOf(MatmulOp product) const;

  std::pair<AddOp, Value> findBias(MatmulOp product) const;
  Weights weightsOf(MatmulOp product) const;
  Value multiply(OpBuilder &b, MatmulOp product, Value part, Weights weights);
  Value multiplyBefore(MatmulOp product, Value part, Weights weights, Value bias);
  Value sumOf(MatmulOp product, ArrayRef<Value> parts, Value bias);
  void hoist(MatmulOp product, ArrayRef<Value> parts);

  WhileOp loop;
  RunTimeSizes boundInside;
  /// Create operations before the loop, and before a product in it.
  OpBuilder before, inside;
};
} // namespace

/// Returns true if an entry differentiates by the value: the gradient would not pass through a copy
/// of its computation.
static bool isDifferentiatedBy(Value value) {
  return llvm::any_of(value.getUsers(), llvm::IsaPred<GradientsOp>);
}

/// Returns the value around the loop that `value` has in every iteration; null if there is none.
/// Moves a transpose of such a value before the loop.
Value LoopProducts::outside(Value value) const {
  WhileOp loop = this->loop;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &loop.getBodyBlock() &&
      loop.getYield().getValues()[argument.getArgNumber()] == value)
    return loop.getInits()[argument.getArgNumber()];
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (transpose && transpose->getBlock() == &loop.getBodyBlock() &&
      loop.isDefinedOutsideOfLoop(transpose.getX()))
    transpose->moveBefore(loop);
  return loop.isDefinedOutsideOfLoop(value) ? value : Value();
}

/// Returns the tensor of which `part` is an element in each iteration, if it has one element for
/// each.
Value LoopProducts::stackedSource(Value part) const {
  auto read = part.getDefiningOp<ListReadOp>();
  Value list = read ? outside(read.getList()) : Value();
  auto unstack = list ? list.getDefiningOp<ListUnstackOp>() : ListUnstackOp();
  WhileOp loop = this->loop;
  bool isRead = unstack && read->getBlock() == &loop.getBodyBlock() &&
                shapeOf(unstack.getX().getType()).front() == loop.getTrips()->getExprs().front();
  return isRead ? unstack.getX() : Value();
}

static int64_t estimate(const DimExpr &size) {
  return size.evaluate([](StringRef) { return kTypicalSize; }).value_or(kTypicalSize);
}

/// Returns true if a part is known before the loop, and keeping its product moves fewer elements
/// than reading the weights again in each iteration.
bool LoopProducts::isWorthHoisting(Value part) const {
  if (!outside(part) && !stackedSource(part))
    return false;
  Shape shape = shapeOf(part.getType());
  int64_t rows = 1, columns = estimate(shape.back());
  for (const DimExpr &size : ArrayRef(shape).drop_back())
    rows = llvm::SaturatingMultiply<uint64_t>(rows, std::max<int64_t>(estimate(size), 0));
  return columns >= kLeastColumns && columns / 2 > rows;
}

/// Returns the parts whose products are the product, if one of them is worth hoisting.
SmallVector<Value> LoopProducts::partsOf(MatmulOp product) const {
  int64_t rank = shapeOf(product.getLhs().getType()).size();
  if (rank < 2 || shapeOf(product.getRhs().getType()).size() != 2 || product.getTransposeLhs() ||
      !outside(product.getRhs()))
    return {};
  SmallVector<Value> parts{product.getLhs()};
  auto concat = product.getLhs().getDefiningOp<ConcatOp>();
  // Results with 16 bits would be rounded once more.
  if (concat && !isDifferentiatedBy(concat) && !boundInside.bindsAnyOf(concat) &&
      *normalizeAxis(concat.getAxis(), rank) == rank - 1 &&
      isa<Float32Type, Float64Type>(elementTypeOf(product.getType())))
    parts.assign(concat.getXs().begin(), concat.getXs().end());
  bool pays = llvm::any_of(parts, [&](Value part) { return isWorthHoisting(part); });
  return pays ? parts : SmallVector<Value>();
}

/// Returns the addition of a row to the product and the row around the loop, if this addition is
/// all that reads the product.
std::pair<AddOp, Value> LoopProducts::findBias(MatmulOp product) const {
  auto add = product->hasOneUse() ? dyn_cast<AddOp>(*product->user_begin()) : AddOp();
  if (!add || add->getBlock() != product->getBlock() || add.getType() != product.getType())
    return {};
  Value bias = outside(add.getLhs() == product.getResult() ? add.getRhs() : add.getLhs());
  if (!bias || shapeOf(bias.getType()).size() > 1)
    return {};
  return {add, bias};
}

Weights LoopProducts::weightsOf(MatmulOp product) const {
  Value matrix = outside(product.getRhs());
  auto transpose = matrix.getDefiningOp<TransposeOp>();
  if (transpose && transpose.getPermutationVector() == SmallVector<int64_t>{1, 0} &&
      !isDifferentiatedBy(transpose))
    return {transpose.getX(), !product.getTransposeRhs()};
  return {matrix, product.getTransposeRhs()};
}

Value LoopProducts::multiply(OpBuilder &b, MatmulOp product, Value part, Weights weights) {
  return MatmulOp::create(b, product.getLoc(), part, weights.matrix, /*transpose_lhs=*/false,
                          weights.isTransposed);
}

/// Multiplies all elements of a part by their weights before the loop, and returns the result of an
/// iteration.
Value LoopProducts::multiplyBefore(MatmulOp product, Value part, Weights weights, Value bias) {
  Location loc = product.getLoc();
  Value source = stackedSource(part), all = source ? source : outside(part);
  Shape shape = shapeOf(all.getType());
  DimExpr rows(1);
  for (const DimExpr &size : ArrayRef(shape).drop_back())
    rows = rows * size;
  all = reshapeTo(before, all, {rows, shape.back()});
  all = multiply(before, product, all, weights);
  if (bias)
    all = AddOp::create(before, loc, all, bias);
  shape.back() = shapeOf(all.getType()).back();
  all = reshapeTo(before, all, shape);
  if (!source)
    return all;
  Value list = ListUnstackOp::create(before, loc, all);
  auto read = part.getDefiningOp<ListReadOp>();
  return ListReadOp::create(inside, read.getLoc(), list, read.getIndex());
}

/// Adds up the products with parts, and with those between them.
Value LoopProducts::sumOf(MatmulOp product, ArrayRef<Value> parts, Value bias) {
  Location loc = product.getLoc();
  Weights all = weightsOf(product);
  Value sum;
  DimExpr begin(0);
  auto take = [&](const DimExpr &size) -> Weights {
    Shape shape = shapeOf(all.matrix.getType()), starts(2, DimExpr(0));
    unsigned axis = all.isTransposed ? 1 : 0;
    if (shape[axis] == size)
      return all;
    starts[axis] = begin;
    shape[axis] = size;
    begin = begin + size;
    Value rows =
        SliceOp::create(before, loc, all.matrix, DimsAttr::get(before.getContext(), starts),
                        DimsAttr::get(before.getContext(), shape), DenseI64ArrayAttr());
    return {rows, all.isTransposed};
  };
  auto add = [&](Value term) {
    sum = sum ? AddOp::create(inside, loc, sum, term).getResult() : term;
  };
  while (!parts.empty()) {
    Value part = parts.front();
    size_t count = 1;
    if (isWorthHoisting(part)) {
      add(multiplyBefore(product, part, take(shapeOf(part.getType()).back()), bias));
      bias = {};
    } else {
      count = parts.take_until([&](Value other) { return isWorthHoisting(other); }).size();
      int64_t axis = shapeOf(part.getType()).size() - 1;
      if (count > 1)
        part =
            ConcatOp::create(inside, loc, parts.take_front(count), inside.getI64IntegerAttr(axis));
      add(multiply(inside, product, part, take(shapeOf(part.getType()).back())));
    }
    parts = parts.drop_front(count);
  }
  return sum;
}

void LoopProducts::hoist(MatmulOp product, ArrayRef<Value> parts) {
  auto [add, bias] = findBias(product);
  PlacementListener listener(product);
  before.setListener(&listener);
  inside.setListener(&listener);
  inside.setInsertionPoint(product);
  Value sum = sumOf(product, parts, bias);
  before.setListener(nullptr);
  inside.setListener(nullptr);
  if (add) {
    add.replaceAllUsesWith(sum);
    add.erase();
  } else {
    product.replaceAllUsesWith(sum);
  }
  product.erase();
}

void LoopProducts::hoist() {
  for (auto product : llvm::to_vector(loop.getBodyBlock().getOps<MatmulOp>()))
    if (SmallVector<Value> parts = partsOf(product); !parts.empty())
      hoist(product, parts);
}

namespace {
struct HoistProductsPass : tfc::impl::HoistProductsBase<HoistProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](WhileOp loop) {
      // A gradient inside may be by an element, and would be one of all elements in each iteration.
      auto isGradient = [](GradientsOp) { return WalkResult::interrupt(); };
      // `@recompute` asks for less memory.
      if (loop.getTrips() && !loop.getRecompute() && !loop.walk(isGradient).wasInterrupted())
        LoopProducts(loop).hoist();
    });
  }
};
} // namespace
