#include "frontend/importer/Signature.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace tfc::importer;

namespace {

struct Signatures : testing::Test {
  /// The errors of a node with so many inputs.
  std::vector<std::string> check(const Signature &signature, const Node &node, int64_t inputs) {
    std::vector<std::string> errors;
    mlir::MLIRContext context;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      errors.push_back(diagnostic.str());
      return llvm::success();
    });
    Diagnostics diagnostics(&context);
    SignatureChecker(diagnostics, node, mlir::UnknownLoc::get(&context)).check(signature, inputs);
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

} // namespace
