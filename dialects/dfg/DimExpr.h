//===- DimExpr.h - Symbolic sizes of dimensions ---------------------------===//
//
// All proofs of equality of sizes are made here. A size is an integer
// polynomial over named dimensions and opaque atoms (`a // b`, `a % b`, `min`,
// `max`), held in a canonical form: two expressions are provably equal if and
// only if their canonical forms are. `n % 4` is `n - 4 * (n // 4)`, which text
// and bounds find again.
//
// A name that is known to leave the remainder r when divided by k stands for
// `k * q + r`, where the atom `q = (n - r) / k` is an exact quotient. So no proof
// needs to know such facts: `4 * (n // 4)` and `n` have the same canonical form if
// n is a multiple of 4. Messages show `n`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tfc::dfg {

/// Names in the order in which they were found.
using NameSet = llvm::SetVector<std::string, llvm::SmallVector<std::string>, llvm::StringSet<>>;

class DimExpr {
public:
  enum class AtomKind { Symbol, FloorDiv, Mod, Min, Max, Quotient };

  /// A factor that is opaque to the prover: a name, or an operation on two sizes.
  struct Atom {
    AtomKind kind;
    std::string name; // of a symbol
    std::shared_ptr<const DimExpr> lhs, rhs;
    std::string text; // canonical; determines order and equality
    bool operator<(const Atom &other) const { return text < other.text; }
    bool operator==(const Atom &other) const { return text == other.text; }
  };
  using Monomial = std::vector<Atom>; // sorted; empty for the constant term
  using Interval = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  using Bounds = llvm::function_ref<Interval(llvm::StringRef)>;
  using Range = llvm::function_ref<std::pair<DimExpr, DimExpr>(llvm::StringRef)>;

  DimExpr(int64_t value = 0);
  static DimExpr symbol(llvm::StringRef name);

  /// A named dimension that leaves `remainder` when divided by `divisor`: 0 <= remainder < divisor.
  static DimExpr multiple(llvm::StringRef name, int64_t divisor, int64_t remainder);

  /// Parses the output of `canonical`; std::nullopt on a syntax error or overflow.
  static std::optional<DimExpr> parse(llvm::StringRef text);

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator-(const DimExpr &other) const;
  DimExpr operator*(const DimExpr &other) const;
  /// Rounds toward negative infinity, as `//` does; division by the constant 0 stays symbolic.
  static DimExpr floorDiv(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr mod(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr min(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr max(const DimExpr &lhs, const DimExpr &rhs);
  /// `lhs / rhs` where the remainder is known to be 0; rounds down otherwise.
  static DimExpr quotient(const DimExpr &lhs, const DimExpr &rhs);

  bool operator==(const DimExpr &other) const { return terms == other.terms; }
  bool operator!=(const DimExpr &other) const { return !(*this == other); }

  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  /// The name if the expression is a single named dimension, else std::nullopt.
  std::optional<llvm::StringRef> asSymbol() const;

  /// `scale * name + offset`, if the expression has that form with scale != 0.
  struct Linear {
    std::string name;
    int64_t scale, offset;
  };
  std::optional<Linear> asLinear() const;

  /// Visits the names of all dimensions in it, once for each time that they occur.
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Names of all dimensions in it, in order of first appearance, appended without repetition. The
  /// set is for the names of many sizes.
  void collectSymbols(llvm::SmallVectorImpl<std::string> &names) const;
  void collectSymbols(NameSet &names) const;

  /// Replaces every name by the result of `lookup`; std::nullopt if a lookup fails.
  std::optional<DimExpr>
  substitute(llvm::function_ref<std::optional<DimExpr>(llvm::StringRef)> lookup) const;

  /// The value for given sizes; std::nullopt on overflow, division by zero or a name without a
  /// value.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;

  /// The smallest and largest value within the given bounds, as far as interval arithmetic finds
  /// them. Quotients, remainders, minima and maxima are compared with what they are made of, so
  /// `n - n // 2` is at least 0.
  Interval interval(Bounds bounds) const;
  /// The same for names that may have any size.
  Interval interval() const;

  /// A lower and an upper bound as expressions, valid for all values of the names within the limits
  /// that `range` returns; a name that is its own limit is kept. Sizes are never negative.
  std::pair<DimExpr, DimExpr> limits(Range range) const;

  /// The same number without exact quotients, for people and for code that computes it.
  DimExpr plain() const;

  /// Canonical text, as the intermediate form has it: `4 * m + n + 1`, `2 * (n / 4)`.
  std::string canonical() const;
  /// Text in the graph language, for people: `4 * m + n + 1`, `n // 2`.
  std::string str() const;

  const std::map<Monomial, int64_t> &getTerms() const { return terms; }

private:
  static DimExpr atom(AtomKind kind, const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr divideByNumber(const DimExpr &lhs, int64_t by);
  bool hasQuotients() const;
  Interval sumOfIntervals(Bounds bounds) const;
  /// Expressions each of which, divided by `scale`, is a bound on one side of this one.
  struct Relaxation {
    std::vector<DimExpr> bounds;
    int64_t scale = 1;
  };
  std::optional<Relaxation> relax(bool isLower, Bounds bounds) const;
  std::optional<int64_t> relaxedBound(bool isLower, Bounds bounds, unsigned depth) const;
  /// `coefficient` times the factors, without simplification.
  static DimExpr makeTerm(const Monomial &monomial, int64_t coefficient);
  void add(const Monomial &monomial, int64_t coefficient);

  std::map<Monomial, int64_t> terms;
};

} // namespace tfc::dfg
