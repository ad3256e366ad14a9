//===- InstanceTest.cpp - Executing modules through the library -----------===//
//
// Tests the oracle through its C++ interface: operations, state, listeners and gradients.
// Comparisons with compiled models are elsewhere.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Interpreter.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc::reference;

namespace {
struct Instances : testing::Test {
  Instances() { context.loadDialect<tfc::dfg::DfgDialect>(); }

  ModuleOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return *module;
  }

  Tensor vector(std::vector<double> values) {
    Tensor tensor(Float32Type::get(&context), {int64_t(values.size())});
    for (auto [i, value] : llvm::enumerate(values))
      tensor.setReal(i, {value, 0});
    return tensor;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<Tensor> fetches;
};

/// Operations that are no computation: declarations, terminators, parts of `dfg.dataflow`.
constexpr StringLiteral kStructure[] = {
    "dfg.entry", "dfg.kernel", "dfg.variable", "dfg.tape", "dfg.queue", "dfg.return", "dfg.yield",
    "dfg.node", "dfg.switch", "dfg.merge", "dfg.enter", "dfg.exit", "dfg.condition",
    "dfg.next_iteration", "dfg.loop_cond",
    // Partition creates messages; the reference executes entries that are not divided.
    "dfg.send", "dfg.receive", "dfg.await_release", "dfg.commit"};
} // namespace

/// The oracle reads no files: it refuses such graphs.
static constexpr StringLiteral kReadsFiles[] = {"dfg.dataset", "dfg.read_rows", "dfg.dataset_size"};

TEST_F(Instances, EveryOperationIsExecuted) {
  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("dfg")) {
    StringRef name = op.getStringRef();
    EXPECT_TRUE(getRegistry().find(name) || getHandlers().find(name) ||
                llvm::is_contained(kStructure, name) || llvm::is_contained(kReadsFiles, name))
        << name.str() << " has no evaluator in compiler/reference";
  }
}

static constexpr StringLiteral kCounting = R"mlir(
dfg.variable @w : tensor<2xf32>
dfg.entry @start() attributes {initializer} {
  %one = dfg.constant dense<1.0> : tensor<2xf32>
  %w = dfg.assign @w, %one : tensor<2xf32>
  dfg.return
}
dfg.entry @add(%x: tensor<2xf32> {dfg.name = "x"}) -> (tensor<2xf32> {dfg.name = "y"}) {
  %w = dfg.read @w : tensor<2xf32>
  %y = dfg.add %w, %x : tensor<2xf32>, tensor<2xf32>
  %new = dfg.assign @w, %y : tensor<2xf32>
  %zero = dfg.constant dense<0.0> : tensor<f32>
  %s = dfg.sum %y : tensor<2xf32>
  %ok = dfg.greater %s, %zero : tensor<f32>, tensor<f32>
  dfg.check %ok, "too small", failed_precondition : tensor<i1>
  dfg.return %y : tensor<2xf32>
}
)mlir";

TEST_F(Instances, KeepVariablesFromCallToCall) {
  Instance instance(parse(kCounting));
  ASSERT_TRUE(instance.initialize().isOk());
  ASSERT_TRUE(instance.call("add", vector({1, 2}), fetches).isOk());
  ASSERT_TRUE(instance.call("add", vector({1, 2}), fetches).isOk());
  EXPECT_EQ(fetches[0].number(1), 5);
  EXPECT_EQ(instance.getVariable("w")->number(0), 3);
}

TEST_F(Instances, FailingCallsChangeNothing) {
  Instance instance(parse(kCounting));
  ASSERT_TRUE(instance.initialize().isOk());
  Status status = instance.call("add", vector({-5, 2}), fetches);
  EXPECT_EQ(status.code, Status::Code::FailedPrecondition);
  EXPECT_EQ(status.message, "add: too small");
  EXPECT_TRUE(status.isDetermined);
  EXPECT_EQ(instance.getVariable("w")->number(0), 1);
  EXPECT_EQ(instance.call("none", {}, fetches).code, Status::Code::NotFound);
  EXPECT_EQ(instance.call("add", vector({1}), fetches).code, Status::Code::InvalidArgument);
}

TEST_F(Instances, NotifyTheListenerOfEachOperation) {
  std::vector<std::string> names;
  Options options;
  options.onExecuted = [&](const Execution &execution) {
    names.push_back(execution.op->getName().stripDialect().str());
  };
  Instance instance(parse(kCounting), options);
  ASSERT_TRUE(instance.call("add", vector({1, 2}), fetches).isOk());
  EXPECT_EQ(names, (std::vector<std::string>{"add", "constant", "sum", "greater"}));
}

TEST_F(Instances, ContinueFromValuesOfAListener) {
  Options options;
  options.onExecuted = [&](const Execution &execution) {
    Tensor sum(Float32Type::get(execution.op->getContext()), {2});
    sum.setReal(0, {7, 0});
    if (execution.op->getName().stripDialect() == "add")
      execution.replace(0, sum);
  };
  Instance instance(parse(kCounting), options);
  ASSERT_TRUE(instance.call("add", vector({1, 2}), fetches).isOk());
  EXPECT_EQ(instance.getVariable("w")->number(0), 7);
}

/// A cube computed by a loop, with its first and second derivatives.
TEST_F(Instances, GradientsFollowWhatWasExecuted) {
  Instance instance(parse(R"mlir(
dfg.entry @f(%v: tensor<1xf32> {dfg.name = "v"}) -> (tensor<f32> {dfg.name = "a"}, tensor<f32> {dfg.name = "b"}) {
  %x = dfg.sum %v : tensor<1xf32>
  %i = dfg.constant dense<0> : tensor<i32>
  %one = dfg.constant dense<1> : tensor<i32>
  %three = dfg.constant dense<3> : tensor<i32>
  %unit = dfg.constant dense<1.0> : tensor<f32>
  %n, %y = dfg.while (%i, %unit) : tensor<i32>, tensor<f32> {
  ^bb0(%j: tensor<i32>, %p: tensor<f32>):
    %go = dfg.less %j, %three : tensor<i32>, tensor<i32>
    dfg.condition %go : tensor<i1>
  } do {
  ^bb0(%j: tensor<i32>, %p: tensor<f32>):
    %next = dfg.add %j, %one : tensor<i32>, tensor<i32>
    %q = dfg.mul %p, %x : tensor<f32>, tensor<f32>
    dfg.yield %next, %q : tensor<i32>, tensor<f32>
  }
  %a = dfg.gradients %y, [%x] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = dfg.gradients %a, [%x] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  dfg.return %a, %b : tensor<f32>, tensor<f32>
}
)mlir"));
  ASSERT_TRUE(instance.call("f", vector({2}), fetches).isOk());
  EXPECT_EQ(fetches[0].number(0), 12);
  EXPECT_EQ(fetches[1].number(0), 12);
}

static constexpr StringLiteral kWays = R"mlir(
dfg.entry @f(%p: tensor<1xf32> {dfg.name = "p"}, %v: tensor<3xf32> {dfg.name = "v"})
    -> (tensor<3xf32> {dfg.name = "g"}, tensor<3xi1> {dfg.name = "ok"}, tensor<3xf32> {dfg.name = "l"}) {
  %zero = dfg.constant dense<0.0> : tensor<f32>
  %s = dfg.sum %p : tensor<1xf32>
  %goes = dfg.greater %s, %zero : tensor<f32>, tensor<f32>
  %root = dfg.sqrt %v : tensor<3xf32>
  %l = dfg.log %v : tensor<3xf32>
  %x = dfg.if %goes : tensor<i1> -> tensor<3xf32> {
    dfg.yield %root : tensor<3xf32>
  } else {
    %w = dfg.square %v : tensor<3xf32>
    dfg.yield %w : tensor<3xf32>
  }
  %y = dfg.sum %x : tensor<3xf32>
  %g = dfg.gradients %y, [%v] : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %ok = dfg.is_finite %g : tensor<3xf32>
  dfg.return %g, %ok, %l : tensor<3xf32>, tensor<3xi1>, tensor<3xf32>
}
)mlir";

/// A branch that is not taken leaves undetermined only elements in which an infinite derivative
/// meets its zeros, and values computed from them.
TEST_F(Instances, ZerosOfBranchesNotTakenMeetInfiniteDerivatives) {
  Instance instance(parse(kWays));
  ASSERT_TRUE(instance.call("f", {vector({-1}), vector({0, 1, 4})}, fetches).isOk());
  for (int fetch : {0, 1}) {
    EXPECT_FALSE(fetches[fetch].isDetermined(0));
    EXPECT_TRUE(fetches[fetch].isDetermined(1));
    EXPECT_TRUE(fetches[fetch].isDetermined(2));
  }
  EXPECT_EQ(fetches[0].number(1), 2);
  EXPECT_EQ(fetches[0].number(2), 8);
  EXPECT_EQ(fetches[1].number(2), 1);
}

TEST_F(Instances, BranchesThatAreTakenAreDetermined) {
  Instance instance(parse(kWays));
  ASSERT_TRUE(instance.call("f", {vector({1}), vector({0, 1, 4})}, fetches).isOk());
  EXPECT_TRUE(fetches[0].isDetermined());
  EXPECT_TRUE(fetches[1].isDetermined());
  EXPECT_EQ(fetches[0].number(0), INFINITY);
  EXPECT_EQ(fetches[0].number(2), 0.25);
}

/// Neither a disjunction with a true value nor a conjunction with a false one depends on the other
/// operand.
TEST_F(Instances, AbsorbedTruthIsDetermined) {
  Instance instance(parse(R"mlir(
dfg.entry @f(%x: tensor<2xf32> {dfg.name = "x"}, %c: tensor<2xi1> {dfg.name = "c"}) -> (tensor<2xi1> {dfg.name = "a"}, tensor<2xi1> {dfg.name = "b"}) {
  %e = dfg.exp %x : tensor<2xf32>
  %l = dfg.log %e : tensor<2xf32>
  %p = dfg.less %l, %x : tensor<2xf32>, tensor<2xf32>
  %a = dfg.logical_or %p, %c : tensor<2xi1>, tensor<2xi1>
  %b = dfg.logical_and %c, %p : tensor<2xi1>, tensor<2xi1>
  dfg.return %a, %b : tensor<2xi1>, tensor<2xi1>
}
)mlir"));
  Tensor c(IntegerType::get(&context, 1), {2});
  c.setInteger(0, 1);
  c.setInteger(1, 0);
  ASSERT_TRUE(instance.call("f", {vector({0.3, 0.3}), c}, fetches).isOk());
  EXPECT_TRUE(fetches[0].isDetermined(0));
  EXPECT_EQ(fetches[0].integer(0), 1);
  EXPECT_FALSE(fetches[0].isDetermined(1));
  EXPECT_FALSE(fetches[1].isDetermined(0));
  EXPECT_TRUE(fetches[1].isDetermined(1));
  EXPECT_EQ(fetches[1].integer(1), 0);
}

/// If rounding decides a branch, its results are undetermined.
TEST_F(Instances, BranchesOnRoundingAreUndetermined) {
  Instance instance(parse(R"mlir(
dfg.entry @f(%v: tensor<1xf32> {dfg.name = "v"}) -> (tensor<f32> {dfg.name = "y"}) {
  %x = dfg.sum %v : tensor<1xf32>
  %e = dfg.exp %x : tensor<f32>
  %l = dfg.log %e : tensor<f32>
  %p = dfg.less %l, %x : tensor<f32>, tensor<f32>
  %y = dfg.if %p : tensor<i1> -> tensor<f32> {
    dfg.yield %x : tensor<f32>
  } else {
    dfg.yield %e : tensor<f32>
  }
  dfg.return %y : tensor<f32>
}
)mlir"));
  Status status = instance.call("f", vector({0.3}), fetches);
  ASSERT_TRUE(status.isOk());
  EXPECT_FALSE(status.isDetermined);
  EXPECT_FALSE(fetches[0].isDetermined());
}
