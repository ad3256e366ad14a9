// Tests which names of a module are still free.

#include "frontend/importer/Symbols.h"
#include "dialects/dfg/Dfg.h"
#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::importer;

namespace {

TEST(Symbols, ANameIsDeclaredByOneKindOfOperation) {
  ModuleSymbols symbols;
  EXPECT_FALSE(symbols.isClaimed<dfg::QueueOp>("q"));
  EXPECT_TRUE(symbols.claim<dfg::QueueOp>("q"));
  EXPECT_TRUE(symbols.claim<dfg::QueueOp>("q"));
  EXPECT_FALSE(symbols.claim<dfg::VariableOp>("q"));
  EXPECT_TRUE(symbols.isClaimed<dfg::QueueOp>("q"));
}

TEST(Symbols, ANameIsDeclaredOnce) {
  ModuleSymbols symbols;
  EXPECT_TRUE(symbols.declare("q"));
  EXPECT_FALSE(symbols.declare("q"));
  EXPECT_TRUE(symbols.declare("r"));
}

} // namespace
