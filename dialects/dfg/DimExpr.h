//===- DimExpr.h - Symbolic sizes of dimensions ---------------------------===//
//
// The one prover for equality of sizes. A size is an integer polynomial over
// named dimensions and opaque atoms (`a // b`, `a % b`, `min`, `max`), held in
// a canonical form: two expressions are provably equal if and only if their
// canonical forms are.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tfc::dfg {

class DimExpr {
public:
  enum class AtomKind { Symbol, FloorDiv, Mod, Min, Max };

  /// A factor that the prover does not look into: a name, or an operation on two sizes.
  struct Atom {
    AtomKind kind;
    std::string name; // of a symbol
    std::shared_ptr<const DimExpr> lhs, rhs;
    std::string text; // canonical, decides order and equality
    bool operator<(const Atom &other) const { return text < other.text; }
    bool operator==(const Atom &other) const { return text == other.text; }
  };
  using Monomial = std::vector<Atom>; // sorted; empty for the constant term
  using Interval = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  using Bounds = llvm::function_ref<Interval(llvm::StringRef)>;
  using Range = llvm::function_ref<std::pair<DimExpr, DimExpr>(llvm::StringRef)>;

  DimExpr(int64_t value = 0);
  static DimExpr symbol(llvm::StringRef name);

  /// Reads what `str` prints; nothing on a syntax error or overflow.
  static std::optional<DimExpr> parse(llvm::StringRef text);

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator-(const DimExpr &other) const;
  DimExpr operator*(const DimExpr &other) const;
  /// Rounds towards minus infinity, as `//` does; division by the constant 0 stays symbolic.
  static DimExpr floorDiv(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr mod(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr min(const DimExpr &lhs, const DimExpr &rhs);
  static DimExpr max(const DimExpr &lhs, const DimExpr &rhs);

  bool operator==(const DimExpr &other) const { return terms == other.terms; }
  bool operator!=(const DimExpr &other) const { return !(*this == other); }

  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  /// The name, if the expression is a single named dimension.
  std::optional<llvm::StringRef> asSymbol() const;

  /// `scale * name + offset`, if the expression has that form with scale != 0.
  struct Linear {
    std::string name;
    int64_t scale, offset;
  };
  std::optional<Linear> asLinear() const;

  /// Names of all dimensions in it, in order of first appearance, appended without repetition.
  void collectSymbols(llvm::SmallVectorImpl<std::string> &names) const;

  /// Replaces every name by what `lookup` gives for it; nothing if a lookup gives nothing.
  std::optional<DimExpr>
  substitute(llvm::function_ref<std::optional<DimExpr>(llvm::StringRef)> lookup) const;

  /// Value for given sizes; nothing on overflow, division by zero or a name without a value.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;

  /// Smallest and largest value over the given bounds, where interval arithmetic shows one.
  Interval interval(Bounds bounds) const;

  /// Expressions that are not larger and not smaller, whatever values between the limits that
  /// `range` gives its names have; where a name is its own limit, it stays. No size is negative.
  std::pair<DimExpr, DimExpr> limits(Range range) const;

  /// Canonical text in the graph language: `4 * m + n + 1`.
  std::string str() const;

  const std::map<Monomial, int64_t> &getTerms() const { return terms; }

private:
  static DimExpr atom(AtomKind kind, const DimExpr &lhs, const DimExpr &rhs);
  /// `coefficient` times factors as they are.
  static DimExpr makeTerm(const Monomial &monomial, int64_t coefficient);
  void add(const Monomial &monomial, int64_t coefficient);

  std::map<Monomial, int64_t> terms;
};

} // namespace tfc::dfg
