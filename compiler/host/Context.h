//===- Context.h - The host function that is built ------------------------===//

#pragma once

#include "compiler/host/HostModule.h"
#include "compiler/pipeline/ModelInfo.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc::host {

/// What the report says of an entry.
struct HostCounts {
  unsigned launches = 0, inPlace = 0, copies = 0, checks = 0;
};

/// The entry at hand, the function that runs it, and where in it code is built.
struct Context {
  HostModule &module;
  dfg::EntryOp entry;
  const EntryInfo &info;
  HostCounts &counts;

  mlir::LLVM::LLVMFuncOp function;
  mlir::Value frame;
  mlir::OpBuilder b;     // at the step that is built
  mlir::OpBuilder start; // before the first step: values that are the same for the whole call
  mlir::Location loc;
  mlir::Type pointer;
  bool hasFailed = false;

  Context(HostModule &module, dfg::EntryOp entry, const EntryInfo &info, unsigned number,
          HostCounts &counts);

  /// Reports an error; the function is built no further.
  mlir::InFlightDiagnostic error(mlir::Operation *op) {
    hasFailed = true;
    return op->emitOpError();
  }

  std::vector<std::string> symbolNames() const;

  mlir::Value constant(int64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  /// The address `bytes` after another one.
  mlir::Value offset(mlir::Value base, mlir::Value bytes);
  void fill(mlir::Value to, int8_t byte, mlir::Value bytes);
  void move(mlir::Value to, mlir::Value from, mlir::Value bytes);

  using Build = llvm::function_ref<void()>;
  /// Runs what `then` builds if the condition holds, else what `otherwise` builds, if it is there.
  void branch(mlir::Value condition, Build then, Build otherwise = {});
};

/// A text as a format of `rt.check`.
std::string escape(llvm::StringRef text);

/// Builds the steps of a block of the entry. Branches and loops have blocks themselves.
class StepBuilder {
public:
  virtual void build(mlir::Block &block) = 0;

protected:
  ~StepBuilder() = default;
};

} // namespace tfc::host
