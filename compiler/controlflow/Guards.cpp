//===- Guards.cpp - Boolean functions of predicates -----------------------===//
//
// Implements binary decision diagrams for the conditions under which nodes run. They do not know
// nodes, so that a unit test can compare them with truth tables.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Guards.h"
#include <algorithm>

using namespace llvm;
using namespace tfc::controlflow;

// Constants test a variable that comes after all others.
Guards::Guards() : nodes{{~0u, kNever, kNever}, {~0u, kAlways, kAlways}} {}

Guard Guards::make(unsigned variable, Guard high, Guard low) {
  if (high == low)
    return high;
  auto [entry, isNew] = unique.try_emplace({variable, high, low}, nodes.size());
  if (isNew)
    nodes.push_back({variable, high, low});
  return entry->second;
}

Guard Guards::cofactor(Guard guard, unsigned variable, bool value) const {
  const Node &node = nodes[guard];
  if (node.variable != variable)
    return guard;
  return value ? node.high : node.low;
}

Guard Guards::choose(Guard condition, Guard a, Guard b) {
  if (condition == kAlways || a == b)
    return a;
  if (condition == kNever)
    return b;
  if (a == kAlways && b == kNever)
    return condition;
  std::tuple key(condition, a, b);
  if (auto found = chosen.find(key); found != chosen.end())
    return found->second;
  unsigned top = std::min({topOf(condition), topOf(a), topOf(b)});
  auto part = [&](bool value) {
    return choose(cofactor(condition, top, value), cofactor(a, top, value),
                  cofactor(b, top, value));
  };
  Guard high = part(true);
  return chosen[key] = make(top, high, part(false));
}

Guard Guards::simplify(Guard guard, Guard known) {
  if (guard <= kAlways || known == kAlways)
    return guard;
  if (implies(known, guard))
    return kAlways;
  if (exclude(known, guard))
    return kNever;
  if (auto found = simplified.find({guard, known}); found != simplified.end())
    return found->second;
  Guard result = simplifyTop(guard, known);
  return simplified[{guard, known}] = result;
}

Guard Guards::simplifyTop(Guard guard, Guard known) {
  unsigned top = topOf(guard), knownTop = topOf(known);
  if (knownTop < top)
    return simplify(guard, either(highOf(known), lowOf(known)));
  Guard onTrue = cofactor(known, top, true), onFalse = cofactor(known, top, false);
  if (onTrue == kNever)
    return simplify(lowOf(guard), onFalse);
  if (onFalse == kNever)
    return simplify(highOf(guard), onTrue);
  Guard high = simplify(highOf(guard), onTrue);
  return make(top, high, simplify(lowOf(guard), onFalse));
}

Guard Guards::substitute(Guard guard, function_ref<Guard(unsigned)> replacement) {
  DenseMap<Guard, Guard> known;
  auto substituted = [&](auto &substituted, Guard part) -> Guard {
    if (part <= kAlways)
      return part;
    if (auto found = known.find(part); found != known.end())
      return found->second;
    Guard high = substituted(substituted, highOf(part));
    Guard low = substituted(substituted, lowOf(part));
    return known[part] = choose(replacement(topOf(part)), high, low);
  };
  return substituted(substituted, guard);
}

void Guards::addSupport(Guard guard, SetVector<unsigned> &variables) const {
  SmallVector<Guard> work{guard};
  DenseSet<Guard> seen;
  while (!work.empty()) {
    Guard next = work.pop_back_val();
    if (next <= kAlways || !seen.insert(next).second)
      continue;
    variables.insert(topOf(next));
    work.append({lowOf(next), highOf(next)});
  }
}
