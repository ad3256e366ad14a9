//===- RunFunction.h - The function that runs an entry --------------------===//

#pragma once

#include "compiler/host/Checks.h"
#include "compiler/host/ControlFlow.h"
#include "compiler/host/Inputs.h"
#include "compiler/host/Launches.h"
#include "compiler/host/Messages.h"
#include "compiler/host/Queues.h"
#include "compiler/host/Tapes.h"
#include "compiler/host/Tracing.h"

namespace tfc::host {

/// Builds the function that runs an entry, or a partition of it, and delegates each step to the
/// builder for its kind.
class RunFunction : StepBuilder {
public:
  RunFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info, unsigned number,
              llvm::StringRef name, HostCounts &counts, bool trace = false);

  /// Fails with an error for an operation that cannot be run.
  llvm::LogicalResult build();

private:
  void build(mlir::Block &block) override;
  void finish(mlir::Block &block) override;
  void build(mlir::Operation *step);
  void check(dfg::CheckOp op);
  void buildEffect(mlir::Operation *step);
  mlir::Operation *findLastUseOfState();

  mlir::Block &body;
  Context context;
  Addresses addresses;
  SizeBuilder sizes;
  Scalars scalars;
  Checks checks;
  Copies copies;
  Launches launches;
  Chunks chunks;
  Lists lists;
  Tapes tapes;
  Queues queues;
  Inputs inputs;
  Messages messages;
  Tracing tracing;
  ControlFlow controlFlow;
  mlir::Operation *lastUseOfState = nullptr;
};

} // namespace tfc::host
