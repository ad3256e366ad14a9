// Tests how inputs of a node become sizes or tensors, with nodes that are built directly and not
// read by a reader.

#include "Reader.h"

using namespace tfc;
using namespace tfc::importer;
using dfg::DimExpr;

namespace {

using Nodes = ReaderTest;

TEST_F(Nodes, SizesNeedNoOperations) {
  Node foreign{"a", "Add", {}};
  DimExpr n = DimExpr::symbol("n");
  TestNode node = this->node(foreign, {sizes({n, 3}, 0), sizes({n, 4}, 1)});
  uint64_t before = builder.getOperationCount();
  node.done({node.op("mul", {node.in(0), node.in(1)})});
  ASSERT_TRUE(node.getResult().getSizes());
  EXPECT_EQ(node.getResult().getSizes()->values, (dfg::Shape{n * n, 12}));
  EXPECT_EQ(builder.getOperationCount(), before);
  EXPECT_EQ(node.getUsed(), (std::vector<unsigned>{0, 1}));
}

TEST_F(Nodes, SizesBecomeValuesWhereOperationsNeedThem) {
  Node foreign{"a", "Add", {}};
  TestNode node = this->node(foreign, {sizes({0, 1}, 0)});
  node.done({node.op("gather", {feed(0), node.in(0)}, node.attrs.integer("axis", 1))});
  EXPECT_FALSE(node.getResult().getSizes());
  EXPECT_EQ(dfg::toText(node.getResult().getType()), "f32[n, 2]");
  EXPECT_TRUE(node.getUsed().empty());
}

TEST_F(Nodes, SizesThatDependOnSymbolsAreNoNumbers) {
  Node foreign{"a", "Reshape", {}};
  TestNode node = this->node(foreign, {sizes({DimExpr::symbol("n")}, 0)});
  EXPECT_TRUE(node.dims(0));
  EXPECT_FALSE(node.ints(0));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "expected the value of input 0 to be a number, but got n [dynamic-shape]");
}

TEST_F(Nodes, SizesFollowFromOperations) {
  auto i64 = mlir::IntegerType::get(&context, 64);
  mlir::Value size = builder.size(DimExpr::symbol("n"), i64, location);
  mlir::Value two = builder.scalar(int64_t(2), i64, location);
  mlir::Operation *product = *builder.create("mul", {size, two}, {}, location);
  mlir::Operation *both = *builder.create("stack", {product->getResult(0), two}, {}, location);
  auto sizes = dfg::evaluateSizes(both->getResult(0));
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->values, (dfg::Shape{DimExpr::symbol("n") * 2, 2}));
  EXPECT_FALSE(dfg::evaluateSizes(feed(0).getValue()));
}

TEST_F(Nodes, InputsOfOperationsAreTensors) {
  Node foreign{"a", "Neg", {}};
  AttributeBuilder attrs(&context);
  mlir::Value size = builder.scalar(int64_t(2), mlir::IntegerType::get(&context, 32), location);
  mlir::Operation *list =
      *builder.create("list_create", size,
                      {attrs.sizes("shape", dfg::Shape{4}), attrs.type("dtype", f32)}, location);
  TestNode node = this->node(foreign, {NodeValue(list->getResult(0))});
  EXPECT_FALSE(node.in(0));
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "expected a tensor, but got list[f32[4]] for input 0 [graph-edge]"}));
}

TEST_F(Nodes, FormatsNeedNoGraphsInAttributes) {
  Node foreign{"a", "If", {}};
  EXPECT_FALSE(node(foreign, {}).buildGraph("then", {}));
  EXPECT_EQ(errors, (std::vector<std::string>{"tfc does not read the graph in the attribute 'then' "
                                              "[unsupported-node]"}));
}

TEST_F(Nodes, ErrorsAreReportedOnceThoughTheyCount) {
  for (unsigned i = 0; i < 2; ++i)
    diagnostics.error(location) << "no shape";
  diagnostics.error(location) << "no type";
  EXPECT_EQ(errors, (std::vector<std::string>{"no shape", "no type"}));
  EXPECT_EQ(diagnostics.getErrorCount(), 3u);
}

} // namespace
