// Tests the code that importers share by graphs of the toy format, and compares the modules that
// result.

#include "Toy.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::importer;
using namespace tfc::importer::toy;

namespace {

using Sizes = llvm::SmallVector<int64_t>;

struct Toy : testing::Test {
  Toy() {
    context.loadDialect<dfg::DfgDialect>();
    main().inputs = {{"x", Sizes{-1, 4}},
                     {"low", Sizes()},
                     {"high", Sizes()},
                     {"yes", Sizes(), /*isBool=*/true}};
  }

  ToyGraph &main() { return file.graphs[0]; }
  /// Adds a branch or a loop to it, whose graphs are the other two.
  void addIf(std::vector<std::string> outputs, const std::string &condition) {
    ToyNode &node = main().add(std::move(outputs), "If", {condition});
    node.with("then", 1, AttrKind::Graph).with("else", 2, AttrKind::Graph);
  }
  void addWhile(std::vector<std::string> outputs, std::vector<std::string> inits) {
    ToyNode &node = main().add(std::move(outputs), "While", std::move(inits));
    node.with("condition", 1, AttrKind::Graph).with("body", 2, AttrKind::Graph);
  }

  /// Reads the file and returns the module, or "" after errors.
  std::string read() {
    mlir::OwningOpRef<mlir::ModuleOp> module(
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
    GraphBuilder builder(*module);
    Diagnostics diagnostics(&context);
    text::LibraryCalls library(builder, {"tensorflow"});
    ToyReader(builder, diagnostics, library, file).read();
    if (!errors.empty() || failed(mlir::verify(*module)))
      return "";
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  }

  /// Returns how often the module mentions an operation.
  static size_t count(llvm::StringRef module, llvm::StringRef op) { return module.count(op); }

  mlir::MLIRContext context;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler{
      &context, [this](mlir::Diagnostic &diagnostic) {
        auto name = llvm::dyn_cast<mlir::NameLoc>(diagnostic.getLocation());
        errors.push_back((name ? name.getName().str() + ": " : "") + diagnostic.str());
        return llvm::success();
      }};
  ToyFile file{13, std::vector<ToyGraph>(3)};
};

TEST_F(Toy, GraphsDeclareTheirEntries) {
  main().add({"y"}, "Clip", {"x"});
  main().outputs = {"y"};
  std::string module = read();
  EXPECT_EQ(count(module, "#dfg.dims<n, 4>> {dfg.name = \"x\"}"), 1u) << module;
  EXPECT_EQ(count(module, "#dfg.dims<n, 4>> {dfg.name = \"y\"}"), 1u) << module;
  EXPECT_EQ(count(module, "dfg.maximum"), 0u);
}

TEST_F(Toy, InputsOfGraphsHaveRanks) {
  main().inputs[0].sizes.reset();
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "the graph does not specify how many axes the feed has [graph-entry]"}));
}

TEST_F(Toy, OptionalInputsMayBeAbsent) {
  main().add({"y"}, "Clip", {"x", "", "high"});
  main().add({"z"}, "Clip", {"x", "low"});
  main().outputs = {"y", "z"};
  std::string module = read();
  EXPECT_EQ(count(module, "dfg.maximum"), 1u) << module;
  EXPECT_EQ(count(module, "dfg.minimum"), 1u) << module;
}

TEST_F(Toy, OperationsMayHaveAnyNumberOfInputsAndOtherNames) {
  main().add({"y"}, "Sum", {"x", "low", "high"});
  main().add({"z"}, "Plus", {"y", "x"});
  main().outputs = {"z"};
  EXPECT_EQ(count(read(), "dfg.add"), 3u);
}

TEST_F(Toy, VersionsOfAnOperationDiffer) {
  main().add({"axis"}, "Constant", {}).withInts("value", {1});
  main().add({"y"}, "Unsqueeze", {"x", "axis"});
  main().outputs = {"y"};
  EXPECT_NE(read().find("tensor<?x1x4xf32"), std::string::npos);
  file.version = 12;
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors,
            (std::vector<std::string>{"y: 'Unsqueeze' expects 1 input, but has 2 [graph-edge]",
                                      "y: 'Unsqueeze' expects an attribute 'axis' that is an int "
                                      "[graph-attribute]"}));
}

TEST_F(Toy, FunctionsInGraphSourceAreOperations) {
  main().add({"y"}, "SquaredDifference", {"x", "low"});
  main().add({"z"}, "LeakyRelu", {"y"});
  main().outputs = {"z"};
  std::string module = read();
  EXPECT_EQ(count(module, "dfg.square"), 1u) << module;
  EXPECT_EQ(count(module, "dfg.leaky_relu"), 1u) << module;
}

TEST_F(Toy, GraphsInAttributesAreBranches) {
  file.graphs[1].add({"a"}, "Sum", {"x", "low"});
  file.graphs[1].outputs = {"a"};
  file.graphs[2].outputs = {"x"};
  addIf({"y"}, "yes");
  main().outputs = {"y"};
  std::string module = read();
  EXPECT_EQ(count(module, "dfg.if"), 1u) << module;
  EXPECT_EQ(count(module, "dfg.add"), 1u) << module;
}

TEST_F(Toy, SizesAroundABranchAreKnownInsideAndBuiltInside) {
  main().add({"axis"}, "Constant", {}).withInts("value", {0});
  for (unsigned i : {1, 2}) {
    file.graphs[i].add({"a"}, "Unsqueeze", {"x", "axis"});
    file.graphs[i].outputs = {"a", "axis"};
  }
  addIf({"y", "z"}, "yes");
  main().outputs = {"y", "z", "axis"};
  std::string module = read();
  EXPECT_EQ(count(module, "dfg.constant"), 3u) << module;
  EXPECT_NE(module.find("tensor<1x?x4xf32"), std::string::npos) << module;
}

TEST_F(Toy, GraphsInAttributesAreLoops) {
  file.graphs[1].inputs = {{"i", Sizes()}, {"s", Sizes{-1, 4}}};
  file.graphs[1].add({"go"}, "Less", {"i", "high"});
  file.graphs[1].outputs = {"go"};
  file.graphs[2].inputs = {{"i", Sizes()}, {"s", Sizes{-1, 4}}};
  file.graphs[2].add({"next"}, "Sum", {"i", "low"});
  file.graphs[2].add({"more"}, "Sum", {"s", "x"});
  file.graphs[2].outputs = {"next", "more"};
  addWhile({"last", "sum"}, {"low", "x"});
  main().outputs = {"sum"};
  std::string module = read();
  EXPECT_EQ(count(module, "dfg.while"), 1u) << module;
  EXPECT_EQ(count(module, "dfg.add"), 2u) << module;
}

TEST_F(Toy, AllNodesAreCheckedBeforeOneIsBuilt) {
  file.graphs[1].add({"a"}, "Nothing", {});
  main().add({"b"}, "Clip", {"", "low", "high", "x"});
  main().add({"c", "d"}, "Clip", {"x"});
  main().add({"e"}, "If", {"yes"}).with("then", 1, AttrKind::Graph).with("else", 1);
  main().add({"f"}, "SquaredDifference", {"x", ""});
  main().add({"g"}, "Other", {"x"});
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors,
            (std::vector<std::string>{
                "b: 'Clip' expects 1 to 3 inputs, but has 4 [graph-edge]",
                "b: 'Clip' expects a tensor as input 0, but it is absent [graph-edge]",
                "c: 'Clip' expects 1 output, but has 2 [graph-edge]",
                "e: 'If' expects the attribute 'else' to be a graph, but it is an int "
                "[graph-attribute]",
                "a: the operation 'Nothing' is not supported [unsupported-node]",
                "f: 'SquaredDifference' expects a tensor as input 1, but it is absent [graph-edge]",
                "g: the operation 'Other' is not supported [unsupported-node]"}));
}

TEST_F(Toy, ErrorsOfAllGraphsAreReported) {
  file.graphs[1].add({"a"}, "Sum", {"x", "nowhere"});
  file.graphs[1].outputs = {"a"};
  file.graphs[2].add({"b"}, "Unsqueeze", {"x", "low"});
  file.graphs[2].outputs = {"b"};
  addIf({"y"}, "yes");
  main().add({"z"}, "Sum", {"y", "x"});
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "a: there is no value 'nowhere' [graph-edge]",
                        "b: expected the value of input 1 to be known when the graph is compiled "
                        "[dynamic-shape]"}));
}

TEST_F(Toy, BranchesYieldTheSameTypes) {
  file.graphs[1].outputs = {"low", "x"};
  file.graphs[2].outputs = {"x", "low"};
  addIf({"y"}, "yes");
  addIf({"z"}, "low");
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "y: expected branches with results of the same types, but result 0 is f32 "
                        "and f32[n, 4] [branch-type]",
                        "y: expected branches with results of the same types, but result 1 is "
                        "f32[n, 4] and f32 [branch-type]",
                        "z: expected a bool as the condition, but got f32 [operand]"}));
  errors.clear();
  main().nodes.pop_back();
  file.graphs[2].outputs = {"x"};
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{"y: expected branches with the same number of "
                                              "results, but got 2 and 1 [branch-type]"}));
}

TEST_F(Toy, LoopsKeepTheTypesOfTheirVariables) {
  file.graphs[1].inputs = file.graphs[2].inputs = {{"i", Sizes()}};
  file.graphs[1].outputs = {"yes", "i"};
  file.graphs[2].outputs = {"x"};
  addWhile({"y"}, {"low"});
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "y: expected one result of the condition, but got 2 [operand]",
                        "y: expected a loop variable to keep its type f32, but it becomes "
                        "f32[n, 4] [loop-type]"}));
  errors.clear();
  file.graphs[1].outputs = {"i"};
  file.graphs[2].outputs = {"x", "x"};
  EXPECT_EQ(read(), "");
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "y: expected a bool as the condition, but got f32 [operand]",
                        "y: expected a body with a result for each of the 1 loop variables, but "
                        "got 2 [loop-type]"}));
}

} // namespace
