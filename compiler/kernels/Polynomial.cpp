// Brings addresses and sizes into a normal form. MLIR's affine simplification is too weak for that,
// because it does not multiply symbols and dimensions.

#include "compiler/kernels/Polynomial.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tfc::kernels;

/// A total order on atoms that does not depend on pointer values, so that the output is
/// reproducible.
static int compareAtoms(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs)
    return 0;
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind() ? -1 : 1;
  if (auto l = dyn_cast<AffineDimExpr>(lhs))
    return l.getPosition() < cast<AffineDimExpr>(rhs).getPosition() ? -1 : 1;
  if (auto l = dyn_cast<AffineSymbolExpr>(lhs))
    return l.getPosition() < cast<AffineSymbolExpr>(rhs).getPosition() ? -1 : 1;
  if (auto l = dyn_cast<AffineConstantExpr>(lhs))
    return l.getValue() < cast<AffineConstantExpr>(rhs).getValue() ? -1 : 1;
  auto l = cast<AffineBinaryOpExpr>(lhs), r = cast<AffineBinaryOpExpr>(rhs);
  if (int order = compareAtoms(l.getLHS(), r.getLHS()))
    return order;
  return compareAtoms(l.getRHS(), r.getRHS());
}

static int compareAtomLists(ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs) {
  if (lhs.size() != rhs.size())
    return lhs.size() < rhs.size() ? 1 : -1;
  for (auto [l, r] : llvm::zip(lhs, rhs))
    if (int order = compareAtoms(l, r))
      return order;
  return 0;
}

void Polynomial::add(Term term) {
  llvm::sort(term.atoms, [](AffineExpr l, AffineExpr r) { return compareAtoms(l, r) < 0; });
  auto *place = llvm::lower_bound(sum, term, [](const Term &l, const Term &r) {
    return compareAtomLists(l.atoms, r.atoms) < 0;
  });
  if (place == sum.end() || compareAtomLists(place->atoms, term.atoms) != 0) {
    if (term.coefficient != 0)
      sum.insert(place, std::move(term));
    return;
  }
  place->coefficient += term.coefficient;
  if (place->coefficient == 0)
    sum.erase(place);
}

void Polynomial::addProduct(const Polynomial &lhs, const Polynomial &rhs) {
  for (const Term &l : lhs.sum)
    for (const Term &r : rhs.sum) {
      Term term{l.atoms, l.coefficient * r.coefficient};
      term.atoms.append(r.atoms.begin(), r.atoms.end());
      add(std::move(term));
    }
}

Polynomial::Polynomial(AffineExpr expr) : context(expr.getContext()) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    add({{}, constant.getValue()});
  } else if (!binary) {
    add({{expr}, 1});
  } else if (expr.getKind() == AffineExprKind::Add) {
    sum = Polynomial(binary.getLHS()).sum;
    Polynomial rhs(binary.getRHS());
    for (const Term &term : rhs.sum)
      add(term);
    mergeDivisions();
  } else if (expr.getKind() == AffineExprKind::Mul) {
    addProduct(Polynomial(binary.getLHS()), Polynomial(binary.getRHS()));
    mergeDivisions();
  } else {
    AffineExpr simple = getAffineBinaryOpExpr(expr.getKind(), normalize(binary.getLHS()),
                                              normalize(binary.getRHS()));
    if (isa<AffineBinaryOpExpr>(simple) && simple.getKind() == expr.getKind())
      add({{simple}, 1});
    else
      sum = Polynomial(simple).sum;
  }
}

bool Polynomial::contains(const Term &term) const {
  return llvm::any_of(sum, [&](const Term &other) {
    return other.coefficient == term.coefficient && compareAtomLists(other.atoms, term.atoms) == 0;
  });
}

void Polynomial::subtract(Term term) {
  term.coefficient = -term.coefficient;
  add(std::move(term));
}

/// Rewrites c*(e mod n) + c*n*(e floordiv n) into c*e.
void Polynomial::mergeDivisions() {
  for (const Term &term : sum)
    for (AffineExpr atom : term.atoms) {
      if (atom.getKind() != AffineExprKind::Mod)
        continue;
      auto mod = cast<AffineBinaryOpExpr>(atom);
      Term division = term;
      llvm::replace(division.atoms, atom, mod.getLHS().floorDiv(mod.getRHS()));
      Polynomial scaled(context), factor(context);
      factor.sum.push_back(division);
      scaled.addProduct(factor, Polynomial(mod.getRHS()));
      // If n is a sum, the division contributes several terms; all of them must be present.
      if (!llvm::all_of(scaled.sum, [&](const Term &part) { return contains(part); }))
        continue;
      Polynomial outer(context);
      Term rest = term;
      rest.atoms.erase(llvm::find(rest.atoms, atom));
      outer.sum.push_back(rest);
      subtract(term);
      for (const Term &part : scaled.sum)
        subtract(part);
      addProduct(outer, Polynomial(mod.getLHS()));
      return mergeDivisions();
    }
}

AffineExpr Polynomial::toExpr() const {
  AffineExpr result = getAffineConstantExpr(0, context);
  for (const Term &term : sum) {
    AffineExpr product = getAffineConstantExpr(term.coefficient, context);
    for (AffineExpr atom : llvm::reverse(term.atoms))
      product = atom * product;
    result = result + product;
  }
  return result;
}

bool tfc::kernels::usesDim(AffineExpr expr, AffineDimExpr dim) {
  bool used = false;
  expr.walk([&](AffineExpr e) { used |= e == dim; });
  return used;
}

bool Polynomial::split(AffineDimExpr dim, AffineExpr &coefficient, AffineExpr &rest) const {
  Polynomial linear(context), other(context);
  for (const Term &term : sum) {
    auto uses = [&](AffineExpr atom) { return usesDim(atom, dim); };
    int64_t count = llvm::count_if(term.atoms, uses);
    if (count == 0) {
      other.add(term);
      continue;
    }
    if (count > 1 || !llvm::is_contained(term.atoms, dim))
      return false;
    Term reduced = term;
    reduced.atoms.erase(llvm::find(reduced.atoms, AffineExpr(dim)));
    linear.add(reduced);
  }
  coefficient = linear.toExpr();
  rest = other.toExpr();
  return true;
}

AffineExpr tfc::kernels::normalize(AffineExpr expr) { return Polynomial(expr).toExpr(); }
