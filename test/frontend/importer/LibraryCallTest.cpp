// Tests calls of functions in graph source by the nodes of a foreign graph.

#include "Reader.h"

using namespace tfc;
using namespace tfc::importer;

namespace {

using Calls = ReaderTest;

TEST_F(Calls, TakeAllInputsThatAreLeftAsAGroup) {
  Node foreign{"join", "ParallelConcat", {}};
  TestNode node = this->node(foreign, {feed(0), feed(0), feed(0)});
  ASSERT_EQ(LibraryCall(node, library).build("ParallelConcat"), Outcome::Done);
  EXPECT_EQ(dfg::toText(node.getResult().getType()), "f32[3 * n, 4]");
}

TEST_F(Calls, TakeListsOfFloats) {
  Node foreign{"places", "Bucketize", {}};
  foreign.attrs["boundaries"].kind = AttrKind::Floats;
  foreign.attrs["boundaries"].reals = {0.5, 1.5};
  TestNode node = this->node(foreign, {feed(0)});
  ASSERT_EQ(LibraryCall(node, library).build("Bucketize"), Outcome::Done);
  EXPECT_EQ(dfg::toText(node.getResult().getType()), "i32[n, 4]");
}

TEST_F(Calls, TakeTensorsFromAttributes) {
  Node foreign{"steps", "SquaredDifference", {}};
  auto type = mlir::RankedTensorType::get({4}, f32);
  foreign.attrs["y"].kind = AttrKind::Tensor;
  foreign.attrs["y"].tensor = mlir::DenseElementsAttr::get(type, {1.f, 2.f, 3.f, 4.f});
  TestNode node = this->node(foreign, {feed(0)});
  ASSERT_EQ(LibraryCall(node, library).build("SquaredDifference"), Outcome::Done);
  EXPECT_NE(node.printed().find("dfg.square"), std::string::npos);
}

TEST_F(Calls, LeaveAbsentInputsToTheirDefaults) {
  Node foreign{"leaky", "LeakyRelu", {}};
  TestNode node = this->node(foreign, {feed(0), NodeValue()});
  ASSERT_EQ(LibraryCall(node, library).build("LeakyRelu"), Outcome::Done);
  EXPECT_NE(node.printed().find("slope = 2.000000e-01"), std::string::npos);
}

TEST_F(Calls, KnowTheSizesThatAFunctionComputes) {
  Node foreign{"clip", "ClipByValue", {}};
  auto bound = [&](int64_t value, unsigned input) {
    auto type = mlir::IntegerType::get(&context, 64);
    return NodeValue(std::make_shared<const dfg::SizeTensor>(*dfg::makeSize(type, value)), input);
  };
  TestNode node = this->node(foreign, {sizes({7, 9}, 0), bound(0, 1), bound(8, 2)});
  ASSERT_EQ(LibraryCall(node, library).build("ClipByValue"), Outcome::Done);
  ASSERT_TRUE(node.getResult().getSizes());
  EXPECT_EQ(node.getResult().getSizes()->values, (dfg::Shape{7, 8}));
}

TEST_F(Calls, ReportErrorsOfTheFunction) {
  Node foreign{"cross", "Cross", {}};
  TestNode node = this->node(foreign, {feed(0), feed(1)});
  EXPECT_EQ(LibraryCall(node, library).build("Cross"), Outcome::Failed);
  EXPECT_FALSE(errors.empty());
}

} // namespace
