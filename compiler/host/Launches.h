//===- Launches.h - Launches of kernels -----------------------------------===//

#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

class Launches {
public:
  Launches(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  void launch(dfg::LaunchOp op);

private:
  bool isKernelFor(dfg::LaunchOp op, mlir::LLVM::LLVMFuncOp kernel);
  void launchGrids(dfg::LaunchOp op, kernel::AbiAttr abi);
  llvm::SmallVector<mlir::Value> argumentsOf(dfg::LaunchOp op);
  mlir::Value scratchOf(dfg::LaunchOp op);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
