//===- Context.h - The host function being built --------------------------===//

#pragma once

#include "compiler/host/HostModule.h"
#include "compiler/pipeline/ModelInfo.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc::host {

/// Numbers that the report prints for an entry.
struct HostCounts {
  unsigned launches = 0, inPlace = 0, copies = 0, checks = 0;
};

/// The current entry, the function that runs it, and the insertion points in that function.
struct Context {
  HostModule &module;
  dfg::EntryOp entry;
  const EntryInfo &info;
  HostCounts &counts;

  mlir::LLVM::LLVMFuncOp function;
  mlir::Value frame;
  mlir::OpBuilder b;     // at the current step
  mlir::OpBuilder start; // before the first step, for values that are invariant during the call
  mlir::Location loc;
  mlir::Type pointer;
  /// Of the loops around the current step that have numbered checks, from outside in.
  llvm::SmallVector<mlir::Value> iterations;
  /// True on a device with memory of its own: addresses of values are there.
  bool isRemote = false;
  bool hasFailed = false;

  /// Adds function `name` of entry `number`.
  Context(HostModule &module, dfg::EntryOp entry, const EntryInfo &info, unsigned number,
          llvm::StringRef name, HostCounts &counts);

  /// Emits an error; the rest of the function is not built.
  mlir::InFlightDiagnostic error(mlir::Operation *op) {
    hasFailed = true;
    return op->emitOpError();
  }

  std::vector<std::string> symbolNames() const;

  mlir::Value constant(int64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  /// Returns the address `bytes` after `base`.
  mlir::Value offset(mlir::Value base, mlir::Value bytes);
  void fill(mlir::Value to, int8_t byte, mlir::Value bytes);
  void move(mlir::Value to, mlir::Value from, mlir::Value bytes);

  using Build = llvm::function_ref<void()>;
  /// Executes what `then` builds if the condition holds, else what `otherwise` builds, if given.
  void branch(mlir::Value condition, Build then, Build otherwise = {});
};

/// Builds the steps of a block of the entry. An interface, because branches and loops contain
/// blocks.
class StepBuilder {
public:
  virtual void build(mlir::Block &block) = 0;
  /// Must be called at the end of a block, when the values of its terminator have been read.
  virtual void finish(mlir::Block &block) = 0;

protected:
  ~StepBuilder() = default;
};

} // namespace tfc::host
