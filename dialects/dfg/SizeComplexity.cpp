//===- SizeComplexity.cpp - Limits on the formulas of sizes ---------------===//
//
// Estimates how expensive the formula of a size is, by its terms and nesting. Readers refuse sizes
// by these limits, so that the arithmetic in DimExpr.cpp takes no exponential time.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tfc::dfg {

/// Shorter texts are never too complex: each axis needs several characters to double the terms.
static constexpr size_t kShort = 48;

static size_t nestingOf(StringRef text) {
  size_t depth = 0, deepest = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' && depth > 0 ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

uint64_t costOf(const DimExpr &size) {
  uint64_t cost = 0;
  for (auto &[monomial, coefficient] : size.getTerms()) {
    ++cost;
    for (const DimExpr::Atom &atom : monomial)
      cost += 1 + atom.text.size() / 16;
  }
  return cost;
}

bool isTooComplex(const DimExpr &size) {
  if (isUncomputed(size))
    return true;
  uint64_t text = 0;
  for (auto &[monomial, coefficient] : size.getTerms())
    for (const DimExpr::Atom &atom : monomial) {
      if (atom.kind == DimExpr::AtomKind::Symbol)
        continue;
      text += atom.text.size();
      if (text > kMaxSizeText || nestingOf(atom.text) > kMaxSizeNesting)
        return true;
    }
  return size.getTerms().size() > kMaxSizeTerms;
}

/// Products of sizes have at most this many factors.
static constexpr size_t kMaxSizeDegree = 64;

static size_t degreeOf(const DimExpr &size) {
  size_t degree = 0;
  for (auto &[monomial, coefficient] : size.getTerms())
    degree = std::max(degree, monomial.size());
  return degree;
}

bool isProductTooComplex(const DimExpr &lhs, const DimExpr &rhs) {
  uint64_t left = lhs.getTerms().size(), right = rhs.getTerms().size();
  return (left > 1 && right > 1 && left * right > kMaxSizeTerms) ||
         degreeOf(lhs) + degreeOf(rhs) > kMaxSizeDegree;
}

DimExpr sumOf(std::vector<DimExpr> sizes) {
  while (sizes.size() > 1) {
    size_t half = (sizes.size() + 1) / 2;
    for (size_t i = half; i < sizes.size(); ++i)
      sizes[i - half] = sizes[i - half] + sizes[i];
    sizes.resize(half);
  }
  return sizes.empty() ? DimExpr() : std::move(sizes.front());
}

bool isTooComplex(ArrayRef<mlir::StringAttr> sizes) {
  size_t characters = 0;
  for (mlir::StringAttr size : sizes)
    characters += size.size();
  if (characters <= kShort)
    return false;
  uint64_t terms = 1;
  for (mlir::StringAttr text : sizes) {
    std::optional<DimExpr> size = DimExpr::parse(text.getValue());
    if (!size || isTooComplex(*size))
      return true;
    terms = SaturatingMultiply<uint64_t>(terms, std::max<size_t>(size->getTerms().size(), 1));
  }
  return terms > kMaxSizeTerms;
}

} // namespace tfc::dfg
