/// Builds operations that are called by name: operands, attributes, results.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::dfg {
struct AttrSignature;
}

namespace tfc::text {

class ErrorCapture;
class RandomDraws;
class Reporter;
class TensorEmitter;

/// Builds operations that are called by name: operands, attributes, results.
class OperationBuilder {
public:
  OperationBuilder(Context &context, Reporter &reporter, ErrorCapture &errorCapture,
                   TensorEmitter &tensorEmitter, RandomDraws &randomDraws)
      : context(context), reporter(reporter), errorCapture(errorCapture),
        tensorEmitter(tensorEmitter), randomDraws(randomDraws) {}

  Entity callOp(const dfg::OpSignature &op, Arguments &args, const ast::CallExpr &call);
  Entity callOpOnState(const dfg::OpSignature &op, Arguments &args, const ast::CallExpr &call);
  Entity opResult(const dfg::OpSignature &op, mlir::Operation *operation);

private:
  struct OpCall;

  void addDrawArguments(OpCall &opCall, SourceRange at);
  bool placeArguments(OpCall &opCall, Arguments &args, const ast::CallExpr &call);
  bool placePositional(OpCall &opCall, Argument &argument);
  bool placeNamed(OpCall &opCall, Argument &argument);
  mlir::Value toOperand(llvm::StringRef op, const dfg::OperandSignature &signature,
                        const Entity &value, mlir::Type preferred, SourceRange at);
  bool buildOperands(OpCall &opCall, llvm::SmallVectorImpl<mlir::Value> &operands,
                     llvm::SmallVectorImpl<int32_t> &segments);
  bool checkExact(llvm::StringRef op, llvm::StringRef name, const Argument &given,
                  mlir::Type element);
  mlir::Type elementOfNumbers(const OpCall &opCall, mlir::ValueRange operands);
  void reportAttribute(llvm::StringRef op, const dfg::AttrSignature &signature,
                       const Argument &given);
  bool buildAttributes(OpCall &opCall, mlir::Type element,
                       llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

  Context &context;
  Reporter &reporter;
  ErrorCapture &errorCapture;
  TensorEmitter &tensorEmitter;
  RandomDraws &randomDraws;
};

} // namespace tfc::text
