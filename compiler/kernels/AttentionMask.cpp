//===- AttentionMask.cpp - Scores that do not count -----------------------===//
//
// Recognizes masks that follow from positions. Emitters leave out the scores that they exclude,
// which takes the cost of causal attention to a half.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/AttentionForm.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tfc::kernels;

/// A score that is replaced by less than this has the weight zero beside any product of queries and
/// keys. Other scores may be as low: those of a row to which a second mask has been added.
static constexpr double kLowest = -1e30;

namespace {

/// A value of a body, at indices of its loops that are expressions over the dimensions of the
/// scores.
struct Place {
  Value value;
  SmallVector<AffineExpr> loops;

  Operation *op() const { return value.getDefiningOp(); }
  Place operand(unsigned number) const { return {op()->getOperand(number), loops}; }
};

/// Finds for which terms the scores of a row count.
class MaskFinder {
public:
  explicit MaskFinder(const AttentionForm &form) : form(form) {}

  std::optional<int64_t> find();

private:
  std::optional<int64_t> endOfZeros(Place place);
  std::optional<int64_t> endOfLowest(Place place);
  std::optional<int64_t> endOf(Place condition);
  AffineExpr indexOf(Place place);
  Place placeOf(linalg::GenericOp op, Value value, ArrayRef<std::optional<unsigned>> loopOf);

  const AttentionForm &form;
};

} // namespace

/// Follows a value through parallel generics to the operation that computes it.
static Place resolve(Place place) {
  while (auto argument = dyn_cast<BlockArgument>(place.value)) {
    auto reader = dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
    if (!reader)
      return place;
    OpOperand &operand = reader->getOpOperand(argument.getArgNumber());
    if (matchPattern(operand.get(), m_Constant()))
      return {operand.get(), {}};
    auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
    if (!producer || producer.getNumReductionLoops() != 0)
      return place;
    auto result = cast<OpResult>(operand.get());
    SmallVector<AffineExpr> loops(producer.getNumLoops(),
                                  getAffineConstantExpr(0, reader.getContext()));
    for (auto [expr, index] :
         llvm::zip_equal(producer.getIndexingMapMatchingResult(result).getResults(),
                         indicesOf(reader, &operand)))
      loops[cast<AffineDimExpr>(expr).getPosition()] = normalize(index.replaceDims(place.loops));
    place = {producer.getBody()->getTerminator()->getOperand(result.getResultNumber()), loops};
  }
  return place;
}

Place MaskFinder::placeOf(linalg::GenericOp op, Value value,
                          ArrayRef<std::optional<unsigned>> loopOf) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> loops(op.getNumLoops(), getAffineConstantExpr(0, context));
  for (auto [dim, loop] : llvm::enumerate(loopOf))
    if (loop)
      loops[*loop] = getAffineDimExpr(dim, context);
  return {value, loops};
}

/// Returns an integer that follows from positions; null for others.
AffineExpr MaskFinder::indexOf(Place place) {
  place = resolve(place);
  Operation *op = place.op();
  if (!op)
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return place.loops[index.getDim()];
  APInt constant;
  if (matchPattern(place.value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), op->getContext());
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return indexOf(place.operand(0));
  if (!isa<arith::AddIOp>(op) && !isa<arith::SubIOp>(op))
    return {};
  AffineExpr left = indexOf(place.operand(0)), right = indexOf(place.operand(1));
  if (!left || !right)
    return {};
  return normalize(isa<arith::AddIOp>(op) ? left + right : left - right);
}

/// If a condition holds for the terms before one, returns the number of that less that of the row.
std::optional<int64_t> MaskFinder::endOf(Place condition) {
  condition = resolve(condition);
  Operation *op = condition.op();
  if (isa_and_nonnull<arith::AndIOp>(op)) {
    std::optional<int64_t> first = endOf(condition.operand(0));
    return first ? first : endOf(condition.operand(1));
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return std::nullopt;
  AffineExpr left = indexOf(condition.operand(0)), right = indexOf(condition.operand(1));
  if (!left || !right)
    return std::nullopt;
  AffineExpr least; // at least 0 if the condition holds
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sle:
    least = right - left;
    break;
  case arith::CmpIPredicate::slt:
    least = right - left - 1;
    break;
  case arith::CmpIPredicate::sge:
    least = left - right;
    break;
  case arith::CmpIPredicate::sgt:
    least = left - right - 1;
    break;
  default:
    return std::nullopt;
  }
  MLIRContext *context = left.getContext();
  AffineExpr row = getAffineDimExpr(form.rows.front(), context);
  AffineExpr term = getAffineDimExpr(form.terms.front(), context);
  std::optional<int64_t> shift = constantOf(normalize(least - row + term));
  return shift ? std::optional(*shift + 1) : std::nullopt;
}

/// Returns true if a value is a product of a kernel times constants.
static bool isProduct(Place place) {
  place = resolve(place);
  if (auto argument = dyn_cast<BlockArgument>(place.value)) {
    auto reader = dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
    auto producer =
        reader
            ? reader->getOpOperand(argument.getArgNumber()).get().getDefiningOp<linalg::GenericOp>()
            : linalg::GenericOp();
    return producer && producer.getNumReductionLoops() > 0;
  }
  Operation *op = place.op();
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op))
    return isProduct(place.operand(0));
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return false;
  auto isConstant = [&](unsigned number) {
    return matchPattern(resolve(place.operand(number)).value, m_Constant());
  };
  return (isConstant(1) && isProduct(place.operand(0))) ||
         (isa<arith::MulFOp>(op) && isConstant(0) && isProduct(place.operand(1)));
}

/// The same for a score that is very low for other terms.
std::optional<int64_t> MaskFinder::endOfLowest(Place place) {
  place = resolve(place);
  Operation *op = place.op();
  if (isa_and_nonnull<arith::ExtFOp>(op))
    return endOfLowest(place.operand(0));
  auto select = dyn_cast_or_null<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  APFloat other(0.0);
  Place otherwise = resolve(place.operand(2));
  if (!matchPattern(otherwise.value, m_ConstantFloat(&other)) || other.convertToDouble() > kLowest)
    return std::nullopt;
  if (!other.isInfinity() && !isProduct(place.operand(1)))
    return std::nullopt;
  return endOf(place.operand(0));
}

/// The same for a value that is zero for other terms, apart from NaN.
std::optional<int64_t> MaskFinder::endOfZeros(Place place) {
  place = resolve(place);
  Operation *op = place.op();
  if (!op || !isa<linalg::GenericOp>(op->getParentOp()))
    return std::nullopt;
  if (isa<math::ExpOp>(op)) {
    Place difference = resolve(place.operand(0));
    return isa_and_nonnull<arith::SubFOp>(difference.op()) ? endOfLowest(difference.operand(0))
                                                           : std::nullopt;
  }
  if (isa<arith::MulFOp>(op))
    if (std::optional<int64_t> end = endOfZeros(place.operand(1)))
      return end;
  if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op))
    return endOfZeros(place.operand(0));
  if (isa<arith::SelectOp>(op) && matchPattern(resolve(place.operand(2)).value, m_AnyZeroFloat())) {
    std::optional<int64_t> end = endOf(place.operand(0));
    return end ? end : endOfZeros(place.operand(1));
  }
  return std::nullopt;
}

std::optional<int64_t> MaskFinder::find() {
  if (form.rows.size() != 1 || form.terms.size() != 1)
    return std::nullopt;
  SmallVector<std::optional<int64_t>> ends;
  for (const AttentionProduct &product : form.results)
    ends.push_back(endOfZeros(placeOf(product.op, product.form.a.root, product.loopOf)));
  for (auto [number, op] : llvm::enumerate(form.rowOps)) {
    linalg::GenericOp reduction = op;
    Operation *combiner = combinerOf(reduction, 0);
    BlockArgument accumulator = reduction.getRegionOutputArgs()[0];
    Place input = placeOf(reduction, combiner->getOperand(combiner->getOperand(0) == accumulator),
                          form.rowLoops[number]);
    ends.push_back(isa<arith::MaximumFOp>(combiner) ? endOfLowest(input)
                   : isa<arith::AddFOp>(combiner)   ? endOfZeros(input)
                                                    : std::nullopt);
  }
  // Every row has a term.
  bool isKnown = !ends.empty() && ends.front() && *ends.front() >= 1 && llvm::all_equal(ends);
  return isKnown ? ends.front() : std::nullopt;
}

std::optional<int64_t> tfc::kernels::findEndOfTerms(const AttentionForm &form) {
  return MaskFinder(form).find();
}
