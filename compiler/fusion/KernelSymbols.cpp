//===- KernelSymbols.cpp - Names of sizes in kernels ----------------------===//
//
// Renames the sizes in a kernel, so that kernels that differ only in these names are equal.
// Outlining needs only the result: the names, and the sizes that a launch passes for them.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/KernelSymbols.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

DimExpr KernelSymbols::nameOf(const DimExpr &size) {
  auto it = llvm::find(sizes, size);
  size_t index = it - sizes.begin();
  if (it == sizes.end())
    sizes.push_back(size);
  return DimExpr::symbol("d" + std::to_string(index));
}

static DimExpr asExpr(const DimExpr::Atom &atom) {
  switch (atom.kind) {
  case DimExpr::AtomKind::Symbol:
    return DimExpr::symbol(atom.name);
  case DimExpr::AtomKind::FloorDiv:
    return DimExpr::floorDiv(*atom.lhs, *atom.rhs);
  case DimExpr::AtomKind::Mod:
    return DimExpr::mod(*atom.lhs, *atom.rhs);
  case DimExpr::AtomKind::Quotient:
    return DimExpr::quotient(*atom.lhs, *atom.rhs);
  case DimExpr::AtomKind::Min:
    return DimExpr::min(*atom.lhs, *atom.rhs);
  default:
    return DimExpr::max(*atom.lhs, *atom.rhs);
  }
}

/// Returns true if a kernel computes the division itself, that is, by a positive number. The host
/// guards other divisors against 0.
static bool dividesByNumber(const DimExpr::Atom &atom) {
  return atom.rhs && atom.rhs->constant().value_or(0) > 0;
}

DimExpr KernelSymbols::rename(const DimExpr &size) {
  DimExpr result;
  for (auto &[monomial, coefficient] : size.getTerms()) {
    DimExpr term(coefficient);
    for (const DimExpr::Atom &atom : monomial) {
      if (atom.kind == DimExpr::AtomKind::FloorDiv && dividesByNumber(atom))
        term = term * DimExpr::floorDiv(rename(*atom.lhs), rename(*atom.rhs));
      else
        term = term * nameOf(asExpr(atom));
    }
    result = result + term;
  }
  return result;
}

void KernelSymbols::renameIn(Operation *op) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DimsAttr dims) -> std::pair<Attribute, WalkResult> {
    Shape renamed;
    for (const DimExpr &size : dims.getExprs())
      renamed.push_back(rename(size));
    return {DimsAttr::get(dims.getContext(), renamed), WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

ArrayAttr KernelSymbols::getNames(Builder &b) const {
  SmallVector<std::string> names;
  for (size_t i = 0; i < sizes.size(); ++i)
    names.push_back("d" + std::to_string(i));
  return b.getStrArrayAttr(llvm::to_vector_of<StringRef>(names));
}

} // namespace tfc::fusion
