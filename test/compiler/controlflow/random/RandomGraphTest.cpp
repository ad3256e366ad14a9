//===- RandomGraphTest.cpp - Both forms of random graphs mean the same ----===//
//
// Runs the stage on random graphs: both forms of a valid graph must have the same outcome, and an
// invalid one must be refused or lead to a valid module.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace tfc::controlflow::test;

static unsigned numberFrom(const char *name, unsigned standard) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : standard;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

// Every invalid graph is an error, and every graph that is not refused is well-formed.
TEST(RandomGraph, IsRefusedWhereItIsWrong) {
  unsigned count = numberFrom("TFC_GRAPHS", 2000);
  unsigned first = numberFrom("TFC_FIRST_GRAPH", 0), refused = 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tfc::dfg::DfgDialect, func::FuncDialect>();
  for (unsigned seed = first; seed < first + count; ++seed) {
    OwningOpRef<ModuleOp> module = makeRandomGraph(&context, seed);
    mutate(*module, seed);
    ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
    if (failed(verify(*module)))
      continue;
    std::string messages = structureGraph(*module);
    refused += !messages.empty();
    EXPECT_FALSE(StringRef(messages).contains("op ")) << "seed " << seed << ": " << messages;
  }
  EXPECT_GT(refused, count / 10);
}

// TFC_GRAPHS and TFC_FIRST_GRAPH choose other seeds.
TEST(RandomGraph, RunsAsTheTokensDo) {
  unsigned first = numberFrom("TFC_FIRST_GRAPH", 0), count = numberFrom("TFC_GRAPHS", 2000);
  unsigned failures = 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tfc::dfg::DfgDialect, func::FuncDialect>();
  for (unsigned seed = first; seed < first + count && failures < 3; ++seed) {
    OwningOpRef<ModuleOp> module = makeRandomGraph(&context, seed);
    ASSERT_TRUE(succeeded(verify(*module))) << "seed " << seed << "\n" << print(*module);
    std::string text = compareForms(*module);
    if (text.empty())
      continue;
    ++failures;
    if (!StringRef(text).starts_with("refused"))
      shrink(*module);
    ADD_FAILURE() << "seed " << seed << ": " << text << "\n"
                  << compareForms(*module) << "\n"
                  << print(*module);
  }
}
