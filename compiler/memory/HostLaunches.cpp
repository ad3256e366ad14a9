//===- HostLaunches.cpp - Calls of kernels -----------------------------------===//

#include "compiler/memory/RunFunction.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

LogicalResult RunFunction::checkKernel(LaunchOp op, LLVM::LLVMFuncOp kernel) {
  if (!kernel || !kernel->hasAttr("tfc.extent"))
    return op.emitOpError("expects ") << op.getKernelAttr() << " to be a generated kernel";
  size_t count = op.getSizes().getSizes().size() + op.getInputs().size() + 3;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    count += !isWrittenOverOperand(op, i);
  if (kernel.getNumArguments() != count)
    return op.emitOpError("expects ") << op.getKernelAttr() << " to take " << count
                                      << " arguments, but it takes " << kernel.getNumArguments();
  return success();
}

/// Sizes, operands, results and scratch.
SmallVector<Value> RunFunction::argumentsOf(LaunchOp op) {
  SmallVector<Value> arguments;
  for (const DimExpr &size : op.getSizes().getExprs())
    arguments.push_back(sizes->build(size));
  for (Value input : op.getInputs())
    arguments.push_back(pointerTo(rootOf(input)));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    if (!isWrittenOverOperand(op, i))
      arguments.push_back(pointerTo(output));
    else
      ++counts.inPlace;
  std::optional<Arena::Slot> scratch = arena.scratchOf(op);
  arguments.push_back(scratch ? arenaPointer(*scratch)
                              : LLVM::ZeroOp::create(b, loc, pointer).getResult());
  return arguments;
}

std::optional<int64_t> RunFunction::largest(const DimExpr &size) const {
  return size.interval([&](StringRef name) { return info.boundsOf(name); }).second;
}

LogicalResult RunFunction::launch(LaunchOp op) {
  auto kernel = host.getSymbols().lookup<LLVM::LLVMFuncOp>(op.getKernel());
  if (failed(checkKernel(op, kernel)))
    return failure();
  ++counts.launches;
  DimExpr extent = launchSize(op, kernel, "tfc.extent");
  std::optional<int64_t> units = largest(extent);
  if (units && *units <= 0)
    return success();
  auto grainAttr = kernel->getAttrOfType<IntegerAttr>("tfc.grain");
  int64_t grain = grainAttr ? std::max<int64_t>(grainAttr.getInt(), 1) : 1;
  SmallVector<Value> arguments = argumentsOf(op);
  if (!units || *units > grain) {
    runTasks(kernel, arguments, extent, grain);
    return success();
  }
  arguments.push_back(sizes->constant(0));
  arguments.push_back(sizes->build(extent));
  LLVM::CallOp::create(b, loc, kernel, arguments);
  return success();
}

/// Room on the stack for `count` values of 8 bytes, the same for all launches.
Value RunFunction::stackArray(unsigned count) {
  slotCount = std::max(slotCount, count);
  if (!slots) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    Value one = constant32(1);
    slots = LLVM::AllocaOp::create(b, loc, pointer, LLVM::LLVMArrayType::get(b.getI64Type(), count),
                                   one);
  }
  return slots;
}

/// Lets the runtime's threads run the kernel. One chunk runs on the caller's.
void RunFunction::runTasks(LLVM::LLVMFuncOp kernel, ArrayRef<Value> arguments,
                           const DimExpr &extent, int64_t grain) {
  Value context = stackArray(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), context,
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, argument, place);
  }
  Type i64 = b.getI64Type();
  auto run = host.runtime("tfc_rt_parallel_for", LLVM::LLVMVoidType::get(b.getContext()),
                          {pointer, pointer, pointer, i64, i64});
  Value task = LLVM::AddressOfOp::create(b, loc, pointer, (kernel.getName() + ".task").str());
  Value all[] = {frame, task, context, sizes->build(extent), sizes->constant(grain)};
  LLVM::CallOp::create(b, loc, run, all);
}
