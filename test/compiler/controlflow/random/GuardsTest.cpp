//===- GuardsTest.cpp - Decision diagrams against truth tables ------------===//
//
// Compares decision diagrams with truth tables over five variables, without a graph.
//
//===----------------------------------------------------------------------===//

#include "compiler/controlflow/Guards.h"
#include "gtest/gtest.h"
#include <random>

using namespace tfc::controlflow;

namespace {
constexpr unsigned kVariables = 5;

/// A guard with its values for all assignments of five variables, as bits.
struct Function {
  Guard guard;
  uint32_t table;
};

Function variable(Guards &guards, unsigned index) {
  uint32_t table = 0;
  for (unsigned row = 0; row < 32; ++row)
    table |= uint32_t((row >> index) & 1) << row;
  return {guards.variable(index), table};
}
} // namespace

TEST(Guards, AgreeWithTruthTables) {
  Guards guards;
  std::mt19937 random(1);
  std::vector<Function> functions{{kNever, 0}, {kAlways, ~0u}};
  for (unsigned i = 0; i < kVariables; ++i)
    functions.push_back(variable(guards, i));
  std::map<uint32_t, Guard> known;
  for (unsigned i = 0; i < 2000; ++i) {
    auto pick = [&] { return functions[random() % functions.size()]; };
    Function a = pick(), b = pick(), c = pick();
    Function result{guards.choose(a.guard, b.guard, c.guard),
                    (a.table & b.table) | (~a.table & c.table)};
    EXPECT_EQ(guards.implies(a.guard, b.guard), (a.table & ~b.table) == 0);
    EXPECT_EQ(guards.exclude(a.guard, b.guard), (a.table & b.table) == 0);
    Guard simple = guards.simplify(a.guard, b.guard);
    EXPECT_EQ(guards.both(simple, b.guard), guards.both(a.guard, b.guard));
    // Equal functions are equal numbers.
    EXPECT_EQ(known.try_emplace(result.table, result.guard).first->second, result.guard);
    functions.push_back(result);
  }
}

TEST(Guards, NameTheVariablesTheyDependOn) {
  Guards guards;
  Guard p = guards.variable(0), q = guards.variable(1), r = guards.variable(2);
  llvm::SetVector<unsigned> support;
  guards.addSupport(guards.choose(q, guards.both(p, r), guards.negate(p)), support);
  EXPECT_EQ(support.size(), 3u);
  support.clear();
  guards.addSupport(guards.either(guards.both(p, q), guards.both(p, guards.negate(q))), support);
  EXPECT_EQ(support.getArrayRef(), llvm::ArrayRef<unsigned>{0});
}
