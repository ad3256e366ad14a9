//===- Ranges.cpp - Bounds of index expressions ---------------------------===//
//
// Interval arithmetic over loops. It is apart from the normal form of expressions because bounds of
// normalized sums are exact, and those of other forms are not.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/Ranges.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::kernels {

std::optional<IndexRange>
rangeOf(AffineExpr expr, llvm::function_ref<std::optional<IndexRange>(AffineDimExpr)> rangeOfDim) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexRange{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return rangeOfDim(dim);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexRange> lhs = rangeOf(binary.getLHS(), rangeOfDim);
  std::optional<IndexRange> rhs = rangeOf(binary.getRHS(), rangeOfDim);
  if (!lhs || !rhs)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return IndexRange{lhs->first + rhs->first, lhs->last + rhs->last};
  int64_t factor = rhs->first;
  if (factor != rhs->last)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mul) {
    int64_t first = lhs->first * factor, last = lhs->last * factor;
    return IndexRange{std::min(first, last), std::max(first, last)};
  }
  if (binary.getKind() == AffineExprKind::FloorDiv && factor > 0)
    return IndexRange{llvm::divideFloorSigned(lhs->first, factor),
                      llvm::divideFloorSigned(lhs->last, factor)};
  return std::nullopt;
}

} // namespace tfc::kernels
