// Launches kernels with the addresses of their operands, results and scratch memory.

#include "compiler/host/Launches.h"
#include "dialects/kernel/Kernel.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// Returns true if the launch can call the function, else reports an error.
bool Launches::isKernelFor(LaunchOp op, LLVM::LLVMFuncOp kernel) {
  if (!kernel || !kernel::abiOf(kernel)) {
    context.error(op) << "expects " << op.getKernelAttr() << " to be a generated kernel";
    return false;
  }
  kernel::TargetAttr target = kernel::targetOf(kernel);
  if (target && target.isGpu() != context.isRemote) {
    context.error(op) << "expects " << op.getKernelAttr() << " to be for the device of the entry";
    return false;
  }
  // Sizes, addresses, scratch memory, the guard and, on CPUs, the units.
  size_t count = op.getSizes().getSizes().size() + op.getInputs().size() + 1 +
                 (op.getGuard() ? 1 : 0) + (context.isRemote ? 0 : 2);
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    count += !isWrittenOverOperand(op, i);
  if (kernel.getNumArguments() == count)
    return true;
  context.error(op) << "expects " << op.getKernelAttr() << " to take " << count
                    << " arguments, but it takes " << kernel.getNumArguments();
  return false;
}

Value Launches::scratchOf(LaunchOp op) {
  if (auto slot = op->getAttrOfType<rt::SlotAttr>(rt::kScratchAttr))
    return addresses.arena(slot);
  return LLVM::ZeroOp::create(context.b, context.loc, context.pointer);
}

/// Returns sizes and the addresses of operands, results, scratch memory and the guard.
SmallVector<Value> Launches::argumentsOf(LaunchOp op) {
  SmallVector<Value> arguments;
  for (const DimExpr &size : op.getSizes().getExprs())
    arguments.push_back(sizes.build(size));
  for (Value input : op.getInputs())
    arguments.push_back(addresses.of(rootOf(input)));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    if (!isWrittenOverOperand(op, i))
      arguments.push_back(addresses.of(output));
    else
      ++context.counts.inPlace;
  arguments.push_back(scratchOf(op));
  if (op.getGuard())
    arguments.push_back(addresses.of(rootOf(op.getGuard())));
  return arguments;
}

/// Launches the grids of a kernel one after the other, with the same arguments.
void Launches::launchGrids(LaunchOp op, kernel::AbiAttr abi) {
  SmallVector<Value> arguments = argumentsOf(op);
  for (kernel::GridAttr grid : abi.getGrids())
    rt::DeviceLaunchOp::create(context.b, context.loc, context.frame,
                               context.module.gridNumber(grid), arguments,
                               sizes.build(launchSize(op, grid.getThreads())));
}

void Launches::launch(LaunchOp op) {
  auto kernel = context.module.getSymbols().lookup<LLVM::LLVMFuncOp>(op.getKernel());
  if (!isKernelFor(op, kernel))
    return;
  ++context.counts.launches;
  kernel::AbiAttr abi = kernel::abiOf(kernel);
  if (context.isRemote)
    return launchGrids(op, abi);
  DimExpr extent = launchSize(op, abi.getExtent());
  std::optional<int64_t> units =
      extent.interval([&](StringRef name) { return context.info.boundsOf(name); }).second;
  if (units && *units <= 0)
    return;
  // A single chunk of work needs no other thread.
  bool isOnePiece = units && *units <= abi.getGrain();
  SmallVector<Value> arguments = argumentsOf(op);
  rt::LaunchOp::create(context.b, context.loc, context.frame,
                       FlatSymbolRefAttr::get(kernel.getSymNameAttr()), arguments,
                       sizes.build(extent),
                       isOnePiece ? IntegerAttr() : context.b.getI64IntegerAttr(abi.getGrain()));
}
