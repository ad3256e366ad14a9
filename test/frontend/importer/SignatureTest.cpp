// Tests the check of nodes against signatures, which runs before any operation is built.

#include "frontend/importer/Signature.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace tfc::importer;

namespace {

struct Signatures : testing::Test {
  /// The errors of a node with this number of inputs, some of which are absent.
  std::vector<std::string> check(const Signature &signature, const Node &node, int64_t inputs,
                                 std::vector<unsigned> absent = {}) {
    std::vector<std::string> errors;
    mlir::MLIRContext context;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      errors.push_back(diagnostic.str());
      return llvm::success();
    });
    Diagnostics diagnostics(&context);
    SignatureChecker(diagnostics, node, mlir::UnknownLoc::get(&context), inputs, absent)
        .check(signature);
    return errors;
  }
};

TEST_F(Signatures, AllErrorsOfANodeAreReported) {
  Node node{"a", "Cast", {}};
  node.attrs["axis"].kind = AttrKind::Float;
  EXPECT_EQ(check("1 -> 1; to:type, axis:int?", node, 2),
            (std::vector<std::string>{
                "'Cast' expects 1 input, but has 2 [graph-edge]",
                "'Cast' expects an attribute 'to' that is a type [graph-attribute]",
                "'Cast' expects the attribute 'axis' to be an int, but it is a float "
                "[graph-attribute]"}));
}

TEST_F(Signatures, AnEmptyListIsOfAnyKind) {
  Node node{"a", "Bucketize", {}};
  node.attrs["boundaries"].kind = AttrKind::EmptyList;
  EXPECT_TRUE(check("1 -> 1; boundaries:floats", node, 1).empty());
  node.attrs["boundaries"].kind = AttrKind::Ints;
  node.attrs["boundaries"].numbers = {1};
  EXPECT_EQ(check("1 -> 1; boundaries:floats", node, 1).size(), 1u);
}

TEST_F(Signatures, AttributesCountInputsAndOutputs) {
  Node node{"a", "Split", {}};
  node.attrs["N"].kind = AttrKind::Int;
  node.attrs["N"].number = 3;
  EXPECT_TRUE(check("2N+1 -> N", node, 7).empty());
  EXPECT_EQ(check("2N+1 -> N", node, 6).size(), 1u);
  EXPECT_EQ(outputCount(node, "1 -> N"), 3);
}

TEST_F(Signatures, TheNumberOfInputsMayHaveARange) {
  Node node{"a", "Pad", {}};
  EXPECT_TRUE(check("2-4 -> 1", node, 2).empty());
  EXPECT_TRUE(check("2-4 -> 1", node, 4).empty());
  EXPECT_EQ(check("2-4 -> 1", node, 1),
            (std::vector<std::string>{"'Pad' expects 2 to 4 inputs, but has 1 [graph-edge]"}));
  EXPECT_EQ(check("2-4 -> 1", node, 5).size(), 1u);
  EXPECT_TRUE(check("2-4+ -> 1", node, 5).empty());
  EXPECT_EQ(check("2+ -> 1", node, 1),
            (std::vector<std::string>{"'Pad' expects at least 2 inputs, but has 1 [graph-edge]"}));
}

TEST_F(Signatures, OnlyOptionalInputsMayBeAbsent) {
  Node node{"a", "Pad", {}};
  node.attrs["N"].kind = AttrKind::Int;
  node.attrs["N"].number = 2;
  EXPECT_TRUE(check("2-4 -> 1", node, 4, {2}).empty());
  EXPECT_TRUE(check("0-2+ -> 1", node, 3, {0, 1}).empty());
  EXPECT_EQ(check("2-4+ -> 1", node, 5, {1, 2, 4}),
            (std::vector<std::string>{
                "'Pad' expects a tensor as input 1, but it is absent [graph-edge]",
                "'Pad' expects a tensor as input 4, but it is absent [graph-edge]"}));
  EXPECT_EQ(check("N -> 1", node, 2, {1}).size(), 1u);
}

TEST_F(Signatures, IntsHaveAMinimum) {
  Node node{"a", "TopK", {}};
  node.attrs["k"].kind = AttrKind::Int;
  EXPECT_TRUE(check("1 -> 1; k:int>=0", node, 1).empty());
  EXPECT_EQ(check("1 -> 1; k:int>=1", node, 1),
            (std::vector<std::string>{"'TopK' expects the attribute 'k' to be at least 1, but got "
                                      "0 [graph-attribute]"}));
  EXPECT_EQ(check("k -> 1; k:int>=1", node, 0),
            (std::vector<std::string>{"'TopK' expects the attribute 'k' to be an int from 1 to "
                                      "65536 [graph-attribute]"}));
  EXPECT_TRUE(check("k -> 1; k:int", node, 0).empty());
  EXPECT_EQ(check("2n -> 1; n:int>=1?", node, 0),
            (std::vector<std::string>{"'TopK' expects at least 2 inputs, but has 0 [graph-edge]"}));
}

TEST_F(Signatures, TheLargestNumberOfOutputsIsKnown) {
  Node node{"a", "Dropout", {}};
  EXPECT_EQ(outputCount(node, "1 -> 1-2"), 2);
  EXPECT_EQ(outputCount(node, "1 -> 1+"), std::nullopt);
  EXPECT_EQ(outputCount(node, "1 -> N"), std::nullopt);
}

} // namespace
