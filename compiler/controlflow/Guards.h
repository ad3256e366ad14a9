//===- Guards.h - Boolean functions of predicates -------------------------===//

#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include <tuple>
#include <vector>

namespace tfc::controlflow {

/// A Boolean function, as the number of its node in a `Guards`: equal functions have equal numbers.
using Guard = unsigned;
constexpr Guard kNever = 0, kAlways = 1;

/// Reduced ordered binary decision diagrams (Bryant 1986), hash-consed, so that equality,
/// implication and exclusion are exact. Variables are numbered in the order in which they are
/// tested.
class Guards {
public:
  Guards();

  /// The number of different functions that have been computed.
  size_t size() const { return nodes.size(); }

  /// The function that is the variable `index`.
  Guard variable(unsigned index) { return make(index, kAlways, kNever); }

  Guard both(Guard a, Guard b) { return choose(a, b, kNever); }
  Guard either(Guard a, Guard b) { return choose(a, kAlways, b); }
  Guard negate(Guard a) { return choose(a, kNever, kAlways); }
  /// `a` where `condition` holds, else `b`.
  Guard choose(Guard condition, Guard a, Guard b);

  bool implies(Guard a, Guard b) { return choose(a, b, kAlways) == kAlways; }
  bool exclude(Guard a, Guard b) { return both(a, b) == kNever; }

  /// A function that equals `guard` wherever `known` holds, simplified as far as is cheap.
  Guard simplify(Guard guard, Guard known);

  /// `guard` with each variable replaced by a function.
  Guard substitute(Guard guard, llvm::function_ref<Guard(unsigned)> replacement);

  /// Adds the variables on which `guard` depends.
  void addSupport(Guard guard, llvm::SetVector<unsigned> &variables) const;

  /// The first variable that a function tests, and its cofactors if it is true or false.
  unsigned topOf(Guard guard) const { return nodes[guard].variable; }
  Guard highOf(Guard guard) const { return nodes[guard].high; }
  Guard lowOf(Guard guard) const { return nodes[guard].low; }

private:
  struct Node {
    unsigned variable;
    Guard high, low;
  };

  Guard make(unsigned variable, Guard high, Guard low);
  Guard simplifyTop(Guard guard, Guard known);
  Guard cofactor(Guard guard, unsigned variable, bool value) const;

  std::vector<Node> nodes;
  llvm::DenseMap<std::tuple<unsigned, Guard, Guard>, Guard> unique;
  llvm::DenseMap<std::tuple<Guard, Guard, Guard>, Guard> chosen;
  llvm::DenseMap<std::pair<Guard, Guard>, Guard> simplified;
};

} // namespace tfc::controlflow
