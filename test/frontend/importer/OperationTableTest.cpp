// Tests how the rule of an operation is found for the version of a graph, with tables made for
// that.

#include "frontend/importer/OperationTable.h"
#include <gtest/gtest.h>

using namespace tfc::importer;

namespace {

struct Rule {
  llvm::StringLiteral op;
  int64_t since;
};

constexpr Rule kShapes[] = {{"Reshape", 1}, {"Reshape", 5}, {"Squeeze", 13}};
constexpr Rule kMath[] = {{"Add", 7}};
constexpr Alias kAliases[] = {{"AddV2", "Add"}};

struct Table : testing::Test {
  int64_t versionOf(llvm::StringRef op, int64_t version) {
    const Rule *rule = table.find(op, version);
    return rule ? rule->since : -1;
  }
  OperationTable<Rule> table{{{"Shapes.cpp", kShapes}, {"Math.cpp", kMath}}, kAliases};
};

TEST_F(Table, ReturnsTheLatestRuleThatIsNotNewerThanTheGraph) {
  EXPECT_EQ(versionOf("Reshape", 1), 1);
  EXPECT_EQ(versionOf("Reshape", 4), 1);
  EXPECT_EQ(versionOf("Reshape", 5), 5);
  EXPECT_EQ(versionOf("Reshape", 21), 5);
}

TEST_F(Table, HasNoRuleForOlderGraphsAndOtherNames) {
  EXPECT_EQ(versionOf("Squeeze", 12), -1);
  EXPECT_EQ(versionOf("Transpose", 21), -1);
}

TEST_F(Table, KnowsOtherNames) {
  EXPECT_EQ(versionOf("AddV2", 7), 7);
  EXPECT_EQ(versionOf("AddV2", 6), -1);
  EXPECT_EQ(table.originalOf("AddV2"), "Add");
  EXPECT_EQ(table.originalOf("Squeeze"), "Squeeze");
}

} // namespace
