// A minimal reader, for nodes that a test makes: it defines only what every format has to define.
#pragma once

#include "frontend/importer/LibraryCall.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace tfc::importer {

/// A node whose inputs are values; a null one is an optional input that is absent.
class TestNode : public NodeBuilder {
public:
  TestNode(GraphBuilder &builder, Diagnostics &diagnostics, const Node &node,
           std::vector<NodeValue> inputs)
      : NodeBuilder(builder, diagnostics, node, builder.getModule().getLoc()),
        inputs(std::move(inputs)) {}

  unsigned numInputs() const override { return inputs.size(); }
  bool hasInput(unsigned i) const override { return i < inputs.size() && bool(inputs[i]); }
  NodeValue anyIn(unsigned i) override { return inputs.at(i); }
  const dfg::SizeTensor *sizes(unsigned i) override { return inputs.at(i).getSizes().get(); }
  mlir::Type dtype(llvm::StringRef) override { return mlir::Float32Type::get(context()); }

  /// The printed form of the operation that computes the first result.
  std::string printed() {
    std::string text;
    llvm::raw_string_ostream os(text);
    results.front().getValue().getDefiningOp()->print(os);
    return text;
  }
  const std::vector<unsigned> &getUsed() const { return used; }
  NodeValue getResult() const { return results.front(); }

protected:
  mlir::Value inputValue(unsigned i) override { return materialise(*inputs[i].getSizes()); }
  void useSizes(unsigned i) override { used.push_back(i); }

private:
  std::vector<NodeValue> inputs;
  std::vector<unsigned> used;
};

/// An entry with feeds, in which nodes are built.
struct ReaderTest : testing::Test {
  ReaderTest() {
    context.loadDialect<dfg::DfgDialect>();
    EntryHeader header;
    header.name = "main";
    header.symbols = {"n"};
    header.feeds = {{"x", dfg::tensorOf({dfg::DimExpr::symbol("n"), 4}, f32), location},
                    {"y", dfg::tensorOf({4}, f32), location}};
    entry = builder.beginEntry(header, location);
  }

  NodeValue feed(unsigned i) { return mlir::Value(entry.getBody().getArgument(i)); }
  NodeValue sizes(dfg::Shape values, unsigned input) {
    auto type = mlir::IntegerType::get(&context, 64);
    return NodeValue(
        std::make_shared<const dfg::SizeTensor>(*dfg::makeSizeVector(type, std::move(values))),
        input);
  }
  TestNode node(const Node &foreign, std::vector<NodeValue> inputs) {
    return TestNode(builder, diagnostics, foreign, std::move(inputs));
  }

  mlir::MLIRContext context;
  mlir::Location location = mlir::UnknownLoc::get(&context);
  mlir::Type f32 = mlir::Float32Type::get(&context);
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler{&context, [this](mlir::Diagnostic &diagnostic) {
                                          errors.push_back(diagnostic.str());
                                          return llvm::success();
                                        }};
  mlir::OwningOpRef<mlir::ModuleOp> module{mlir::ModuleOp::create(location)};
  GraphBuilder builder{*module};
  Diagnostics diagnostics{&context};
  text::LibraryCalls library{builder, {"tensorflow"}};
  dfg::EntryOp entry;
};

} // namespace tfc::importer
