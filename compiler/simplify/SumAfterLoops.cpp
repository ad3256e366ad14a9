//===- SumAfterLoops.cpp - Gradients of weights that loops share ----------===//
//
// The gradient of a loop adds a product to the gradient of a matrix in each iteration, for instance
// to that of the weights of an LSTM. For few rows, the time goes into reading and writing the sum.
// This pass lets the loop keep the factors, and adds up all iterations by one product after it.
//
// Runs before the canonicalization that drops carried values without readers.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Regions.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_SUMAFTERLOOPS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// The number of rows of an iteration, if it is unknown.
static constexpr int64_t kTypicalRows = 64;

namespace {
/// A carried value to which a loop adds products lhs' rhs of factors with few rows.
struct SummedProduct {
  unsigned position;
  AddOp add;
  MatmulOp product;
};
} // namespace

/// Returns true if keeping the factors moves fewer elements than the sum has.
static bool isWorthIt(MatmulOp product) {
  Shape lhs = shapeOf(product.getLhs().getType()), rhs = shapeOf(product.getRhs().getType());
  std::optional<int64_t> m = lhs[1].constant(), n = rhs[1].constant();
  return m && n && lhs[0].constant().value_or(kTypicalRows) * (*m + *n) < *m * *n;
}

/// Returns true if the sizes of a factor are known before the loop: their names are those of feeds.
static bool isKnownBefore(WhileOp loop, Value factor) {
  SmallVector<std::string> known, names;
  for (Type type : loop->getParentOfType<FunctionOpInterface>().getArgumentTypes())
    if (isa<RankedTensorType>(type))
      for (const DimExpr &size : shapeOf(type))
        size.collectSymbols(known);
  for (const DimExpr &size : shapeOf(factor.getType()))
    size.collectSymbols(names);
  return llvm::all_of(names, [&](StringRef name) { return llvm::is_contained(known, name); });
}

static std::optional<SummedProduct> match(WhileOp loop, unsigned position) {
  Block &body = loop.getBodyBlock();
  Value sum = body.getArgument(position);
  auto add = loop.getYield().getValues()[position].getDefiningOp<AddOp>();
  if (!add || add->getBlock() != &body || !add->hasOneUse() || !sum.hasOneUse() ||
      !loop.getConditionBlock().getArgument(position).use_empty() ||
      (add.getLhs() != sum && add.getRhs() != sum))
    return std::nullopt;
  Value other = add.getLhs() == sum ? add.getRhs() : add.getLhs();
  auto product = other.getDefiningOp<MatmulOp>();
  auto type = dyn_cast<RankedTensorType>(sum.getType());
  if (!product || product->getBlock() != &body || !product->hasOneUse() || !type ||
      type.getRank() != 2 || !isa<Float32Type, Float64Type>(type.getElementType()) ||
      product.getType() != type || !product.getTransposeLhs() || product.getTransposeRhs() ||
      !isKnownBefore(loop, product.getLhs()) || !isKnownBefore(loop, product.getRhs()))
    return std::nullopt;
  // A factor that is saved anyway: `@recompute` asks for less memory.
  if (!product.getLhs().getDefiningOp<PopOp>() && !product.getRhs().getDefiningOp<PopOp>())
    return std::nullopt;
  return isWorthIt(product) ? std::optional(SummedProduct{position, add, product}) : std::nullopt;
}

namespace {
/// Moves the sums of one loop.
class LoopSums {
public:
  LoopSums(WhileOp loop, int32_t &nextList)
      : loop(loop), nextList(nextList), trips(loop.getTrips()->getExprs().front()) {}

  void move(MutableArrayRef<SummedProduct> sums);

private:
  Value createList(OpBuilder &b, Value factor);
  Value stack(OpBuilder &b, Value list, Value factor);

  WhileOp loop;
  int32_t &nextList;
  DimExpr trips;
};
} // namespace

Value LoopSums::createList(OpBuilder &b, Value factor) {
  Type elementType = elementTypeOf(factor.getType());
  Value size = sizeAs(b, loop.getLoc(), trips, b.getI32Type());
  auto list = ListCreateOp::create(b, loop.getLoc(), size,
                                   DimsAttr::get(b.getContext(), shapeOf(factor.getType())),
                                   TypeAttr::get(elementType));
  list->setAttr(kListAttr, b.getI32IntegerAttr(nextList++));
  return list;
}

/// All rows of a list of factors.
Value LoopSums::stack(OpBuilder &b, Value list, Value factor) {
  Value stacked = ListStackOp::create(b, loop.getLoc(), list,
                                      DimsAttr::get(b.getContext(), {trips}), UnitAttr());
  Shape shape = shapeOf(factor.getType());
  shape[0] = shape[0] * trips;
  return reshapeTo(b, stacked, shape);
}

void LoopSums::move(MutableArrayRef<SummedProduct> sums) {
  OpBuilder before(loop);
  SmallVector<Value> inits{scalar(before, loop.getLoc(), before.getI32Type(), 0)};
  for (SummedProduct &sum : sums)
    for (Value factor : sum.product->getOperands())
      inits.push_back(createList(before, factor));
  unsigned first = loop.getNumResults();
  loop = addCarried(loop, inits);
  Block &body = loop.getBodyBlock();
  OpBuilder atEnd(loop.getYield()), after(loop);
  after.setInsertionPointAfter(loop);
  Value number = body.getArgument(first);
  SmallVector<Value> next{
      AddOp::create(atEnd, loop.getLoc(), number, scalarLike(atEnd, number, 1))};
  for (SummedProduct &sum : sums) {
    SmallVector<Value> factors;
    for (Value factor : sum.product->getOperands()) {
      unsigned position = first + next.size();
      next.push_back(
          ListWriteOp::create(atEnd, loop.getLoc(), body.getArgument(position), number, factor));
      factors.push_back(stack(after, loop.getResult(position), factor));
    }
    Value product = MatmulOp::create(after, sum.product.getLoc(), factors[0], factors[1],
                                     /*transpose_lhs=*/true, /*transpose_rhs=*/false);
    Value total = AddOp::create(after, sum.add.getLoc(), loop.getInits()[sum.position], product);
    copyPlacement(sum.product, product.getDefiningOp());
    copyPlacement(sum.add, total.getDefiningOp());
    loop.getResult(sum.position).replaceAllUsesExcept(total, total.getDefiningOp());
  }
  addYields(loop, next);
  for (SummedProduct &sum : sums) {
    loop.getYield()->setOperand(sum.position, body.getArgument(sum.position));
    sum.add->erase();
    sum.product->erase();
  }
}

namespace {
struct SumAfterLoopsPass : tfc::impl::SumAfterLoopsBase<SumAfterLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<WhileOp> loops;
    int32_t nextList = 0;
    getOperation().walk([&](Operation *op) {
      if (auto number = op->getAttrOfType<IntegerAttr>(kListAttr))
        nextList = std::max(nextList, int32_t(number.getInt()) + 1);
      if (auto loop = dyn_cast<WhileOp>(op); loop && loop.getTrips())
        loops.push_back(loop);
    });
    for (WhileOp loop : loops) {
      SmallVector<SummedProduct> sums;
      for (unsigned i = 0; i < loop.getNumResults(); ++i)
        if (std::optional<SummedProduct> sum = match(loop, i))
          sums.push_back(*sum);
      if (!sums.empty())
        LoopSums(loop, nextList).move(sums);
    }
  }
};
} // namespace
