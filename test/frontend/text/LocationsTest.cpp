// Tests the conversions between source ranges and MLIR's locations.
#include "frontend/text/Locations.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace tfc::text;

namespace {

struct Locations : testing::Test {
  mlir::MLIRContext context;
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  FileId file = sources.add("a.graph", "fn f(x: f32) {\n  y = matmul(x, \u00e9, w)\n}\nf(1)\n");

  SourceRange rangeOf(llvm::StringRef text) {
    uint32_t begin = sources.text(file).find(text);
    return {file, begin, uint32_t(begin + text.size())};
  }
  mlir::Location locationOf(llvm::StringRef text) {
    return toLocation(&context, sources, rangeOf(text));
  }
  std::string printed() {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.flush(os);
    return text;
  }
};

TEST_F(Locations, ComeBackAsTheSameRange) {
  EXPECT_EQ(toRange(locationOf("w)"), sources), rangeOf("w)"));
  EXPECT_EQ(toRange(locationOf("{\n  y = matmul(x"), sources), rangeOf("{\n  y = matmul(x"));
  EXPECT_FALSE(toRange(mlir::UnknownLoc::get(&context), sources).isValid());
}

TEST_F(Locations, OfNamedAndFusedNodesAreTheirFirstPlace) {
  auto named = mlir::NameLoc::get(mlir::StringAttr::get(&context, "train/y"), locationOf("w)"));
  auto fused = mlir::FusedLoc::get(&context, {named, locationOf("f(1)")});
  EXPECT_EQ(toRange(fused, sources), rangeOf("w)"));
}

TEST_F(Locations, ErrorsOfStagesLookLikeThoseOfTheParser) {
  MlirDiagnosticHandler handler(&context, diagnostics);
  auto call = mlir::CallSiteLoc::get(locationOf("matmul(x, \u00e9, w)"), locationOf("f(1)"));
  mlir::InFlightDiagnostic error = mlir::emitError(call, "expected f32[4] [inner-dimensions]");
  error.attachNote(locationOf("x: f32")) << "'x' is declared here";
  error.attachNote(locationOf("x: f32")) << "help: transpose it";
  error.report();
  EXPECT_EQ(diagnostics.errorCount(), 1u);
  EXPECT_EQ(printed(), "a.graph:2:7: error: expected f32[4] [inner-dimensions]\n"
                       "  y = matmul(x, \u00e9, w)\n"
                       "      ^~~~~~~~~~~~~~~\n"
                       "a.graph:1:6: note: 'x' is declared here\n"
                       "a.graph:4:1: note: in this call\n"
                       "help: transpose it\n");
}

TEST_F(Locations, ErrorsAboutUnknownFilesNameThem) {
  MlirDiagnosticHandler handler(&context, diagnostics);
  mlir::emitError(mlir::FileLineColLoc::get(&context, "b.graph", 3, 4), "no [4] [graph-file]");
  EXPECT_EQ(printed(), "b.graph:3:4: error: no [4] [graph-file]\n");
}

TEST_F(Locations, OneErrorIsPrintedOnceAndInOrder) {
  diagnostics.error(rangeOf("f(1)"), "late", "second");
  diagnostics.error(rangeOf("x: f32"), "early", "first");
  diagnostics.error(rangeOf("f(1)"), "late", "second");
  EXPECT_EQ(printed(), "a.graph:1:6: error: first [early]\n"
                       "fn f(x: f32) {\n"
                       "     ^~~~~~\n"
                       "a.graph:4:1: error: second [late]\n"
                       "f(1)\n"
                       "^~~~\n");
}

} // namespace
