//===- DimExpr.cpp - Symbolic sizes of dimensions -------------------------===//
//
// Implements the canonical form of sizes, and arithmetic that preserves it. They are divided in
// DimDivision.cpp, and text is parsed in DimExprParser.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/DimRemainders.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

using namespace llvm;

namespace tfc::dfg {

using Terms = std::map<DimExpr::Monomial, int64_t>;

static DimExpr overflowed() { return DimExpr::symbol(kOverflowName); }

static bool isNamed(const DimExpr &size, StringRef text) {
  const Terms &terms = size.getTerms();
  if (terms.size() != 1)
    return false;
  const DimExpr::Monomial &monomial = terms.begin()->first;
  return monomial.size() == 1 && monomial.front().text == text;
}

bool isUncomputed(const DimExpr &size) { return isNamed(size, kTooComplex); }

bool isOverflow(const DimExpr &size) { return isNamed(size, kOverflow) || isUncomputed(size); }

/// Returns the result of arithmetic on an unknown size, which is unknown for the same reason.
static DimExpr overflowOf(const DimExpr &lhs, const DimExpr &rhs) {
  bool isComplex = isUncomputed(lhs) || isUncomputed(rhs);
  return isComplex ? DimExpr::symbol(kTooComplexName) : overflowed();
}

/// Adds a term; returns false if its coefficient does not fit. INT64_MIN does not fit, because it
/// cannot be negated.
static bool addTerm(Terms &terms, const DimExpr::Monomial &monomial, int64_t coefficient) {
  auto it = terms.try_emplace(monomial, 0).first;
  if (AddOverflow(it->second, coefficient, it->second) || it->second == INT64_MIN)
    return false;
  if (it->second == 0)
    terms.erase(it);
  return true;
}

static bool isPlainName(StringRef name) {
  return !name.empty() && (isAlpha(name[0]) || name[0] == '_') &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; }) && name != "min" &&
         name != "max";
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

DimExpr::DimExpr(int64_t value) {
  if (value == INT64_MIN)
    *this = overflowed();
  else
    add({}, value);
}

DimExpr DimExpr::symbol(StringRef name) {
  Atom atom{AtomKind::Symbol, name.str(), nullptr, nullptr,
            name == kOverflowName     ? kOverflow.str()
            : name == kTooComplexName ? kTooComplex.str()
            : isPlainName(name)       ? name.str()
                                      : ("`" + name + "`").str()};
  DimExpr result;
  result.add({atom}, 1);
  return result;
}

void DimExpr::add(const Monomial &monomial, int64_t coefficient) {
  if (!addTerm(terms, monomial, coefficient))
    *this = overflowed();
}

static StringRef spelling(DimExpr::AtomKind kind) {
  switch (kind) {
  case DimExpr::AtomKind::FloorDiv:
    return "//";
  case DimExpr::AtomKind::Mod:
    return "%";
  case DimExpr::AtomKind::Min:
    return "min";
  case DimExpr::AtomKind::Max:
    return "max";
  case DimExpr::AtomKind::Quotient:
    return "/";
  case DimExpr::AtomKind::Symbol:
    break;
  }
  return "";
}

/// Adds parentheses, unless the text is a single word.
static std::string asOperand(const DimExpr &expr) {
  std::string text = expr.canonical();
  bool isWord = all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
  return isWord ? text : "(" + text + ")";
}

DimExpr DimExpr::atom(AtomKind kind, const DimExpr &lhs, const DimExpr &rhs) {
  if (isOverflow(lhs) || isOverflow(rhs))
    return overflowOf(lhs, rhs);
  std::string text;
  if (kind == AtomKind::Min || kind == AtomKind::Max)
    text = (spelling(kind) + "(" + lhs.canonical() + ", " + rhs.canonical() + ")").str();
  else
    text = "(" + asOperand(lhs) + " " + spelling(kind).str() + " " + asOperand(rhs) + ")";
  DimExpr result;
  result.add({Atom{kind, "", std::make_shared<DimExpr>(lhs), std::make_shared<DimExpr>(rhs), text}},
             1);
  return isTooComplex(result) ? symbol(kTooComplexName) : result;
}

DimExpr DimExpr::operator+(const DimExpr &other) const {
  if (isOverflow(*this) || isOverflow(other))
    return overflowOf(*this, other);
  DimExpr result = *this;
  for (auto &[monomial, coefficient] : other.terms)
    if (!addTerm(result.terms, monomial, coefficient))
      return overflowed();
  return result;
}

DimExpr DimExpr::operator-(const DimExpr &other) const { return *this + DimExpr(-1) * other; }

DimExpr DimExpr::operator*(const DimExpr &other) const {
  if (isOverflow(*this) || isOverflow(other))
    return overflowOf(*this, other);
  if (isProductTooComplex(*this, other))
    return symbol(kTooComplexName);
  DimExpr result;
  for (auto &[lhs, a] : terms) {
    for (auto &[rhs, b] : other.terms) {
      Monomial product = lhs;
      product.insert(product.end(), rhs.begin(), rhs.end());
      std::sort(product.begin(), product.end());
      int64_t coefficient;
      if (MulOverflow(a, b, coefficient) || !addTerm(result.terms, product, coefficient))
        return overflowed();
    }
  }
  return result;
}

DimExpr DimExpr::makeTerm(const Monomial &monomial, int64_t coefficient) {
  DimExpr term;
  term.add(monomial, coefficient);
  return term;
}

/// True if `lhs` is provably at most `rhs`, false if it is provably at least that; std::nullopt if
/// neither can be proven.
static std::optional<bool> isAtMost(const DimExpr &lhs, const DimExpr &rhs) {
  std::optional<int64_t> x = lhs.constant(), y = rhs.constant();
  if (x && y)
    return *x <= *y;
  auto [least, most] = (lhs - rhs).interval();
  if (most && *most <= 0)
    return true;
  return least && *least >= 0 ? std::optional(false) : std::nullopt;
}

DimExpr DimExpr::min(const DimExpr &lhs, const DimExpr &rhs) {
  if (std::optional<bool> isLeft = isAtMost(lhs, rhs))
    return *isLeft ? lhs : rhs;
  return lhs.canonical() < rhs.canonical() ? atom(AtomKind::Min, lhs, rhs)
                                           : atom(AtomKind::Min, rhs, lhs);
}

DimExpr DimExpr::max(const DimExpr &lhs, const DimExpr &rhs) {
  if (std::optional<bool> isRight = isAtMost(lhs, rhs))
    return *isRight ? rhs : lhs;
  return lhs.canonical() < rhs.canonical() ? atom(AtomKind::Max, lhs, rhs)
                                           : atom(AtomKind::Max, rhs, lhs);
}

//===----------------------------------------------------------------------===//
// Exact quotients
//===----------------------------------------------------------------------===//

static DimExpr combine(DimExpr::AtomKind kind, const DimExpr &lhs, const DimExpr &rhs) {
  switch (kind) {
  case DimExpr::AtomKind::FloorDiv:
    return DimExpr::floorDiv(lhs, rhs);
  case DimExpr::AtomKind::Mod:
    return DimExpr::mod(lhs, rhs);
  case DimExpr::AtomKind::Min:
    return DimExpr::min(lhs, rhs);
  case DimExpr::AtomKind::Quotient:
    return DimExpr::quotient(lhs, rhs);
  case DimExpr::AtomKind::Max:
  case DimExpr::AtomKind::Symbol:
    break;
  }
  return DimExpr::max(lhs, rhs);
}

bool DimExpr::hasQuotients() const {
  return any_of(terms, [](auto &term) {
    return any_of(term.first, [](const Atom &atom) {
      return atom.kind == AtomKind::Quotient ||
             (atom.lhs && (atom.lhs->hasQuotients() || atom.rhs->hasQuotients()));
    });
  });
}

DimExpr DimExpr::plain() const {
  if (!hasQuotients())
    return *this;
  std::vector<DimExpr> summands;
  for (auto &[monomial, coefficient] : terms) {
    int64_t rest = coefficient;
    DimExpr product = 1;
    for (const Atom &atom : monomial) {
      if (atom.kind == AtomKind::Symbol) {
        product = product * symbol(atom.name);
      } else if (atom.kind == AtomKind::Quotient) {
        // 2 * (n / 4) is n // 2.
        int64_t divisor = *atom.rhs->constant(), common = std::gcd(rest, divisor);
        rest /= common;
        product = product * floorDiv(*atom.lhs, divisor / common);
      } else {
        product = product * combine(atom.kind, atom.lhs->plain(), atom.rhs->plain());
      }
    }
    summands.push_back(product * rest);
  }
  return sumOf(std::move(summands));
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

std::optional<int64_t> DimExpr::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::optional<StringRef> DimExpr::asSymbol() const {
  if (isOverflow(*this) || terms.size() != 1 || terms.begin()->second != 1 ||
      terms.begin()->first.size() != 1)
    return std::nullopt;
  const Atom &atom = terms.begin()->first.front();
  if (atom.kind != AtomKind::Symbol)
    return std::nullopt;
  return StringRef(atom.name);
}

std::optional<DimExpr::Linear> DimExpr::asLinear() const {
  if (isOverflow(*this))
    return std::nullopt;
  if (hasQuotients())
    return plain().asLinear();
  Linear result{"", 0, 0};
  for (auto &[monomial, coefficient] : terms) {
    if (monomial.empty()) {
      result.offset = coefficient;
      continue;
    }
    if (monomial.size() != 1 || monomial[0].kind != AtomKind::Symbol || !result.name.empty())
      return std::nullopt;
    result.name = monomial[0].name;
    result.scale = coefficient;
  }
  if (result.name.empty())
    return std::nullopt;
  return result;
}

void DimExpr::forEachSymbol(function_ref<void(StringRef)> visit) const {
  if (isOverflow(*this))
    return;
  for (auto &[monomial, coefficient] : terms) {
    for (const Atom &atom : monomial) {
      if (atom.kind == AtomKind::Symbol) {
        visit(atom.name);
        continue;
      }
      atom.lhs->forEachSymbol(visit);
      atom.rhs->forEachSymbol(visit);
    }
  }
}

void DimExpr::collectSymbols(NameSet &names) const {
  forEachSymbol([&](StringRef name) { names.insert(name.str()); });
}

void DimExpr::collectSymbols(SmallVectorImpl<std::string> &names) const {
  forEachSymbol([&](StringRef name) {
    if (!is_contained(names, name))
      names.push_back(name.str());
  });
}

std::optional<DimExpr>
DimExpr::substitute(function_ref<std::optional<DimExpr>(StringRef)> lookup) const {
  if (isOverflow(*this))
    return *this;
  std::vector<DimExpr> summands;
  for (auto &[monomial, coefficient] : terms) {
    DimExpr term(coefficient);
    for (const Atom &atom : monomial) {
      std::optional<DimExpr> factor;
      if (atom.kind == AtomKind::Symbol) {
        factor = lookup(atom.name);
      } else {
        std::optional<DimExpr> lhs = atom.lhs->substitute(lookup);
        std::optional<DimExpr> rhs = atom.rhs->substitute(lookup);
        if (lhs && rhs)
          factor = combine(atom.kind, *lhs, *rhs);
      }
      if (!factor)
        return std::nullopt;
      term = term * *factor;
    }
    summands.push_back(std::move(term));
  }
  return sumOf(std::move(summands));
}

std::optional<int64_t>
DimExpr::evaluate(function_ref<std::optional<int64_t>(StringRef)> lookup) const {
  if (isOverflow(*this))
    return std::nullopt;
  if (hasQuotients())
    return plain().evaluate(lookup);
  int64_t sum = 0;
  for (auto &[monomial, coefficient] : terms) {
    int64_t product = coefficient;
    for (const Atom &atom : monomial) {
      std::optional<int64_t> value;
      if (atom.kind == AtomKind::Symbol) {
        value = lookup(atom.name);
      } else {
        std::optional<int64_t> lhs = atom.lhs->evaluate(lookup);
        std::optional<int64_t> rhs = atom.rhs->evaluate(lookup);
        bool divides = atom.kind != AtomKind::Min && atom.kind != AtomKind::Max;
        if (lhs && rhs == 0 && divides)
          value = 0; // as calls compute it
        else if (lhs && rhs)
          value = combine(atom.kind, DimExpr(*lhs), DimExpr(*rhs)).constant();
      }
      if (!value || MulOverflow(product, *value, product))
        return std::nullopt;
    }
    if (AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

/// Operands of products and divisions are sizes, which are at least 0; divisors are at least 1.
static std::pair<DimExpr, DimExpr> atomLimits(const DimExpr::Atom &atom, DimExpr::Range range) {
  if (atom.kind == DimExpr::AtomKind::Symbol)
    return range(atom.name);
  auto lhs = atom.lhs->limits(range), rhs = atom.rhs->limits(range);
  if (lhs.first == lhs.second && rhs.first == rhs.second) {
    DimExpr same = combine(atom.kind, lhs.first, rhs.first);
    return {same, same};
  }
  switch (atom.kind) {
  case DimExpr::AtomKind::FloorDiv: {
    bool isSame = rhs.first == rhs.second;
    return {isSame ? DimExpr::floorDiv(lhs.first, rhs.first) : DimExpr(0),
            isSame ? DimExpr::floorDiv(lhs.second, rhs.first) : lhs.second};
  }
  case DimExpr::AtomKind::Mod:
    return {DimExpr(0), rhs.second};
  default:
    return {combine(atom.kind, lhs.first, rhs.first), combine(atom.kind, lhs.second, rhs.second)};
  }
}

std::pair<DimExpr, DimExpr> DimExpr::limits(Range range) const {
  if (isOverflow(*this))
    return {*this, *this};
  if (hasQuotients())
    return plain().limits(range);
  std::vector<DimExpr> lows, highs;
  auto add = [&](int64_t coefficient, const Monomial &monomial, const DimExpr &least,
                 const DimExpr &most) {
    bool isNegative = coefficient < 0;
    DimExpr low = (isNegative ? most : least) * coefficient;
    DimExpr high = (isNegative ? least : most) * coefficient;
    for (const Atom &atom : monomial) {
      auto [atLeast, atMost] = atomLimits(atom, range);
      low = low * (isNegative ? atMost : atLeast);
      high = high * (isNegative ? atLeast : atMost);
    }
    lows.push_back(std::move(low));
    highs.push_back(std::move(high));
  };
  RemainderSum sum = splitRemainders(*this);
  for (const RemainderTerm &term : sum.remainders)
    add(term.coefficient, term.others, 0, term.divisor - 1);
  for (const auto &[monomial, coefficient] : sum.products)
    add(coefficient, *monomial, 1, 1);
  add(1, {}, sum.constant, sum.constant);
  return {sumOf(std::move(lows)), sumOf(std::move(highs))};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string DimExpr::str() const { return plain().canonical(); }

/// Appends a term, with its sign.
static void printTerm(raw_ostream &os, bool isFirst, int64_t coefficient,
                      ArrayRef<StringRef> factors) {
  bool negative = coefficient < 0;
  uint64_t magnitude = negative ? 0 - uint64_t(coefficient) : uint64_t(coefficient);
  if (isFirst)
    os << (negative ? "-" : "");
  else
    os << (negative ? " - " : " + ");
  if (magnitude != 1 || factors.empty())
    os << magnitude << (factors.empty() ? "" : " * ");
  interleave(factors, os, " * ");
}

/// The names and operations that are multiplied in a term.
static SmallVector<StringRef> factorsOf(const DimExpr::Monomial &monomial) {
  return map_to_vector(monomial, [](const DimExpr::Atom &atom) { return StringRef(atom.text); });
}

std::string DimExpr::canonical() const {
  if (terms.empty())
    return "0";
  RemainderSum sum = splitRemainders(*this);
  // A quotient or remainder needs parentheses only next to another operator.
  bool isAlone = sum.remainders.size() + sum.products.size() == 1 && sum.constant == 0;
  auto inner = [](StringRef text) { return text.drop_front().drop_back().str(); };
  std::string text;
  raw_string_ostream os(text);
  for (const RemainderTerm &term : sum.remainders) {
    std::string remainder =
        "(" + asOperand(*term.quotient.lhs) + " % " + std::to_string(term.divisor) + ")";
    if (isAlone && term.others.empty() && term.coefficient == 1)
      return inner(remainder);
    SmallVector<StringRef> factors = factorsOf(term.others);
    factors.push_back(remainder);
    printTerm(os, text.empty(), term.coefficient, factors);
  }
  for (auto &[monomial, coefficient] : sum.products) {
    if (isAlone && monomial->size() == 1 && coefficient == 1 && monomial->front().text[0] == '(')
      return inner(monomial->front().text);
    printTerm(os, text.empty(), coefficient, factorsOf(*monomial));
  }
  if (sum.constant != 0)
    printTerm(os, text.empty(), sum.constant, {});
  return text;
}

} // namespace tfc::dfg
